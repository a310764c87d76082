#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `aotidbg inspect CORE` costs beside `pystack core --native` on the same core, in one run.

    bench/core_cost.py --aotidbg build/bin/aotidbg --pystack .venv-pystack/bin/pystack --core CORE --exe PYTHON

Both are run in turn (A B A B ...), so that a machine whose speed drifts treats both alike; the median
ratio is the figure to quote. Memory is the peak of the whole process. PyStack: pip install pystack.
"""
import argparse
import statistics

from debugger_cost import measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotidbg", default="build/bin/aotidbg")
    parser.add_argument("--pystack", default="pystack")
    parser.add_argument("--core", required=True)
    parser.add_argument("--exe", required=True, help="the Python that died")
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    plans = {"pystack core --native": [arguments.pystack, "core", arguments.core, arguments.exe, "--native"],
             "aotidbg inspect": [arguments.aotidbg, "inspect", arguments.core]}
    results = {name: [] for name in plans}
    for turn in range(arguments.runs + 1):
        for name, command in plans.items():
            figures = measure(command)
            if turn > 0:  # the first turn fills the page cache
                results[name].append(figures)
    print(f"{'':24}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
    for name, figures in results.items():
        wall, cpu, peak = (statistics.median(column) for column in zip(*figures))
        print(f"{name:24}{wall:9.2f}{cpu:9.2f}{peak:9.0f}")
    theirs, ours = results.values()
    for column, what in enumerate(("wall", "cpu")):
        ratio = statistics.median(b[column] / a[column] for a, b in zip(theirs, ours))
        print(f"aotidbg / pystack: {what} {ratio:.2f}")


if __name__ == "__main__":
    main()
