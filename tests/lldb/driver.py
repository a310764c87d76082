# SPDX-License-Identifier: BSD-3-Clause
"""Runs one LLDB with the plugin in batch mode."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


@dataclasses.dataclass
class Session:
    """What one LLDB printed, standard error included, and how it ended."""
    text: str
    status: int

    def answer(self, command, which=0):
        """What was printed for one command, up to the next prompt."""
        parts = self.text.split(f"(lldb) {command}\n")
        if len(parts) < which + 2:
            raise AssertionError(f"LLDB never came to `{command}`:\n{self.text}")
        return re.split(r"^\(lldb\) ", parts[which + 1], flags=re.MULTILINE)[0]

    def ended_well(self):
        return self.status in (0, 1) and "PLEASE submit a bug report" not in self.text


@dataclasses.dataclass
class Lldb:
    program: str
    plugin: str
    timeout: float = 120

    def command(self, commands, *arguments):
        # In a batch a command that fails is the last of the -o, and what is to follow a crash wants -k.
        listed = [f"plugin load {self.plugin}", *commands]
        options = [part for command in listed for part in ("-o", command)]
        # Without a pseudo terminal, which a chroot or a container may lack.
        return [self.program, "--no-lldbinit", "-b", "-o", "settings set target.disable-stdio true", *options, *arguments]

    def run(self, commands, *arguments, env=None, under=(), cwd=None):
        """Ends with an error when LLDB hangs: TimeoutExpired."""
        done = subprocess.run([*under, *self.command(commands, *arguments)], env={**os.environ, **(env or {})}, cwd=cwd,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=self.timeout)
        return Session(done.stdout.decode(errors="replace"), done.returncode)

    def crash(self, before, after, *arguments, **options):
        """Commands that run the program until it crashes, and those that are to be run then."""
        after = [part for command in after for part in ("-k", command)]
        return self.run([*before, "run"], *after, *arguments, **options)

    def exists(self):
        return bool(shutil.which(self.program)) and os.path.exists(self.plugin)
