#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `aoti inspect` adds to what a debugger costs anyway, as ratios in one run.

    bench/debugger_cost.py --lldb lldb-19 --plugin build/lib/aotidbg_lldb.so --core CORE --exe PROGRAM
    bench/debugger_cost.py --lldb lldb-19 --plugin build/lib/aotidbg_lldb.so --live PROGRAM [ARGUMENT ...]
    bench/debugger_cost.py --gdb gdb --plugin build/lib/aotidbg.py --core CORE --exe PROGRAM

Each pair is run in turn (A B A B ...), so that a machine whose speed drifts treats both alike; the
median ratio is the figure to quote. Memory is the peak of the whole process.

  A  open the core (or run to the crash) and print a backtrace
  B  the same, and `aoti inspect` in its place: open, load the plugin, inspect
  C  the same as A, then `aoti inspect`: what it adds to a session that is open
"""

import argparse
import os
import statistics
import subprocess
import sys
import time


def measure(command):
    """Wall seconds, processor seconds and peak megabytes of one run of the whole process."""
    started = time.monotonic()
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - started
    if child.returncode != 0:
        sys.exit(f"debugger_cost: exit status {child.returncode} of: {' '.join(command)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def gdb_command(arguments, commands):
    base = [arguments.gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    listed = [word for command in commands for word in ("-ex", command)]
    if arguments.core:
        return [*base, *listed, *([arguments.exe] if arguments.exe else []), "-c", arguments.core]
    return [*base, "-ex", "run", *listed, "-ex", "kill", "--args", *arguments.live]


def lldb_command(arguments, commands):
    base = [arguments.lldb, "--no-lldbinit", "-b"]
    if arguments.core:
        opened = base + ["-c", arguments.core]
        if arguments.exe:
            opened.insert(1, arguments.exe)
        return opened + [word for command in commands for word in ("-o", command)]
    # In batch mode the commands after a crash are given with -k.
    ran = base + ["-o", "settings set target.disable-stdio true", "-o", "run"]
    ran += [word for command in commands for word in ("-k", command)]
    return ran + ["-k", "kill", "-k", "quit", "--", *arguments.live]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--gdb", help="measure this GDB, not LLDB")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--core")
    parser.add_argument("--exe")
    parser.add_argument("--live", nargs=argparse.REMAINDER)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    if bool(arguments.core) == bool(arguments.live):
        parser.error("give either --core or --live")

    load = f"{'source' if arguments.gdb else 'plugin load'} {arguments.plugin}"
    command_of = gdb_command if arguments.gdb else lldb_command
    plans = {
        "A open + bt": ["bt"],
        "B open + inspect": [load, "aoti inspect"],
        "C open + bt + inspect": ["bt", load, "aoti inspect"],
    }
    results = {name: [] for name in plans}
    for turn in range(arguments.runs + 1):
        for name, commands in plans.items():
            figures = measure(command_of(arguments, commands))
            if turn > 0:  # the first turn fills the page cache
                results[name].append(figures)
        print(f"turn {turn} of {arguments.runs} done", file=sys.stderr)

    print(f"{'':24}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
    for name, figures in results.items():
        wall, cpu, peak = (statistics.median(column) for column in zip(*figures))
        print(f"{name:24}{wall:9.2f}{cpu:9.2f}{peak:9.0f}")
    base = results["A open + bt"]
    for name in list(plans)[1:]:
        pairs = list(zip(results[name], base))
        wall = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
        cpu = statistics.median(ours[1] / theirs[1] for ours, theirs in pairs)
        peak = statistics.median(ours[2] - theirs[2] for ours, theirs in pairs)
        print(f"{name} / A: wall {wall:.2f}, cpu {cpu:.2f}, peak {peak:+.0f} MB")


if __name__ == "__main__":
    main()
