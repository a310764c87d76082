#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets the kernel itself run `aotidbg collect`: sets core_pattern, crashes a model, and looks at what was left.

    tests/cli/core_pattern.py --aotidbg build/bin/aotidbg --examples build/examples

Needs root, and a machine whose core_pattern may be set: for the time of one crash (a few seconds) every crash of this machine
goes the same way. The setting is put back however this ends. No part of ./check.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from runner import case_runner, programs

SETTING = pathlib.Path("/proc/sys/kernel/core_pattern")
LIMIT = pathlib.Path("/proc/sys/kernel/core_pipe_limit")


def crash(build, variant, scratch):
    """How the program ended, and after how many seconds."""
    began = time.monotonic()
    done = subprocess.run(build.argv(variant), env=build.environment(variant, scratch), cwd=scratch, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return signal.Signals(-done.returncode).name, time.monotonic() - began


def collected(arguments, variant, limit, folder):
    """The problems of one crash under the kernel's hand."""
    build = programs.catalog.Build(arguments.examples)
    SETTING.write_text(f"|{folder}/aotidbg collect %P {folder}/out --core {folder}/core")
    LIMIT.write_text(str(limit))
    ended, seconds = crash(build, variant, folder)
    problems = []
    deadline = time.monotonic() + 30  # at limit 0 the kernel does not wait for the handler
    while not list((folder / "out").glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    while subprocess.run(["pgrep", "-f", f"{folder}/aotidbg"], stdout=subprocess.DEVNULL).returncode == 0:
        time.sleep(0.1)
    reports = list((folder / "out").glob("*.json"))
    if len(reports) != 1:
        return [f"{variant.full_name}, core_pipe_limit {limit}: ended with {ended}, {len(reports)} reports"]
    report = json.loads(reports[0].read_text())
    kept = subprocess.run([arguments.aotidbg, "inspect", "--json", folder / "core"], capture_output=True, text=True)
    again = json.loads(kept.stdout)
    # Whether memory is searched for runners depends on how much of it there is, and a process has more than its core.
    for model in report["models"] + again["models"]:
        del model["runner"]
    for key in ("verdict", "fault", "kernel", "inputs", "models"):
        if report[key] != again[key]:
            problems.append(f"{key}: {report[key]} at the crash, {again[key]} of the core")
    print(f"{variant.full_name}, core_pipe_limit {limit}: {ended} after {seconds:.1f} s, {report['verdict']['code']}, "
          f"core of {(folder / 'core').stat().st_blocks * 512 / 1e6:.0f} MB")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aotidbg", required=True, type=pathlib.Path)
    parser.add_argument("--examples", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if not os.access(SETTING, os.W_OK):
        print(f"skipped: {SETTING} cannot be set here")
        return case_runner.SKIPPED
    before = SETTING.read_text(), LIMIT.read_text()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    problems = []
    for name, limit in (("index_1_33/cpp", 0), ("index_1_33/python", 4)):
        variant, = programs.catalog.variants([name])
        with tempfile.TemporaryDirectory(prefix="ac", dir="/tmp") as scratch:
            folder = pathlib.Path(scratch)
            shutil.copy(arguments.aotidbg, folder / "aotidbg")  # core_pattern holds 127 characters
            try:
                problems += collected(arguments, variant, limit, folder)
            finally:
                SETTING.write_text(before[0])
                LIMIT.write_text(before[1])
    print("\n".join(problems) if problems else f"Passed; core_pattern is '{SETTING.read_text().strip()}' again.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
