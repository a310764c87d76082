#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One binary, several LLDBs, one core: the same answer.

    tests/lldb/matrix.py --plugin build/lib/aotidbg_lldb.so --examples build/examples [--others build/lldb] [VERSION ...]

Each VERSION is what tools/fetch_lldb.py unpacked under --others, or an installed lldb-VERSION. Its `aoti inspect --json`
on one core must be that of lldb-19 but for `tool.host`. A version that is not there is named as skipped; the exit status
is 77 when nothing but skipping was done.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile

import driver
import case_runner  # of tests/support
import programs

REFERENCE = "19"
VERSIONS = ["13", "14", "15", "16", "22"]


def find(version, others):
    unpacked = others / version / "lldb"
    return str(unpacked) if unpacked.exists() else shutil.which(f"lldb-{version}")


def inspect(lldb, note, folder):
    """The report, or a sentence."""
    report = folder / "report.json"
    session = lldb.run([f"aoti inspect --json --output {report}"], "-c", note["core"], note["executable"])
    if not session.ended_well():
        return f"ended with {session.status}:\n{session.text}"
    if not report.exists():
        return f"wrote no report:\n{session.text}"
    return json.loads(report.read_text())


def differences(left, right, path=""):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            yield from differences(left.get(key), right.get(key), f"{path}.{key}" if path else key)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for at, pair in enumerate(zip(left, right)):
            yield from differences(*pair, f"{path}[{at}]")
    elif left != right:
        yield f"{path}: {left!r} and {right!r}"


def compare(version, report, reference):
    """Problems of one version against lldb-19's report."""
    if not re.fullmatch(rf"lldb {version}\..*", report["tool"].pop("host", "")):
        yield f"the host is not LLDB {version}"
    yield from differences(report, reference)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--examples", required=True, type=pathlib.Path, help="what examples/build.py wrote")
    parser.add_argument("--others", type=pathlib.Path, default=driver.ROOT / "build/lldb")
    parser.add_argument("--example", default="index_1_33/cpp")
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    options = parser.parse_args()

    reference_lldb = driver.Lldb(find(REFERENCE, options.others) or "", options.plugin)
    if not reference_lldb.exists() or not (options.examples / "build.json").exists():
        print(f"skipped: needs lldb-{REFERENCE}, the plugin and the examples")
        return case_runner.SKIPPED
    failed = compared = 0
    with tempfile.TemporaryDirectory(prefix="aotidbg-matrix-") as scratch:
        note = programs.example_core(options.examples, options.example, options.examples / "cores")
        reference = inspect(reference_lldb, note, pathlib.Path(scratch))
        if isinstance(reference, str):
            print(f"LLDB {REFERENCE} {reference}")
            return 1
        reference["tool"].pop("host")
        for version in options.versions:
            program = find(version, options.others)
            if not program:
                print(f"LLDB {version}: skipped, neither installed nor in {options.others} (tools/fetch_lldb.py)")
                continue
            compared += 1
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                report = inspect(driver.Lldb(program, options.plugin), note, pathlib.Path(folder))
            problems = [report] if isinstance(report, str) else list(compare(version, report, reference))
            failed += bool(problems)
            print(f"LLDB {version}: " + ("\n  ".join(["differs", *problems]) if problems else "the same answer"))
    return 1 if failed else 0 if compared else case_runner.SKIPPED


if __name__ == "__main__":
    sys.exit(main())
