#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A snapshot of a process that has markers in its environment, weights and inputs holds none of them.

    snapshot_privacy.py --aotidbg PROGRAM --examples BUILD

Runs planted.py until it dies (the kernel or gdb writes the core), saves a snapshot, and searches the file for each
marker, raw and compressed and unpacked again. The core itself must hold them all, or the search would show nothing.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import catalog  # noqa: E402
import crash  # noqa: E402

MARKERS = {"environment": "ENVmark1", "weight": "WGTmark2", "input": "INPmark3"}


class Planted:
    """Looks to crash.py like a build with one variant: planted.py."""

    def __init__(self, build):
        self.build = build

    def has(self, variant):
        return self.build.has(variant)

    def argv(self, variant):
        package = self.build.path / variant.example / "packages" / "model.pt2"
        return [self.build.config["python"], str(pathlib.Path(__file__).with_name("planted.py")), str(package)]

    def environment(self, variant, scratch):
        planted = {f"PLANTED_{name.upper()}": marker for name, marker in MARKERS.items()}
        return {**self.build.environment(variant, scratch), **planted}

    def executable(self, variant):
        return self.build.executable(variant)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aotidbg", required=True)
    parser.add_argument("--examples", required=True)
    options = parser.parse_args()
    if not (pathlib.Path(options.examples) / "build.json").exists():
        print(f"{options.examples} holds no build of the examples")
        return 77
    variant = catalog.variants(["many_constants/python"])[0]
    with tempfile.TemporaryDirectory(prefix="aotidbg-privacy-") as folder:
        note = crash.crash(Planted(catalog.Build(options.examples)), variant, pathlib.Path(folder))
        core = pathlib.Path(note["core"])
        for name, marker in MARKERS.items():
            if holds(core, marker) < 2:  # the environment is on the stack, and again on the heap
                return fail(f"the core itself does not hold the marker of the {name}: nothing would be shown")
        for extra in ([], ["--with-values"]):
            problem = check(options.aotidbg, core, pathlib.Path(folder) / "snapshot", extra)
            if problem:
                return fail(f"{problem} {' '.join(extra)}")
    return 0


def check(aotidbg, core, snapshot, extra):
    subprocess.run([aotidbg, "snapshot", "save", str(core), str(snapshot), "--force", *extra], check=True)
    packed = snapshot.with_suffix(".gz")
    packed.write_bytes(gzip.compress(snapshot.read_bytes()))
    size, packed_size = snapshot.stat().st_size, packed.stat().st_size
    print(f"{core.stat().st_size} bytes of core, {size} of snapshot, {packed_size} compressed")
    if size > 4 << 20 or packed_size > 1 << 20:
        return f"the snapshot has {size} bytes, {packed_size} compressed"
    verdict = json.loads(subprocess.run([aotidbg, "inspect", str(snapshot), "--json"], check=True,
                                        capture_output=True, text=True).stdout)["verdict"]
    if verdict["code"] != "index_out_of_bounds" or "8589934592" not in verdict["text"]:
        return f"the snapshot's verdict is {verdict}"
    # First values are there when they are asked for, which also shows that the search finds what is there.
    wanted = {"weight", "input"} if extra else set()
    for name, marker in MARKERS.items():
        found = holds(snapshot, marker) + gzip.decompress(packed.read_bytes()).count(marker.encode())
        if (found != 0) != (name in wanted):
            return f"the marker of the {name} is in the snapshot {found // 2} times"
    return None


def holds(path, marker):
    return path.read_bytes().count(marker.encode())


def fail(sentence):
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
