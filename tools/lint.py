#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Format and clang-tidy over the project's own C++, as ./check runs them.

  tools/lint.py format [--fix] [PATH...]    clang-format must change nothing; --fix rewrites
  tools/lint.py tidy [--build DIR] [PATH...] clang-tidy must find nothing

PATH limits the work to files or folders. clang-tidy reads what the build in DIR compiles as one: a whole target under the
presets release and asan, which spares it most of the system headers, or one file under dev. A unit that was clean is not read
again until it, a project header that it includes, its flags or the settings change: the keys of clean units are kept in
DIR/tidy-clean.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMAT = os.environ.get("CLANG_FORMAT", "clang-format-19")
TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-19")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def project_files(*suffixes):
    """The tree's own files: what git knows or would know, else everything outside of build folders."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if not {"build", ".venv", ".cache", ".git"} & set(path.relative_to(ROOT).parts)]
    return sorted(ROOT / name for name in names if name.endswith(suffixes) and (ROOT / name).is_file())


def wanted(path, limits):
    return not limits or any(path == limit or limit in path.parents for limit in limits)


def format_files(arguments):
    files = [path for path in project_files(".h", ".cpp") if wanted(path, arguments.limits)]
    if not files:
        return 0
    if arguments.fix:
        return subprocess.run([FORMAT, "-i", *map(str, files)], cwd=ROOT).returncode
    done = subprocess.run([FORMAT, "--dry-run", "-Werror", *map(str, files)], cwd=ROOT, capture_output=True, text=True)
    places = {}
    for path, line in re.findall(r"^(/.*?):(\d+):\d+: error:", done.stderr, re.M):
        places.setdefault(os.path.relpath(path, ROOT), []).append(line)
    for path, lines in places.items():
        print(f"{path}:{lines[0]}: clang-format would change this ({len(lines)} places in the file)")
    if done.returncode:
        print("" if places else done.stderr, "run: tools/lint.py format --fix", sep="")
    else:
        print(f"{len(files)} files are formatted")
    return done.returncode


class Sources:
    """compile_commands.json, with the key under which a unit of it counts as read."""

    def __init__(self, build):
        self.build = build
        self.settings = hashlib.sha256()
        for path in sorted([*ROOT.rglob(".clang-tidy")]):
            if ".venv" not in path.parts and "build" not in path.parts:
                self.settings.update(path.read_bytes())
        self.settings.update(subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout)
        self.texts = {}
        self.flags = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            unit = Path(entry["file"])
            if any(self.is_own(path) for path in self.of(unit)):
                self.flags[unit] = self.flags_of(entry)

    def is_own(self, path):
        return ROOT in path.parents and self.build not in path.parents

    def of(self, unit):
        """The files that a unit compiles: itself, or what CMake's unity file includes."""
        if self.build not in unit.parents or not unit.is_file():
            return [unit]
        return [Path(name) for name in self.text(unit)[1]]

    @staticmethod
    def flags_of(entry):
        words = shlex.split(entry["command"])
        while os.path.basename(words[0]) in ("ccache", "sccache"):
            words.pop(0)
        flags, skip = [], False
        for word in words[1:]:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT"):
                skip = True
            elif word not in ("-c", "-MD", entry["file"]) and not word.startswith("-ffile-prefix-map"):
                flags.append(word)
        return tuple(flags)

    def text(self, path):
        if path not in self.texts:
            data = path.read_bytes()
            self.texts[path] = (hashlib.sha256(data).digest(), INCLUDE.findall(data.decode("utf-8", "replace")))
        return self.texts[path]

    def key(self, path):
        digest = self.settings.copy()
        digest.update("\0".join(self.flags[path]).encode())
        seen, queue = set(), [path]
        while queue:
            file = queue.pop()
            if file in seen:
                continue
            seen.add(file)
            _, includes = self.text(file)
            for name in includes:
                for folder in (ROOT, self.build / "generated", file.parent):  # a unity file's names are absolute
                    if (folder / name).is_file():
                        queue.append(folder / name)
                        break
        for file in sorted(seen):
            digest.update(str(file.relative_to(ROOT if ROOT in file.parents else self.build)).encode())
            digest.update(self.text(file)[0])
        return digest.hexdigest()


def read_unit(unit, files, flags):
    # Sources stand in a unit like headers, so the filter names them too.
    top = re.escape(str(ROOT))
    # The naming check looks at every name of the standard library too, and takes 40 % of the time: tests do without.
    fewer = ["--checks=-readability-identifier-naming"] if ROOT / "tests" in files[0].parents else []
    done = subprocess.run(
        [TIDY, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", *fewer,
         f"--header-filter=^{top}/(common|lldb_plugin|gdb_bridge|cli|tools|bench|tests)/.*\\.(h|cpp)$",
         str(unit), "--", *flags, "-Wno-unknown-warning-option", "-Wno-unused-function"],
        cwd=unit.parent, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return (done.stdout + "".join(line + "\n" for line in done.stderr.splitlines()
                                  if " warnings generated" not in line)).replace(f"{ROOT}/", "") or "it failed in silence"


def tidy_files(arguments):
    build = arguments.build
    if not (build / "compile_commands.json").is_file():
        print(f"{build} holds no compile_commands.json: configure it first (cmake --preset release)", file=sys.stderr)
        return 2
    sources = Sources(build)
    stamps = build / "tidy-clean"
    known = set(stamps.read_text().split()) if stamps.is_file() else set()
    units = {unit: sources.key(unit) for unit in sources.flags
             if any(wanted(path, arguments.limits) for path in sources.of(unit))}
    stale = [unit for unit, key in units.items() if key not in known]
    print(f"{len(units)} units, {len(stale)} to read", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        # The longest first, so that no core waits for the last one.
        stale.sort(key=lambda unit: -sum(path.stat().st_size for path in sources.of(unit)))
        work = {pool.submit(read_unit, unit, sources.of(unit), sources.flags[unit]): unit for unit in stale}
        for done, future in enumerate(concurrent.futures.as_completed(work), 1):
            unit, problems = work[future], future.result()
            files = sources.of(unit)
            name = os.path.relpath(files[0] if len(files) == 1 else files[0].parent, ROOT)
            print(f"[{done}/{len(stale)}] {name}: {'clean' if not problems else 'findings'}", flush=True)
            if problems:
                failed += 1
                print(problems, flush=True)
            else:
                known.add(units[unit])
                stamps.write_text("\n".join(sorted(known)) + "\n")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("format", "tidy"):
        command = commands.add_parser(name)
        command.add_argument("paths", nargs="*", type=Path, help="files or folders; all when left out")
        if name == "format":
            command.add_argument("--fix", action="store_true", help="rewrite the files")
        else:
            command.add_argument("--build", type=Path, default=ROOT / "build", help="configured build folder")
            command.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    arguments.limits = [path.resolve() for path in arguments.paths]
    if arguments.command == "format":
        return format_files(arguments)
    arguments.build = arguments.build.resolve()
    return tidy_files(arguments)


if __name__ == "__main__":
    sys.exit(main())
