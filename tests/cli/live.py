#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at a process that serves requests, again and again: no request may be lost, and the process ends as it was.

    tests/cli/live.py --aotidbg build/bin/aotidbg --examples build/examples [--rounds 1000]
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time

import clients


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aotidbg", required=True, type=pathlib.Path)
    parser.add_argument("--examples", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=1000)
    return parser.parse_args()


def look(arguments, pid):
    """The verdict and how many models, or what went wrong."""
    done = subprocess.run([arguments.aotidbg, "inspect", "--pid", str(pid), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr.strip()}", None
    report = json.loads(done.stdout)
    running = sum(model["pool"]["running"] for model in report["models"])
    return f"{report['verdict']['code']}, {len(report['models'])} model, {running} running", report


def main():
    arguments = parse()
    build = json.loads((arguments.examples / "build.json").read_text())
    server = clients.Server(build["python"], arguments.examples / "healthy_stop" / "packages" / "model.pt2")
    before = server.state()
    server.keep_asking()
    seen = collections.Counter()
    began = time.monotonic()
    for _ in range(arguments.rounds):
        seen[look(arguments, server.pid)[0]] += 1
    spent = time.monotonic() - began
    server.stop_asking()
    after = server.state()
    problems = list(server.wrong)
    if server.asked != server.answered:
        problems.append(f"{server.asked} asked, {server.answered} answered")
    if after != before:
        problems.append(f"it was {before} and is {after}")
    problems += [what for what in seen if not what.startswith("no_fault, 1 model")]
    status = server.end()
    if status != 0:
        problems.append(f"the server ended with {status}")
    print(f"{arguments.rounds} looks in {spent:.1f} s ({spent / arguments.rounds * 1e3:.0f} ms each); "
          f"{server.answered} of {server.asked} requests answered meanwhile; {dict(seen)}")
    print("\n".join(problems) if problems else "None was lost, and the process is as it was.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
