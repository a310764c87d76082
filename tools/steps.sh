# SPDX-License-Identifier: BSD-3-Clause
# What ./demo and ./check share; sourced by both, from the root of the tree. A step is one line on the screen with the time that
# it took; what it printed is kept in build/logs, and its end is shown when it failed.
set -euo pipefail
export LC_ALL=C.UTF-8
logs=build/logs
jobs=$(nproc)
python=.venv/bin/python
torch=2.13.0
steps_done=0
started=$SECONDS

# The last line of a log, without control characters, in the room that one line of the screen leaves.
last_line() { tail -c 4000 "$1" 2>/dev/null | tr '\r' '\n' | grep -v '^\s*$' | tail -n 1 | tr -cd '[:print:]' | cut -c 1-60; }

# step NAME COMMAND...: runs it, and ends the script when it fails. On a terminal the line shows where the command is; otherwise a
# line a minute does.
step() {
  local name=$1 log begin status=0 pid spent shown=0
  shift
  steps_done=$((steps_done + 1))
  mkdir -p "$logs"
  log=$logs/$(printf '%02d' "$steps_done")-$(printf '%s' "$name" | tr -cs 'A-Za-z0-9\n' '-').log
  begin=$SECONDS
  setsid "$@" >"$log" 2>&1 </dev/null &  # a group of its own, so that an interrupted build leaves nothing running
  pid=$!
  trap 'kill -- "-$pid" 2>/dev/null || true; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    spent=$((SECONDS - begin))
    if [ -t 1 ]; then
      printf '\r\033[K  %-44s %4d s  %s' "$name" "$spent" "$(last_line "$log")"
    elif [ $((spent / 60)) -gt "$shown" ]; then
      shown=$((spent / 60))
      printf '  %-44s %4d s  ... %s\n' "$name" "$spent" "$(last_line "$log")"
    fi
    if [ "$spent" -lt 2 ]; then sleep 0.1; else sleep 1; fi
  done
  wait "$pid" || status=$?
  trap - INT TERM
  [ -t 1 ] && printf '\r\033[K'
  if [ "$status" -ne 0 ]; then
    printf '  %-44s failed after %d s (status %d); the end of %s:\n' "$name" $((SECONDS - begin)) "$status" "$log"
    tail -n 40 "$log" | sed 's/^/    /'
    exit 1
  fi
  printf '  %-44s %4d s\n' "$name" $((SECONDS - begin))
  last_log=$log
}

# need_packages demo|check: installs what is missing of tools/packages.txt, or says which line would.
need_packages() {
  local wanted missing
  wanted=$(awk -v who="$1" '!/^#/ && NF && ($2 == "demo" || $2 == who) { print $1 }' tools/packages.txt)
  missing=$(for package in $wanted; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done)
  [ -n "$missing" ] || return 0
  missing=$(echo $missing)
  if [ "$(id -u)" -ne 0 ]; then
    echo "Some packages are missing. Run this as root, then run $0 again:" >&2
    echo "  apt-get install --no-install-recommends $missing" >&2
    exit 1
  fi
  echo "Missing packages: $missing"
  export DEBIAN_FRONTEND=noninteractive
  step "update the package lists" apt-get update
  step "install them" apt-get install -y --no-install-recommends $missing
}

# need_torch: .venv with the torch that the examples are compiled with.
need_torch() {
  if ! "$python" -c "import numpy, torch; assert torch.__version__.split('+')[0] == '$torch'" 2>/dev/null; then
    step "make .venv" python3 -m venv .venv
    step "install torch $torch into .venv" "$python" -m pip install "torch==$torch" numpy setuptools
  fi
}

# need_preset NAME: configured; CMake itself sees when it has to run again.
need_preset() { step "configure ($1)" cmake --preset "$1"; }

took() { printf '%d min %02d s' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)); }
