#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may include what. Usage: include_rule.py [TREE]; prints file:line and the rule for each break, and fails.

The arrows go one way, target -> arch -> elf -> torch -> crash -> report -> commands -> hosts, so that the analysis can be
built and tested with no debugger at hand, and so that no stage calls back into an earlier one.
"""
import re
import sys
from pathlib import Path

# folder -> what of common/ it may include, besides itself. A name with a dot is one header.
ARROWS = {
    "common/target": [],
    "common/arch": ["common/target"],
    "common/elf": ["common/target", "common/arch"],
    "common/torch": ["common/target", "common/arch", "common/elf"],
    # A stage fills the plain structs of a report; it may not render them.
    "common/crash": ["common/target", "common/arch", "common/elf", "common/torch", "common/report/report.h"],
    # A renderer is given plain structs, and learns nothing of where they came from.
    "common/report": ["common/target/result.h"],
    "common/commands": ["common/target", "common/arch", "common/elf", "common/torch", "common/crash", "common/report"],
    # A debugger's plugin implements Target, for which it names registers as common/arch does.
    "lldb_plugin": ["common/target", "common/arch", "common/report", "common/commands"],
    "gdb_bridge": ["common/target", "common/arch", "common/report", "common/commands"],
    "cli": ["common/target", "common/report", "common/commands"],
    "tools": ["common", "layouts"],
    "bench": ["common", "tests/support"],
    "tests": ["common", "lldb_plugin", "gdb_bridge", "cli"],
    "examples": [],
}

# Foreign headers that stay in one place: pattern of the included name -> (folders that may, why).
FOREIGN = [
    (r"lldb/", ["lldb_plugin"], "only lldb_plugin speaks LLDB's API"),
    (r"Python\.h$|pybind11/", ["gdb_bridge"], "only gdb_bridge speaks Python's API"),
    (r"torch/|ATen/|c10/|caffe2/", ["examples", "tools/layoutgen", "tests/e2e"],
     "the debugger's side never needs torch: layouts are data"),
    (r"Zydis/|Zycore/", ["common/arch", "common/commands/version.cpp"], "only common/arch decodes instructions"),
    (r"CLI/", ["cli", "tools", "bench", "common/commands/options.cpp"], "one file reads a command's words, for every host"),
    (r"gtest/|gmock/", ["tests"], "GoogleTest belongs to tests"),
    (r"benchmark/", ["bench"], "Google Benchmark belongs to bench"),
    (r"(regex|iostream|locale|fstream|sstream)$", ["cli", "tools", "bench", "tests", "examples"],
     "locales and streams do not belong into somebody else's process: fmt and POSIX reads serve"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def folder_of(path):
    """'common/elf/symbols.h' -> 'common/elf'; 'cli/main.cpp' -> 'cli'."""
    parts = Path(path).parts
    return "/".join(parts[:2]) if parts[0] == "common" else parts[0]


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def check_line(source, quoted, angled):
    """One sentence when `source` may not include this, else None."""
    folder = folder_of(source)
    name = quoted or angled
    if folder not in ARROWS:
        return f"{folder} is not among the folders of tests/policy/include_rule.py: say there what it may include"
    if quoted:
        if folder == "examples" or source.startswith("tools/layoutgen/"):
            own = folder_of(name) not in ARROWS  # compiled on their own, with include folders of their own
        else:
            own = within(name, folder)
        if not own and Path(name).parts[0] not in {key.split("/")[0] for key in ARROWS} | {"layouts"}:
            return f'"{name}" does not start at the root of the tree (write "common/...")'
        if not own and not any(within(name, allowed) for allowed in ARROWS[folder]):
            may = ", ".join(ARROWS[folder]) or "nothing else"
            return f'{folder} may not include "{name}": it may include itself and {may}'
    for pattern, folders, why in FOREIGN:
        if re.match(pattern, name) and not any(within(source, allowed) for allowed in folders):
            return f"{folder} may not include <{name}>: {why}"
    return None


def breaks(tree):
    found, files = [], 0
    for top in sorted({key.split("/")[0] for key in ARROWS}):
        for path in sorted((tree / top).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".c", ".inc") or "build" in path.relative_to(tree).parts:
                continue
            files += 1
            source = path.relative_to(tree).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                problem = check_line(source, *match.groups()) if match else None
                if problem:
                    found.append(f"{source}:{number}: {problem}")
    return found, files


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    found, files = breaks(tree)
    if not files:
        found = [f"{tree} holds no source at all"]
    print("\n".join(found) if found else f"{files} files keep the include rule")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
