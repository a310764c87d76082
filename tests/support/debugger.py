# SPDX-License-Identifier: BSD-3-Clause
"""What the drivers of LLDB and GDB share: one debugger in batch mode, with what it loads of ours."""
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import time


@dataclasses.dataclass
class Session:
    """What one debugger printed, standard error included, and how it ended."""
    text: str
    status: int


@dataclasses.dataclass
class Debugger:
    program: str
    extension: str  # the plugin, or the script
    timeout: float = 120

    session = Session

    def command(self, commands, *arguments):
        raise NotImplementedError

    def run(self, commands, *arguments, env=None, under=(), cwd=None):
        """Ends with an error when the debugger hangs: TimeoutExpired."""
        done = subprocess.run([*under, *self.command(commands, *arguments)], env={**os.environ, **(env or {})}, cwd=cwd,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=self.timeout)
        return self.session(done.stdout.decode(errors="replace"), done.returncode)

    def interrupt(self, commands, *arguments, core, begun):
        """SIGINT two seconds after `begun` was printed, while each read of `core` takes half a second: a search of all
        memory would go on for minutes. The session, and how long the debugger went on."""
        slow = ["strace", "-f", "-qq", "-P", core, "-e", "trace=pread64",
                "-e", "inject=pread64:delay_enter=500000", "-o", "/dev/null"]
        child = subprocess.Popen([*slow, *self.command(commands, *arguments)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = b""
        try:
            while begun not in text:
                more = os.read(child.stdout.fileno(), 65536)
                if not more:
                    raise AssertionError(text)
                text += more
            time.sleep(2)
            if child.poll() is not None:
                raise AssertionError("the search was over before it could be interrupted")
            debugger = int(pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()[0])
            os.kill(debugger, signal.SIGINT)
            start = time.monotonic()
            rest, _ = child.communicate(timeout=self.timeout)
        finally:
            child.kill()
        return self.session((text + rest).decode(errors="replace"), child.returncode), time.monotonic() - start

    def exists(self):
        return bool(shutil.which(self.program)) and os.path.exists(self.extension)
