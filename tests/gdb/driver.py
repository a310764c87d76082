# SPDX-License-Identifier: BSD-3-Clause
"""Runs one GDB with aotidbg in batch mode."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import debugger  # noqa: E402


class Session(debugger.Session):
    def answer(self, which):
        """What was printed for one of the commands, counted from 0."""
        start, end = f"@@ {which}\n", f"@@ {which + 1}\n"
        if start not in self.text or end not in self.text:
            raise AssertionError(f"GDB never came to the end of command {which}:\n{self.text}")
        return self.text.partition(start)[2].partition(end)[0]

    def ended_well(self):
        return self.status in (0, 1) and "internal-error" not in self.text and "Traceback" not in self.text


class Gdb(debugger.Debugger):
    session = Session

    def command(self, commands, *arguments):
        marked = ["echo @@ 0\\n"]
        for number, command in enumerate(commands, 1):
            marked += [command, f"echo @@ {number}\\n"]
        options = [part for command in [f"source {self.extension}", *marked] for part in ("-ex", command)]
        return [self.program, "-nx", "-batch", "-iex", "set debuginfod enabled off", *options, *arguments]
