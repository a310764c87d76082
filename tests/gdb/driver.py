# SPDX-License-Identifier: BSD-3-Clause
"""Runs one GDB with aotidbg in batch mode."""
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


@dataclasses.dataclass
class Session:
    """What one GDB printed, standard error included, and how it ended."""
    text: str
    status: int

    def answer(self, which):
        """What was printed for one of the commands, counted from 0."""
        start, end = f"@@ {which}\n", f"@@ {which + 1}\n"
        if start not in self.text or end not in self.text:
            raise AssertionError(f"GDB never came to the end of command {which}:\n{self.text}")
        return self.text.partition(start)[2].partition(end)[0]

    def ended_well(self):
        return self.status in (0, 1) and "internal-error" not in self.text and "Traceback" not in self.text


@dataclasses.dataclass
class Gdb:
    program: str
    script: str
    timeout: float = 120

    def command(self, commands, *arguments):
        marked = [f"echo @@ 0\\n"]
        for number, command in enumerate(commands, 1):
            marked += [command, f"echo @@ {number}\\n"]
        options = [part for command in [f"source {self.script}", *marked] for part in ("-ex", command)]
        return [self.program, "-nx", "-batch", "-iex", "set debuginfod enabled off", *options, *arguments]

    def run(self, commands, *arguments, env=None, under=()):
        """Ends with an error when GDB hangs: TimeoutExpired."""
        done = subprocess.run([*under, *self.command(commands, *arguments)], env={**os.environ, **(env or {})},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=self.timeout)
        return Session(done.stdout.decode(errors="replace"), done.returncode)

    def exists(self):
        return bool(shutil.which(self.program)) and os.path.exists(self.script)
