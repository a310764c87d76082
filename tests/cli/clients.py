# SPDX-License-Identifier: BSD-3-Clause
"""A server of a model and somebody who asks it without pause, for tests that look at it meanwhile."""
import pathlib
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent


class Server:
    """server.py in a process of its own. `asked` and `answered` count; `wrong` holds what should not have been said."""

    def __init__(self, python, package):
        self.process = subprocess.Popen([python, HERE / "server.py", package], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.asked = self.answered = 0
        self.wrong = []
        self.expected = {number: self.ask(number) for number in range(97)}

    def ask(self, number):
        self.asked += 1
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        said, _, value = self.process.stdout.readline().strip().partition(" ")
        if said != str(number):
            self.wrong.append(f"asked {number}, answered {said!r} {value!r}")
        else:
            self.answered += 1
        return value

    def keep_asking(self):
        """Until `stop_asking`, each answer compared with the first one."""
        self.busy = True
        self.client = threading.Thread(target=self.client_loop, daemon=True)
        self.client.start()

    def client_loop(self):
        while self.busy and not self.wrong:
            number = self.asked
            value = self.ask(number)
            if value != self.expected[number % 97]:
                self.wrong.append(f"asked {number}, answered {value}, not {self.expected[number % 97]}")

    def stop_asking(self):
        self.busy = False
        self.client.join(timeout=60)
        if self.client.is_alive():
            self.wrong.append(f"no answer to {self.asked}")

    def state(self):
        """What /proc says that a look must not change."""
        status = dict(line.split(":\t", 1) for line in
                      pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines() if ":\t" in line)
        return {key: status[key].strip() for key in
                ("TracerPid", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")}

    def end(self):
        """The exit status after its input has ended."""
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it does not end"
        finally:
            self.process.stdout.close()
