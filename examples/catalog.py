# SPDX-License-Identifier: BSD-3-Clause
"""The examples as data: what answer.json says, and how one of its variants is started.

Shared by build.py, crash.py and tests/e2e/run.py; standard library only. README.md describes
answer.json and the folders that build.py and crash.py write.
"""
import dataclasses
import fnmatch
import json
import os
import pathlib
import signal

SOURCE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Variant:
    example: str
    name: str
    program: str  # "cpp" or "python"
    flags: list  # for the Python interpreter, before the script
    args: list
    env: dict
    ends: str  # the signal that kills the program, or "SIGSTOP"
    core: str  # who writes the core: "kernel", "SIGQUIT" or "gcore"
    answer: dict
    answer_live: dict
    answer_core: dict

    @property
    def full_name(self):
        return f"{self.example}/{self.name}"

    def wanted(self, mode):
        """What `aoti inspect --json` must contain in this mode: "core" or "live"."""
        return merge(self.answer, self.answer_core if mode == "core" else self.answer_live)


class Build:
    """A folder that build.py has filled."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        try:
            self.config = json.loads((self.path / "build.json").read_text())
        except OSError:
            raise SystemExit(f"{self.path} holds no build of the examples; make one with "
                             f"{SOURCE}/build.py --torch-python PYTHON --out {self.path}")

    def has(self, variant):
        folder = self.path / variant.example
        return (folder / "packages").is_dir() and (variant.program == "python" or (folder / "main").exists())

    def argv(self, variant):
        """The command line of a variant; argv[0] is an absolute path."""
        packages = str(self.path / variant.example / "packages")
        args = [arg.replace("{packages}", packages) for arg in variant.args]
        if variant.program == "cpp":
            return [str(self.path / variant.example / "main"), *args]
        return [self.config["python"], *variant.flags, str(SOURCE / variant.example / "main.py"), *args]

    def environment(self, variant, scratch):
        """The caller's environment, the variant's own on top; packages are extracted in scratch."""
        env = {**os.environ, "TMPDIR": str(scratch), **variant.env}
        return env

    def executable(self, variant):
        """The ELF file of the process: what a debugger wants beside a core."""
        return os.path.realpath(self.argv(variant)[0])


def examples():
    return sorted(path.parent.name for path in SOURCE.glob("*/answer.json"))


def variants(patterns=()):
    """Every variant of every example whose name, or example's name, matches one of the globs."""
    found = []
    for example in examples():
        answer = json.loads((SOURCE / example / "answer.json").read_text())
        for entry in answer["variants"]:
            unknown = entry.keys() - {"name", "program", "flags", "args", "env", "ends", "core",
                                      "answer", "answer_live", "answer_core"}
            if unknown:
                raise SystemExit(f"{example}/answer.json: unknown key(s) {sorted(unknown)}")
            if entry["ends"] not in signal.Signals.__members__:
                raise SystemExit(f"{example}/answer.json: {entry['ends']} is no signal")
            found.append(Variant(
                example=example, name=entry["name"], program=entry["program"],
                flags=entry.get("flags", []), args=entry.get("args", ["{packages}/model.pt2"]),
                env=entry.get("env", {}), ends=entry["ends"], core=entry.get("core", "kernel"),
                answer=merge(answer.get("answer", {}), entry.get("answer", {})),
                answer_live=entry.get("answer_live", {}), answer_core=entry.get("answer_core", {})))
    if not patterns:
        return found
    chosen = [v for v in found
              if any(fnmatch.fnmatchcase(n, p) for n in (v.full_name, v.example) for p in patterns)]
    if not chosen:
        raise SystemExit(f"no example matches {' '.join(patterns)}; there are: "
                         + ", ".join(v.full_name for v in found))
    return chosen


def merge(below, above):
    """Objects are merged key by key, lists of one length item by item; anything else in `above`
    replaces what is below it."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: merge(below[key], value) if key in below else value
                            for key, value in above.items()}}
    if isinstance(below, list) and isinstance(above, list) and len(below) == len(above):
        return [merge(*pair) for pair in zip(below, above)]
    return above
