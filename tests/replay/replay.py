#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replays a crash from its snapshot, and compares what the commands say with what they said.

    replay.py --aotidbg PROGRAM SNAPSHOT.core.gz

No torch, no package and no debugger is needed. Addresses are left out of the comparison: they are in the snapshot, and
so always the same, but a golden file is for people. remake.py makes both files anew.
"""
import argparse
import difflib
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMMANDS = {"txt": [["inspect", "--all-threads"], ["models"], ["constants", "--inactive"], ["inputs"], ["kernels"],
                    ["fault"], ["doctor"], ["snapshot", "show"]],
            "json": [["inspect", "--all-threads", "--json"]]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aotidbg", required=True)
    parser.add_argument("snapshot", type=pathlib.Path)
    options = parser.parse_args()
    wrong = 0
    for kind, answer in answers(options.aotidbg, options.snapshot).items():
        wanted = golden(options.snapshot, kind)
        difference = list(difflib.unified_diff(wanted.read_text().splitlines(), answer.splitlines(), wanted.name,
                                               "the answer now", lineterm=""))
        print("\n".join(difference))
        wrong += bool(difference)
    return 1 if wrong else 0


def golden(snapshot, kind):
    return snapshot.with_name(snapshot.name.removesuffix(".core.gz") + "." + kind)


def answers(aotidbg, packed):
    """What the commands say of a snapshot: {"txt": ..., "json": ...}."""
    with tempfile.TemporaryDirectory(prefix="aotidbg-replay-") as folder:
        core = pathlib.Path(folder) / "core"
        core.write_bytes(gzip.decompress(packed.read_bytes()))
        said = {}
        for kind, commands in COMMANDS.items():
            said[kind] = without_addresses("".join(answer(aotidbg, command, core) for command in commands))
        return said


def answer(aotidbg, command, core):
    words = command[:2] if command[0] == "snapshot" else command[:1]
    done = subprocess.run([aotidbg, *words, str(core), *command[len(words):]], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    title = "" if "--json" in command else f"== {' '.join(command)}: exit status {done.returncode}\n"
    if done.returncode > 1 and not done.stderr.startswith("aotidbg: "):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return title + done.stdout + done.stderr


def without_addresses(text):
    text = re.sub(r'"version": "\d+\.\d+\.\d+"', '"version": "VERSION"', text)
    text = re.sub(r"saved by aotidbg \d+\.\d+\.\d+", "saved by aotidbg VERSION", text)
    return re.sub(r"0x[0-9a-f]{5,}", "ADDRESS", text)


if __name__ == "__main__":
    sys.exit(main())
