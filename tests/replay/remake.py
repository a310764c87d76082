#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the replays anew: a snapshot of every example, and the answers that it must give.

    tests/replay/remake.py --aotidbg build/bin/aotidbg --cores build/cores --build build/examples [GLOB...]
    tests/replay/remake.py --aotidbg build/bin/aotidbg --answers-only [GLOB...]

CORES is what examples/crash.py wrote. Folders of this machine (the build, the cores, the Python that has torch and its
home, this tree) are replaced in the snapshots by others of the same length, which nobody has. Read the difference that
`git diff` shows in the answers before you commit it.
"""
import argparse
import gzip
import pathlib
import subprocess
import sys
import tempfile

import replay

sys.path[:0] = [str(replay.HERE.parents[1] / "examples"), str(replay.HERE.parents[1] / "tests" / "policy")]
import catalog  # noqa: E402
import tree_rule  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aotidbg", required=True)
    parser.add_argument("--cores", type=pathlib.Path)
    parser.add_argument("--build")
    parser.add_argument("--answers-only", action="store_true", help="keep the snapshots")
    parser.add_argument("globs", nargs="*")
    options = parser.parse_args()
    if not options.answers_only and not (options.cores and options.build):
        parser.error("give --cores and --build, or --answers-only")
    for variant in catalog.variants(options.globs):
        packed = replay.HERE / f"{variant.example}.{variant.name}.core.gz"
        if not options.answers_only:
            data = save(options, variant)
            packed.write_bytes(gzip.compress(data, 9, mtime=0))
        for kind, answer in replay.answers(options.aotidbg, packed).items():
            replay.golden(packed, kind).write_text(answer)
        print(f"{packed.name}: {packed.stat().st_size} bytes", flush=True)
    return 0


def save(options, variant):
    """The bytes of a snapshot, with nobody's folders in it."""
    core = options.cores / variant.example / variant.name / "core"
    with tempfile.TemporaryDirectory(prefix="aotidbg-remake-") as folder:
        snapshot = pathlib.Path(folder) / "snapshot"
        subprocess.run([options.aotidbg, "snapshot", "save", str(core), str(snapshot)], check=True,
                       stdout=subprocess.DEVNULL)
        data = snapshot.read_bytes()
    for folder in machine_folders(catalog.Build(options.build), options.cores.resolve()):
        data = data.replace(folder.encode(), neutral(folder).encode())
    return tree_rule.MACHINE_PATH.sub(lambda match: in_opt(match.group()), data)


def machine_folders(build, cores):
    """Folders whose names tell of this machine, longest first."""
    python = pathlib.Path(build.config["python"])
    found = {cores, build.path, replay.HERE.parents[1], python.parents[1], python.resolve().parents[1],
             pathlib.Path.home()}
    # What is mapped, and what the compiler recorded, may lie in a parent that they share.
    found |= {parent for path in found for parent in [path.parent] if len(parent.parts) > 2}
    return sorted((str(path) + "/" for path in found if len(path.parts) > 1), key=len, reverse=True)


def neutral(folder):
    """/opt/ and as many letters as make it as long."""
    inner = max(len(folder) - len("/opt/") - 1, 0)
    return ("/opt/" + ("aotidbg-" * inner)[:inner].rstrip("-").ljust(inner, "0") + "/")[-len(folder):]


def in_opt(start):
    """The same length in /opt...: what is left, such as a command line that was cut short."""
    top, first = start[1:-2], start[-1:]
    return b"/" + (b"opt" + b"0" * len(top))[:len(top)] + b"/" + first


if __name__ == "__main__":
    sys.exit(main())
