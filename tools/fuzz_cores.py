#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Damages ten thousand cores of a crashed model, asks everything of each in process under ASan and UBSan, and opens the worst
twenty in LLDB with the plugin. Fails when one answer breaks a rule, takes too long or too much memory, or when LLDB dies.
Before that, a hundred thousand cores whose headers and notes alone are damaged are opened in process.

  tools/fuzz_cores.py [--count N] [--headers N] [--seed N] [--keep DIR] [--lldb lldb-19]

Builds what it needs, in build/asan and build. A fault of the first part is had again by the words that are printed with it:
build/asan/bin/aotidbg_fuzz --seed S --only N --keep DIR
"""
import argparse
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = ("aoti inspect", "aoti models", "aoti constants --values")


def build(preset, folder, target):
    if not (folder / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", target], check=True, stdout=subprocess.DEVNULL)


def fuzz_headers(program, arguments):
    """True when every core with damaged headers was opened or refused, and nothing was wrong."""
    return subprocess.run([program, "--count", str(arguments.headers), "--seed", str(arguments.seed),
                           "--damage", "headers"]).returncode == 0


def fuzz(program, arguments):
    """True when every mutant was examined and nothing was wrong."""
    arguments.keep.mkdir(parents=True, exist_ok=True)
    for old in arguments.keep.glob("*.core"):
        old.unlink()
    command = [program, "--count", str(arguments.count), "--seed", str(arguments.seed), "--keep", arguments.keep]
    return subprocess.run(command).returncode == 0


def run_lldb(arguments, command, *more):
    """LLDB's output and how it ended, 124 when it did not."""
    call = [arguments.lldb, "--no-lldbinit", "-b", "-o", f"plugin load {arguments.plugin}", "-o", command, *more]
    try:
        done = subprocess.run(call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        return "it does not end", 124
    return done.stdout.decode(errors="replace"), done.returncode


def ask(arguments, command, core):
    """What came of one command on one core: "explained", "refused" (by LLDB itself), or what is wrong."""
    text, status = run_lldb(arguments, command, "-c", core)
    refused = f"(lldb) {command}" not in text
    if refused and status in (0, 1):  # LLDB cannot read the core, and does not come to `aoti`: that has to live on
        text, status = run_lldb(arguments, command)
    if status not in (0, 1) or "PLEASE submit a bug report" in text:
        return f"`{command}` on {core.name}: LLDB ended with status {status}:\n{text[-2000:]}"
    answer = text.partition(f"(lldb) {command}\n")[2].strip()
    if not answer:
        return f"`{command}` on {core.name} says nothing:\n{text[-2000:]}"
    return "refused" if refused else "explained"


def through_lldb(arguments):
    """True when LLDB outlived them all, and the plugin had its say on each."""
    fine, explained, refused = True, 0, 0
    for core in sorted(arguments.keep.glob("worst-*.core")):
        start = time.monotonic()
        answers = [ask(arguments, command, core) for command in COMMANDS]
        wrong = [answer for answer in answers if answer not in ("explained", "refused")]
        fine = fine and not wrong
        explained += "explained" in answers
        refused += "refused" in answers
        said = "\n".join(wrong) if wrong else "LLDB cannot read it, and lives on" if "refused" in answers else "explained"
        print(f"{core.name}: {time.monotonic() - start:.1f} s: {said}", flush=True)
    print(f"Of the worst cores the plugin explained {explained} in LLDB, and LLDB refused {refused}.",
          "It died of none." if fine else "See above for what went wrong.")
    return fine and explained > 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--headers", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/fuzz", help="where the worst are written")
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run of LLDB")
    parser.add_argument("--program", type=pathlib.Path, help="an aotidbg_fuzz that is built already")
    parser.add_argument("--plugin", type=pathlib.Path, help="an aotidbg_lldb.so that is built already")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.program is None:
        arguments.program = ROOT / "build/asan/bin/aotidbg_fuzz"
        build("asan", ROOT / "build/asan", "aotidbg_fuzz")
    if arguments.plugin is None:
        arguments.plugin = ROOT / "build/lib/aotidbg_lldb.so"
        build("release", ROOT / "build", "aotidbg_lldb")
    headers = fuzz_headers(arguments.program, arguments)
    in_process = fuzz(arguments.program, arguments)
    in_lldb = through_lldb(arguments)
    return 0 if headers and in_process and in_lldb else 1


if __name__ == "__main__":
    sys.exit(main())
