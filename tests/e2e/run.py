#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets a debugger explain real crashes, and checks what it says.

    tests/e2e/run.py --host lldb --debugger lldb-19 --plugin build/lib/aotidbg_lldb.so --examples build/examples
                     [--mode core|live] [--one EXAMPLE/VARIANT] [GLOB...]
    tests/e2e/run.py --host gdb --debugger gdb --plugin build/lib/aotidbg.py --examples build/examples ...

For each variant of each example that build.py has built: a core is made (once, kept under --cores),
or the program runs under the debugger until it stops; `aoti inspect --json` writes its report; the
report must be valid against docs/report.schema.json and contain what the example's answer.json wants.
Exit status 0 when everything passed, 1 when something failed, 77 when nothing could run.
"""
import argparse
import collections
import fcntl
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests" / "support")]

import catalog  # noqa: E402
import crash  # noqa: E402
import json_schema  # noqa: E402
import match  # noqa: E402

SKIPPED = 77  # CTest's SKIP_RETURN_CODE

# What a debugger left behind: its report (None when it wrote none), what it printed, its exit status.
Answer = collections.namedtuple("Answer", "report output status command")


def main():
    options = parse()
    if options.list:
        print("\n".join(v.full_name for v in catalog.variants(options.globs)))
        return 0
    for path, what in ((options.debugger, "--debugger"), (options.plugin, "--plugin"),
                       (f"{options.examples}/build.json", "--examples")):
        if not path or not (shutil.which(path) or os.path.exists(path)):
            print(f"skipped: {what}: there is no {path}")
            return SKIPPED
    build = catalog.Build(options.examples)
    host = HOSTS[options.host](options.debugger, options.plugin, options.timeout)
    modes = ("core", "live") if options.mode == "both" else (options.mode,)
    failed = 0
    for variant in catalog.variants([options.one] if options.one else options.globs):
        for mode in modes:
            start = time.monotonic()
            problems = check(host, build, variant, mode, options)
            failed += bool(problems)
            word = "FAIL" if problems else "ok"
            print(f"{word:4} {variant.full_name} {mode} ({time.monotonic() - start:.1f} s)", flush=True)
            if problems:
                print("\n".join(problems), flush=True)
    return 1 if failed else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--host", choices=list(HOSTS), default="lldb")
    parser.add_argument("--debugger", help="its program; default: lldb-19 or gdb")
    parser.add_argument("--plugin", help="what the debugger loads: aotidbg_lldb.so or aotidbg.py")
    parser.add_argument("--examples", default="build/examples", help="what examples/build.py wrote")
    parser.add_argument("--cores", type=pathlib.Path, help="where cores are kept; default: EXAMPLES/cores")
    parser.add_argument("--mode", choices=["core", "live", "both"], default="both")
    parser.add_argument("--one", metavar="NAME", help="one EXAMPLE or EXAMPLE/VARIANT")
    parser.add_argument("--schema", type=pathlib.Path, default=ROOT / "docs" / "report.schema.json")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of the debugger")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--show", action="store_true", help="print each report")
    parser.add_argument("globs", nargs="*")
    options = parser.parse_args()
    options.debugger = options.debugger or {"lldb": "lldb-19"}.get(options.host, "gdb")
    return options


def check(host, build, variant, mode, options):
    """The problems of one variant in one mode, as text; none when it passed."""
    if not build.has(variant):
        return [f"  {variant.example} is not in {build.path}; run examples/build.py"]
    with tempfile.TemporaryDirectory(prefix="aotidbg-e2e-") as scratch:
        try:
            if mode == "core":
                note = kept_core(build, variant, options.cores or build.path / "cores")
                answer = host.core(note["core"], note["executable"], scratch)
            else:
                answer = host.live(build.argv(variant), build.environment(variant, scratch), scratch)
        except crash.NoCore as error:
            return [f"  no core: {error}"]
        except subprocess.TimeoutExpired as error:
            return [f"  the debugger was still busy after {error.timeout:.0f} s: {shlex.join(error.cmd)}"]
    problems = []
    if answer.status != 0:
        problems.append(f"  the debugger ended with status {answer.status}")
    if answer.report is None:
        problems.append("  `aoti inspect` wrote no report")
    else:
        if options.show:
            print(json.dumps(answer.report, indent=1))
        problems += report_problems(answer.report, variant.wanted(mode), mode, options.schema)
    if problems:
        problems += [f"  command: {shlex.join(answer.command)}", "  the debugger's last lines:"]
        problems += [f"    {line}" for line in answer.output.strip().splitlines()[-25:]]
    return problems


def report_problems(report, wanted, mode, schema_path):
    problems = [match.readable(d) for d in match.differences({"target": {"kind": mode}}, report)]
    problems += [match.readable(d) for d in match.differences(wanted, report)]
    if schema_path.exists():
        validator = json_schema.Validator(json.loads(schema_path.read_text()))
        errors = validator.errors(report)
        problems += [f"  schema: {error}" for error in errors[:12]]
        if len(errors) > 12:
            problems.append(f"  schema: and {len(errors) - 12} more")
    return problems


def kept_core(build, variant, cores):
    """The core of a variant, made when there is none or the build is newer; one process at a time."""
    folder = cores.resolve() / variant.example / variant.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        note = folder / "core.json"
        if note.exists() and (folder / "core").exists():
            kept = json.loads(note.read_text())
            built = max(p.stat().st_ctime for p in (build.path / variant.example).rglob("*"))
            if kept["argv"] == build.argv(variant) and kept["env"] == variant.env and note.stat().st_mtime > built:
                return kept
        return crash.crash(build, variant, cores.resolve())


class Host:
    """A debugger in batch mode that has been told how to load aotidbg."""

    def __init__(self, debugger, plugin, timeout):
        self.start = self.starting(debugger, pathlib.Path(plugin).resolve())
        self.timeout = timeout

    def inspect(self, scratch):
        report = pathlib.Path(scratch) / "report.json"
        return f'aoti inspect --json --output "{report}"', report

    def run(self, command, report, scratch, env=None):
        done = subprocess.run(command, env=env, cwd=scratch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=self.timeout)
        try:
            document = json.loads(report.read_text())
        except (OSError, ValueError):
            document = None
        return Answer(document, done.stdout, done.returncode, command)


class Lldb(Host):
    """Commands after `process launch` are given with -o, for a process that was stopped (SIGSTOP), and with -k, for
    one that crashed: LLDB runs only one of the two."""

    def starting(self, debugger, plugin):
        return [debugger, "--batch", "--no-lldbinit", "-o", f'plugin load "{plugin}"']

    def core(self, core, executable, scratch):
        inspect, report = self.inspect(scratch)
        return self.run([*self.start, "-o", inspect, "-c", core, executable], report, scratch)

    def live(self, argv, env, scratch):
        inspect, report = self.inspect(scratch)
        launch = f'process launch --no-stdio --working-dir "{scratch}"'
        return self.run([*self.start, "-o", launch, "-o", inspect, "-o", "process kill", "-k", inspect,
                         "-k", "process kill", "-k", "quit", "--", *argv], report, scratch, env)


class Gdb(Host):
    def starting(self, debugger, plugin):
        return [debugger, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"source {plugin}"]

    def core(self, core, executable, scratch):
        inspect, report = self.inspect(scratch)
        return self.run([*self.start, "-ex", inspect, executable, core], report, scratch)

    def live(self, argv, env, scratch):
        inspect, report = self.inspect(scratch)
        return self.run([*self.start, "-ex", "run", "-ex", inspect, "-ex", "kill", "--args", *argv], report, scratch, env)


class GdbServer(Gdb):
    """The program under gdbserver, which GDB drives through a pipe: what is there is had by asking gdbserver alone."""

    def live(self, argv, env, scratch):
        inspect, report = self.inspect(scratch)
        server = shlex.join(["gdbserver", "--once", "-", *argv])
        # Files are those of this machine: GDB would fetch each library through the connection.
        return self.run([*self.start, "-ex", "set sysroot /", "-ex", f"target remote | {server}", "-ex", "continue", "-ex", inspect, "-ex", "kill",
                         argv[0]], report, scratch, env)


HOSTS = {"lldb": Lldb, "gdb": Gdb, "gdbserver": GdbServer}


if __name__ == "__main__":
    sys.exit(main())
