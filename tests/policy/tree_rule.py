#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What no file of the tree may hold. Usage: tree_rule.py [TREE]; prints file:line and the rule for each break, and fails.

- a path of the machine that it was written on: somebody else does not have it, and it tells who wrote it;
- a key, a token or a password in a URL;
- a source file without its licence line.
Compressed fixtures are looked into: a core carries its machine's environment.
"""
import gzip
import lzma
import re
import subprocess
import sys
from pathlib import Path

# Written in pieces, so that this file keeps its own rule. A word, ')', '}' or '~' before the slash makes it a part of a longer path
# (/proc/PID/root/..., ~/work), which is no place on the writer's machine;
# the homes of `me` and `user` are nobody's.
HOME_FOLDERS = ("work", "home", "root", "Users")
MACHINE_PATH = re.compile(rb"(?<![\w)}>\]*.~])/(?:" + "|".join(HOME_FOLDERS).encode() + rb")/(?!me/|user/)[\w.-]")
SECRET = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE" + rb" KEY|\bghp_[A-Za-z0-9]{30}|\bAKIA[0-9A-Z]{16}\b|\bhf_[A-Za-z]{30}"
                    rb"|\bsk-[A-Za-z0-9]{32}|://[\w.-]+:[^@/\s{}$<>]+@[\w.-]+")
LICENCE = b"SPDX-License-Identifier: BSD-3-Clause"
SOURCE_SUFFIXES = (".h", ".cpp", ".c", ".inc", ".py", ".sh", ".cmake", ".map", ".S")


def files_of(tree):
    listed = subprocess.run(["git", "-C", tree, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [tree / name for name in listed.stdout.splitlines() if (tree / name).is_file()]
    skip = {"build", ".venv", ".cache", ".git", "__pycache__"}
    return sorted(path for path in tree.rglob("*") if path.is_file() and not skip & set(path.relative_to(tree).parts))


def content(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".xz":
        return lzma.decompress(data)
    return data


def breaks_in(name, data):
    for rule, pattern in (("a path of somebody's machine", MACHINE_PATH), ("what looks like a secret", SECRET)):
        for match in pattern.finditer(data):
            line = data.count(b"\n", 0, match.start()) + 1
            yield f"{name}:{line}: {rule}: {match.group().decode(errors='replace')}"
    script = data.startswith(b"#!")
    if (name.endswith(SOURCE_SUFFIXES) or name.endswith("CMakeLists.txt") or script) and LICENCE not in data[:200]:
        yield f"{name}:1: the first lines lack '{LICENCE.decode()}'"


def main():
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    files = files_of(tree)
    found = [problem for path in files for problem in breaks_in(path.relative_to(tree).as_posix(), content(path))]
    if not files:
        found = [f"{tree} holds no file at all"]
    print("\n".join(found) if found else f"{len(files)} files keep the rules of the tree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
