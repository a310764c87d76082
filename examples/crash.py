#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs examples until they die, and keeps the cores.

    examples/crash.py --build build/examples --out build/cores [GLOB...]

Each variant gets a folder OUT/EXAMPLE/VARIANT with `core`, `core.json` (how it was made, which
executable), the program's output, and `tmp`, where the package was extracted. The kernel writes the
core where /proc/sys/kernel/core_pattern allows it (a name, not a pipe); otherwise GDB does, and
core.json says so.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import catalog

CORE_PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern")


class NoCore(Exception):
    """One sentence: why there is no core, and what would bring it."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", required=True, help="what build.py wrote")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one program")
    parser.add_argument("globs", nargs="*", help="only these: EXAMPLE or EXAMPLE/VARIANT")
    options = parser.parse_args()
    build = catalog.Build(options.build)
    failed = 0
    for variant in catalog.variants(options.globs):
        try:
            note = crash(build, variant, options.out.resolve(), options.timeout)
            size = os.stat(note["core"]).st_blocks * 512 / 1e6
            print(f"{variant.full_name}: {note['ended']}, core by {note['core_by']}, {size:.0f} MB", flush=True)
        except NoCore as error:
            failed += 1
            print(f"{variant.full_name}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def crash(build, variant, out, timeout=300):
    """Runs one variant; returns what it writes to core.json, or raises NoCore."""
    if not build.has(variant):
        raise NoCore(f"{variant.example} is not in {build.path}; run build.py first")
    folder = out / variant.example / variant.name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    argv = build.argv(variant)
    note = {"argv": argv, "executable": build.executable(variant), "env": variant.env,
            "core": str(folder / "core"), "tmp": str(folder / "tmp")}
    pattern = CORE_PATTERN.read_text().strip()
    start = time.time()
    child = start_program(argv, build.environment(variant, folder / "tmp"), folder)
    try:
        note["pid"] = child.pid
        note["ended"] = wait(child, timeout)
        if note["ended"] != variant.ends:
            raise NoCore(f"ended with {note['ended']}, not {variant.ends}; see {folder}/stderr")
        if variant.core == "gcore" or variant.core == "SIGQUIT" and pattern.startswith("|"):
            gdb_core(["-p", str(child.pid)], ["gcore"], folder)
            note["core_by"] = "gdb's gcore" + ("" if variant.core == "gcore" else ", because core_pattern is a pipe")
        elif pattern.startswith("|"):
            rerun_in_gdb(build, variant, argv, folder)
            note["pid"] = None
            note["core_by"] = "gdb's generate-core-file, because core_pattern is a pipe"
        else:
            if variant.core == "SIGQUIT":
                child.send_signal(signal.SIGQUIT)
                child.send_signal(signal.SIGCONT)
                note["ended"] = wait(child, timeout)
            kernel_core(pattern, child.pid, start, folder)
            note["core_by"] = "the kernel"
    finally:
        if child.returncode is None:
            child.kill()
            child.wait()
    (folder / "core.json").write_text(json.dumps(note, indent=1) + "\n")
    return note


def start_program(argv, env, folder):
    def unlimited():
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
        except (ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    with open(folder / "stdout", "wb") as stdout, open(folder / "stderr", "wb") as stderr:
        return subprocess.Popen(argv, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                preexec_fn=unlimited)


def wait(child, timeout):
    """The signal that killed or stopped the child, or "exit status N"."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child.pid, os.WNOHANG | os.WUNTRACED)
        if not pid:
            time.sleep(0.02)
        elif os.WIFSTOPPED(status):
            return signal.Signals(os.WSTOPSIG(status)).name
        elif os.WIFSIGNALED(status):
            child.returncode = -os.WTERMSIG(status)
            return signal.Signals(os.WTERMSIG(status)).name
        else:
            child.returncode = os.WEXITSTATUS(status)
            return f"exit status {child.returncode}"
    raise NoCore(f"still running after {timeout:.0f} s")


def kernel_core(pattern, pid, start, folder):
    """Moves the kernel's core of this process to folder/core."""
    glob = re.sub(r"%(.)", lambda m: {"%": "%", "p": str(pid)}.get(m[1], "*"), pattern)
    where = folder if not glob.startswith("/") else pathlib.Path("/")
    names = (glob.lstrip("/"), f"{glob.lstrip('/')}.{pid}")
    found = [path for name in names for path in where.glob(name)
             if path.is_file() and path.stat().st_mtime >= start - 1]
    if not found:
        raise NoCore(f"the kernel wrote no core for core_pattern '{pattern}'; is there room, and is "
                     "the hard limit of ulimit -c above zero?")
    newest = max(found, key=lambda path: path.stat().st_mtime)
    if newest != folder / "core":
        shutil.move(newest, folder / "core")


def gdb_core(start, command, folder):
    if not shutil.which("gdb"):
        raise NoCore("gdb is not installed, and only gdb can write this core here")
    core = folder / "core"
    done = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex",
                           " ".join([*command, str(core)]), *start],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not core.exists():
        raise NoCore(f"gdb wrote no core: {done.stdout.strip().splitlines()[-1:]}")


def rerun_in_gdb(build, variant, argv, folder):
    if not shutil.which("gdb"):
        raise NoCore("core_pattern is a pipe and gdb is not installed; set core_pattern to 'core'")
    core = folder / "core"
    # GDB stops at the first signal; a program that handles SIGSEGV and aborts goes on to its end.
    handled = ["-ex", "handle SIGSEGV nostop noprint pass"] if variant.ends == "SIGABRT" else []
    done = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", *handled, "-ex", "run",
                           "-ex", f"generate-core-file {core}", "--args", *argv],
                          env=build.environment(variant, folder / "tmp"), cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not core.exists():
        raise NoCore(f"gdb wrote no core: {done.stdout.strip().splitlines()[-1:]}")


if __name__ == "__main__":
    sys.exit(main())
