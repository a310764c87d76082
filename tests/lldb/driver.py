# SPDX-License-Identifier: BSD-3-Clause
"""Runs one LLDB with the plugin in batch mode."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import debugger  # noqa: E402


class Session(debugger.Session):
    def answer(self, command, which=0):
        """What was printed for one command, up to the next prompt."""
        parts = self.text.split(f"(lldb) {command}\n")
        if len(parts) < which + 2:
            raise AssertionError(f"LLDB never came to `{command}`:\n{self.text}")
        return re.split(r"^\(lldb\) ", parts[which + 1], flags=re.MULTILINE)[0]

    def ended_well(self):
        return self.status in (0, 1) and "PLEASE submit a bug report" not in self.text


class Lldb(debugger.Debugger):
    session = Session

    def command(self, commands, *arguments):
        # In a batch a command that fails is the last of the -o, and what is to follow a crash wants -k.
        listed = [f"plugin load {self.extension}", *commands]
        options = [part for command in listed for part in ("-o", command)]
        # Without a pseudo terminal, which a chroot or a container may lack.
        return [self.program, "--no-lldbinit", "-b", "-o", "settings set target.disable-stdio true", *options, *arguments]

    def crash(self, before, after, *arguments, **options):
        """Commands that run the program until it crashes, and those that are to be run then."""
        after = [part for command in after for part in ("-k", command)]
        return self.run([*before, "run"], *after, *arguments, **options)
