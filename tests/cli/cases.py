#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line with what people give it: odd files, files that moved, compressed cores, running processes.

    tests/cli/cases.py --aotidbg build/bin/aotidbg [--examples build/examples] [CASE ...]

Cases are methods named test_CASE. Those that need a core of a model take it from the examples. What cannot be answered gets
exactly one sentence and exit status 2.
"""
import argparse
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import clients
import runner
from runner import case_runner, programs

NULL_READ = "int main(void) { volatile int *at = 0; return *at; }\n"
SLEEPS = "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n"
# Always starting threads that end at once; says at the end whether all of them ran.
RESTLESS = """
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile int ended, ran; static int started;
static void end(int unused) { ended = 1; }
static void *work(void *unused) { __sync_fetch_and_add(&ran, 1); return 0; }
int main(void) {
  signal(SIGTERM, end);
  while (!ended) {
    pthread_t some[4];
    for (int i = 0; i < 4; ++i) { if (pthread_create(&some[i], 0, work, 0)) return 2; ++started; }
    for (int i = 0; i < 4; ++i) pthread_join(some[i], 0);
  }
  return ran == started ? 0 : 1;
}
"""

options = None  # of the command line


class Cases(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="aotidbg-cli-")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.folder.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    # Helpers.

    def run_it(self, *arguments, **more):
        return runner.run_tool(options.aotidbg, *arguments, **more)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def refused(self, pattern, *arguments, **more):
        """Exactly one sentence, exit status 2, and neither time nor memory."""
        answer = self.run_it(*arguments, **more)
        self.assertEqual(answer.text, "", arguments)
        self.assertEqual(answer.status, 2, (arguments, answer))
        self.assertRegex(answer.said, r"\Aaotidbg: [^\n]+\n\Z", arguments)
        self.assertRegex(answer.said, pattern, arguments)
        self.assertLess(len(answer.said), 500)
        self.assertLess(answer.seconds, 5, arguments)
        self.assertLess(answer.megabytes, 100, arguments)
        return answer.said

    def new_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))

    def plain_core(self):
        """Of a small program that died of a null pointer, and its path."""
        core = self.folder / "null.core"
        if not core.exists():
            core = programs.core_of(programs.compile_c(NULL_READ, self.folder, "null"), self.folder)
        return core

    def model_core(self, name="index_1_33/cpp"):
        """core.json of a crash in a model, shared with the end-to-end tests: not to be touched."""
        return runner.kept_core(options.examples, name)

    def verdict(self, *arguments, **more):
        answer = self.run_it("inspect", *arguments, "--json", **more)
        self.assertEqual(answer.status, 0, answer.said)
        return answer.report["verdict"]

    # Files that are no core.

    def test_odd_files(self):
        mach = struct.pack("<IIII", 0xfeedfacf, 0x01000007, 3, 4) + bytes(64)
        cases = {
            "minidump": (b"MDMP\x93\xa7" + bytes(64), r"is a minidump .*gcore"),
            "mach-core": (mach, r"is a core of macOS \(Mach-O\)"),
            "mach-program": (mach[:12] + b"\x02" + mach[13:], r"is a program or library of macOS"),
            "32-bit": (runner.elf_header(class_=1, machine=3), r"32-bit program; only x86-64 is known"),
            "aarch64": (runner.elf_header(machine=183), r"comes from aarch64; only x86-64 is known"),
            "s390": (runner.elf_header(machine=22, order=2), r"big-endian"),
            "gpu": (runner.elf_header(machine=190), r"is a CUDA GPU core .*give the core of the process"),
            "object": (runner.elf_header(type_=1), r"is a program or library, no core"),
            "empty": (b"", r"is empty"),
            "text": (b"hello\n" * 100, r"is no ELF file"),
            "script": (b"#!/bin/sh\n", r"is a script"),
            "package": (b"PK\x03\x04" + bytes(64), r"zip archive .*--package"),
            "xz": (b"\xfd7zXZ\0" + bytes(64), r"compressed with xz.*xz -dk "),
            "cut": (runner.elf_header()[:50], r"is cut short inside its own headers"),
            "headers": (runner.elf_header(headers=60000), r"is cut short inside its own headers"),
            "windows": (b"PAGEDU64" + bytes(64), r"crash dump of Windows"),
        }
        for name, (content, pattern) in cases.items():
            with self.subTest(name):
                path = self.file(name, content)
                self.assertIn(str(path), self.refused(pattern, "inspect", path))

    def test_programs_are_no_cores(self):
        self.refused(r"/bin/ls is a program or library, no core; give the core", "inspect", "/bin/ls")
        self.refused(r"is a program or library, no core", "inspect", pathlib.Path(options.aotidbg).resolve())

    def test_what_is_no_file(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.refused(r"fifo is a pipe", "inspect", fifo)
        self.refused(r"/dev/zero is a device", "inspect", "/dev/zero")
        self.refused(r"is a directory; give a core", "inspect", self.folder)
        self.refused(r"missing does not exist", "inspect", self.folder / "missing")
        self.refused(r"does not exist", "inspect", self.plain_core() / "below")

    @unittest.skipIf(os.geteuid() != 0, "another user is needed, and only root can be one")
    def test_unreadable(self):
        path = self.file("secret", b"x")
        path.chmod(0)
        self.refused(r"secret may not be read by this user", "inspect", path, user=runner.NOBODY)

    # Compressed ones.

    def same_as_plain(self, packed, **more):
        plain = self.run_it("inspect", self.plain_core(), "--json")
        answer = self.run_it("inspect", packed, "--json", **more)
        self.assertEqual((answer.status, answer.said), (plain.status, plain.said))
        expected = plain.report
        expected["target"]["files"] = [pathlib.Path(packed).name]
        self.assertEqual(answer.report, expected)

    def pack(self, name, command):
        packed = self.folder / name
        with open(packed, "wb") as out:
            subprocess.run([*command, self.plain_core()], stdout=out, stderr=subprocess.DEVNULL, check=True)
        return packed

    def test_zstd(self):
        self.same_as_plain(self.pack("null.zst", ["zstd", "-c"]))

    def test_lz4(self):
        self.same_as_plain(self.pack("null.lz4", ["lz4", "-c"]))

    def test_gzip(self):
        self.same_as_plain(self.pack("null.gz", ["gzip", "-c"]))

    def test_the_name_does_not_matter(self):
        self.same_as_plain(self.pack("core.1234", ["zstd", "-c"]))
        self.same_as_plain(shutil.copy(self.plain_core(), self.folder / "plain.zst"))

    def test_frames_in_a_row(self):
        data = self.plain_core().read_bytes()
        middle = len(data) // 3
        self.same_as_plain(self.file("rows.gz", gzip.compress(data[:middle]) + gzip.compress(data[middle:])))
        for name, command in (("rows.zst", ["zstd", "-c"]), ("rows.lz4", ["lz4", "-c"])):
            parts = [subprocess.run(command, input=part, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
                     for part in (data[:middle], data[middle:])]
            self.same_as_plain(self.file(name, b"".join(parts)))

    def test_packed_and_cut_short(self):
        for name, command in (("cut.zst", ["zstd", "-c"]), ("cut.gz", ["gzip", "-c"]), ("cut.lz4", ["lz4", "-c", "-B4"])):
            packed = self.pack(name, command)
            packed.write_bytes(packed.read_bytes()[:packed.stat().st_size * 2 // 3])
            answer = self.run_it("inspect", packed)
            self.assertEqual(answer.status, 2, answer)
            self.assertRegex(answer.said, r"\Aaotidbg: the core file is cut short[^\n]+\n\Z")
            self.assertIn("Verdict", answer.text)

    def test_packed_and_damaged(self):
        packed = self.pack("bad.zst", ["zstd", "-c"])
        content = bytearray(packed.read_bytes())
        content[64:192] = bytes(range(128))
        packed.write_bytes(content)
        self.refused(r"bad.zst cannot be unpacked: it is damaged at about byte \d+: .*zstd -d", "inspect", packed)

    def test_packed_and_no_core(self):
        self.refused(r"what \S+/text.gz holds is no ELF file", "inspect", self.file("text.gz", gzip.compress(b"hello" * 99)))
        inner = gzip.compress(runner.elf_header(machine=183))
        self.refused(r"what \S+/arm.gz holds comes from aarch64", "inspect", self.file("arm.gz", inner))
        self.refused(r"none.gz holds nothing: it is cut short, or of an empty file", "inspect", self.file("none.gz", gzip.compress(b"")))

    def test_no_room_to_unpack(self):
        packed = self.pack("room.zst", ["zstd", "-c"])

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.refused(r"too little room in /\S+; name a folder with room in TMPDIR, or unpack it yourself: zstd -d",
                     "inspect", packed, preexec_fn=small_files)
        self.refused(r"/no/such takes no file", "inspect", packed, env={**os.environ, "TMPDIR": "/no/such"})

    def test_a_bomb_ends_where_its_headers_do(self):
        """Gigabytes of zeros behind a core that claims a page: unpacked no further."""
        bomb = self.folder / "bomb.gz"
        with gzip.open(bomb, "wb", compresslevel=1) as out:
            out.write(runner.elf_header())
            for _ in range(4096):
                out.write(bytes(1 << 20))
        answer = self.run_it("inspect", bomb)
        self.assertEqual((answer.status, answer.said), (0, ""))
        self.assertLess(answer.seconds, 2)
        self.assertLess(answer.megabytes, 100)

    # Cores as people have them.

    def test_without_nt_file(self):
        note = self.model_core()
        core = runner.without_file_note(pathlib.Path(note["core"]), self.folder / "nameless")
        expected = self.verdict(note["core"])
        self.assertEqual(self.verdict(core), expected)

    def test_sparse_forty_gigabytes(self):
        """A process with a large heap: an answer in a second and 200 MB, also of a packed core of it."""
        note = self.model_core()
        core = runner.grow(pathlib.Path(note["core"]), self.folder / "large", 40 << 30)
        answer = self.run_it("inspect", core, "--json")
        self.assertEqual(answer.report["verdict"], self.verdict(note["core"]))
        self.assertLess(answer.seconds, 1)
        self.assertLess(answer.megabytes, 200)

    # What the options name.

    def test_wrong_program(self):
        note = self.model_core()
        self.refused(r"--exe is not the program that died: /bin/ls is another file: build id \w+, the process had \w+; it was /",
                     "inspect", note["core"], "--exe", "/bin/ls")
        self.refused(r"--exe is not the program that died: /no/such does not exist", "inspect", note["core"],
                     "--exe", "/no/such")
        self.refused(r"--exe is not the program that died: /etc/passwd is not the mapped file", "inspect", note["core"],
                     "--exe", "/etc/passwd")
        self.verdict(note["core"], "--exe", note["executable"])

    def test_wrong_sysroot(self):
        core = self.model_core()["core"]
        self.refused(r"--sysroot /no/such does not exist", "inspect", core, "--sysroot", "/no/such")
        self.refused(r"--sysroot /etc/passwd is no folder", "inspect", core, "--sysroot", "/etc/passwd")
        self.refused(r"--sysroot \S+ has none of this process's files: \S+ does not exist; give the folder that was /",
                     "inspect", core, "--sysroot", self.new_folder())
        self.verdict(core, "--sysroot", "/")

    def test_files_that_moved(self):
        """The wrapper under another name in a folder below; what was lost without it is there again."""
        note = programs.example_core(options.examples, "index_1_33/cpp", self.folder / "own")
        wrapper, = pathlib.Path(note["tmp"]).rglob("*.wrapper.so")
        moved = self.folder / "moved" / "deep" / "renamed"
        moved.parent.mkdir(parents=True)
        hidden = wrapper.with_suffix(".hidden")
        expected = self.verdict(note["core"])
        wrapper.rename(hidden)
        try:
            shutil.copy(hidden, moved)
            without = self.run_it("doctor", note["core"], "--json").report
            missing = [file["path"] for file in without["files"] if file["state"] == "missing"]
            self.assertIn(str(wrapper), missing)
            self.assertEqual(self.verdict(note["core"], "--search", self.folder / "moved"), expected)
            self.assertEqual(self.verdict(note["core"], "--package", self.folder / "moved"), expected)
            self.assertEqual(self.verdict(note["core"], "--search", "/bin", "--search", self.folder / "moved"), expected)
            package = options.examples / "index_1_33" / "packages" / "model.pt2"
            self.assertEqual(self.verdict(note["core"], "--package", package), expected)
        finally:
            hidden.rename(wrapper)
        self.refused(r"--search /no/such does not exist", "inspect", note["core"], "--search", "/no/such")

    def test_wrong_package(self):
        core = self.model_core()["core"]
        other = options.examples / "healthy_stop" / "packages" / "model.pt2"
        self.refused(r"--package \S+ is not of this process: \S+\.so \(build id \w+\) was not loaded", "inspect", core,
                     "--package", other)
        self.refused(r"--package \S+ holds no compiled library", "inspect", core, "--package", self.new_folder())
        self.refused(r"--package /no/such does not exist", "inspect", core, "--package", "/no/such")
        self.refused(r"--package \S+ is no package", "inspect", core, "--package", "/etc/passwd")

    def test_a_model_that_is_not_there(self):
        core = self.model_core()["core"]
        for command in ("inspect", "models", "constants", "doctor"):
            self.refused(r"there is no model 7: this process has 1 model, counted from 0", command, core, "--model", "7")
            self.assertEqual(self.run_it(command, core, "--model", "0").status, 0)
        self.refused(r"'fault' has no option '--model'", "fault", core, "--model", "7")

    def test_usage(self):
        core = self.plain_core()
        self.refused(r"'inspect' needs a core file, or --pid PID", "inspect")
        self.refused(r"'inspect' takes a core or --pid, not both", "inspect", core, "--pid", "1")
        self.refused(r"--sysroot goes with a core, not with --pid", "inspect", "--pid", "1", "--sysroot", "/")
        self.refused(r"--pid takes a number from 1 to \d+, not 'x'", "inspect", "--pid", "x")
        self.refused(r"there is no command 'inspct': did you mean 'inspect'\?", "inspct", core)
        self.refused(r"'inspect' has no option '--sysrot': did you mean '--sysroot'\?", "inspect", core, "--sysrot", "/")
        self.refused(r"there is no thread 1: ", "inspect", core, "--thread", "1")
        self.assertEqual(self.run_it("inspect", core).status, 1)  # readable, and no AOTInductor in it

    # Running processes.

    def server(self):
        build = json.loads((options.examples / "build.json").read_text())
        server = clients.Server(build["python"], options.examples / "healthy_stop" / "packages" / "model.pt2")
        self.addCleanup(server.process.kill)
        return server

    def look(self, pid):
        answer = self.run_it("inspect", "--pid", pid, "--json")
        self.assertEqual((answer.status, answer.said), (0, ""))
        return answer.report

    def test_pid_of_a_server(self):
        """A few rounds; a thousand are live.py's."""
        done = subprocess.run([sys.executable, runner.HERE / "live.py", "--aotidbg", options.aotidbg, "--examples",
                               options.examples, "--rounds", "20"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_pid_stopped_stays_stopped(self):
        server = self.server()
        os.kill(server.pid, signal.SIGSTOP)
        os.waitpid(server.pid, os.WUNTRACED)
        report = self.look(server.pid)
        self.assertEqual(report["target"]["kind"], "live")
        self.assertEqual(report["verdict"]["code"], "no_fault")
        for _ in range(3):
            time.sleep(0.05)
            for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir():
                self.assertRegex((task / "status").read_text(), r"State:\tT \(stopped\)")
        os.kill(server.pid, signal.SIGCONT)
        self.assertEqual(server.ask(5), server.expected[5])
        self.assertEqual(server.end(), 0)

    def test_pid_of_a_thread_is_its_process(self):
        server = self.server()
        threads = sorted(int(task.name) for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir())
        self.assertGreater(len(threads), 1)
        self.assertEqual(self.look(threads[-1])["target"]["pid"], server.pid)

    def test_pid_traced_stays_traced(self):
        program = programs.compile_c(SLEEPS, self.folder, "sleeps")
        child = subprocess.Popen([program])
        tracer = subprocess.Popen(["strace", "-f", "-p", str(child.pid)], stderr=subprocess.DEVNULL)
        try:
            status = pathlib.Path(f"/proc/{child.pid}/status")
            while f"TracerPid:\t{tracer.pid}" not in status.read_text():
                time.sleep(0.02)
            self.refused(rf"process {child.pid} is held by another tool already: strace \(process {tracer.pid}\)",
                         "inspect", "--pid", child.pid)
            self.assertIn(f"TracerPid:\t{tracer.pid}", status.read_text())
        finally:
            tracer.terminate()
            tracer.wait()
            child.kill()
            child.wait()

    def test_pid_a_killed_tool_leaves_it_running(self):
        server = self.server()
        before = server.state()
        for delay in range(0, 200, 10):
            tool = subprocess.Popen([options.aotidbg, "inspect", "--pid", str(server.pid)], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            time.sleep(delay / 1000)
            tool.kill()
            tool.wait()
            self.assertEqual(server.ask(delay), server.expected[delay % 97])
        self.assertEqual(server.state(), before)
        self.assertEqual((server.wrong, server.end()), ([], 0))

    def test_pid_while_threads_come_and_go(self):
        child = subprocess.Popen([programs.compile_c(RESTLESS, self.folder, "restless", "-pthread")])
        self.addCleanup(child.kill)
        for _ in range(20):
            answer = self.run_it("inspect", "--pid", child.pid)
            self.assertEqual((answer.status, answer.said), (0, ""))
        child.terminate()
        self.assertEqual(child.wait(timeout=60), 0)

    def test_pid_that_cannot_be_read(self):
        self.refused(r"there is no process 2147483647 on this machine", "inspect", "--pid", "2147483647")
        zombie = subprocess.Popen(["true"])
        time.sleep(0.3)
        self.refused(rf"process {zombie.pid} has ended", "inspect", "--pid", zombie.pid)
        zombie.wait()

    @unittest.skipIf(os.geteuid() != 0, "another user is needed, and only root can be one")
    def test_pid_of_another_user(self):
        self.refused(rf"process {os.getpid()} may not be traced by this user; run aotidbg as", "inspect", "--pid",
                     os.getpid(), user=runner.NOBODY)

    # The collector, run as the kernel runs it: the core on standard input while the process waits.

    def collect(self, name, after, program=None, env=None):
        """What `collect` printed, its folder, and the core, of a program that GDB holds where it crashed. `after` follows
        PID and DIR; {folder} is DIR."""
        folder = self.folder / name
        folder.mkdir()
        core = folder / "core"
        after = after.format(folder=folder)
        order = f"{sys.executable} {runner.HERE}/runner.py {core}.gdb {core}; "
        ask = order + f"{options.aotidbg} collect --limit 200 $PID {folder} < {core} > {folder}/out 2>&1 {after}; echo status $? >> {folder}/out"
        variant, = programs.catalog.variants(["index_1_33/cpp"])
        build = programs.catalog.Build(options.examples)
        argv = [program] if program else build.argv(variant)
        subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "run", "-ex",
                        f"generate-core-file {core}.gdb", "-ex", "python import os; os.environ['PID'] = str(gdb.selected_inferior().pid)",
                        "-ex", f"python os.system({ask!r})", "--args", *argv],
                       env={**os.environ, "TMPDIR": str(folder)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=300)
        reports = {path.suffix: path for path in folder.iterdir() if path.suffix in (".json", ".txt", ".snapshot", ".part")}
        said = folder / "out"
        return said.read_text() if said.exists() else "", reports, core

    def test_collect(self):
        said, reports, core = self.collect("collect", "--core {folder}/copy")
        self.assertEqual(sorted(reports), [".json", ".snapshot", ".txt"], said)
        self.assertRegex(said, r"\Aaotidbg: main \(\d+\): cpp_fused_add_embedding_0 read row .*\[3\] holds that index; \S+\.json\nstatus 0\n\Z")
        report = json.loads(reports[".json"].read_text())
        expected = self.run_it("inspect", core, "--json").report
        self.assertEqual(report["tool"]["host"], "collector")
        self.assertEqual(report["target"]["kind"], "core")
        for key in ("verdict", "fault", "kernel", "inputs", "models", "threads"):
            self.assertEqual(report[key], expected[key], key)
        self.assertRegex(reports[".txt"].read_text(), r"\AVerdict    cpp_fused_add_embedding_0 read row 8589934592")
        again = self.run_it("inspect", reports[".snapshot"], "--json").report
        self.assertEqual(again["target"]["kind"], "snapshot")
        for key in ("verdict", "fault", "kernel", "inputs", "models", "threads"):
            self.assertEqual(again[key], expected[key], key)
        for kept in reports.values():
            self.assertEqual(kept.stat().st_mode & 0o777, 0o600, kept)
        subprocess.run(["cmp", core, core.parent / "copy"], check=True)
        self.assertLessEqual((core.parent / "copy").stat().st_blocks, core.stat().st_blocks)

    def test_collect_hands_the_core_on(self):
        said, reports, core = self.collect("then", "--then /bin/sh -c 'cat > {folder}/copy; echo got it; exit 3'")
        self.assertEqual(sorted(reports), [".json", ".snapshot", ".txt"], said)
        self.assertRegex(said, r"(?s)got it\naotidbg: /bin/sh ended with exit status 3\nstatus 2\n\Z")
        subprocess.run(["cmp", core, core.parent / "copy"], check=True)

    def test_collect_leaves_other_crashes_alone(self):
        null = programs.compile_c(NULL_READ, self.folder, "null")
        said, reports, _ = self.collect("other", "", null)
        self.assertEqual((said, reports), ("status 1\n", {}))
        said, reports, _ = self.collect("other-all", "--all", null)
        self.assertEqual(sorted(reports), [".json", ".snapshot", ".txt"], said)
        self.assertRegex(said, r"\Aaotidbg: null \(\d+\): SIGSEGV .*; \S+\.json\nstatus 1\n\Z")

    def test_collect_without_standard_output(self):
        said, reports, _ = self.collect("closed", ">&- 2>&- #")
        self.assertEqual((said, sorted(reports)), ("", [".json", ".snapshot", ".txt"]))

    def test_collect_gives_up_in_time(self):
        """The process that explains hangs: it is ended at the limit, and the core is handed on all the same."""
        copy, folder, server = self.folder / "late", self.folder / "given-up", self.server()
        head = runner.in_kernel_order(self.plain_core(), self.folder / "head")
        began = time.monotonic()
        with open(head, "rb") as core:
            tool = subprocess.Popen([options.aotidbg, "collect", "--limit", "2", str(server.pid), folder, "--core", copy],
                                    stdin=core, stderr=subprocess.PIPE, text=True)
        child = ""
        while not child and time.monotonic() < began + 2:
            child = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text()
        os.kill(int(child), signal.SIGSTOP)
        said = tool.communicate(timeout=60)[1]
        self.assertRegex(said, r"explaining process \d+ took longer than 2 s and was given up\n\Z")
        self.assertEqual(tool.returncode, 2)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(list(folder.iterdir()), [])
        subprocess.run(["cmp", head, copy], check=True)

    def test_collect_waits_for_no_core(self):
        server = self.server()
        began = time.monotonic()
        with subprocess.Popen([options.aotidbg, "collect", "--limit", "1", str(server.pid), self.folder / "none"],
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
            said = tool.stderr.read()
        self.assertEqual(said, "aotidbg: the core on standard input did not come in time\n")
        self.assertLess(time.monotonic() - began, 4)

    def test_collect_usage(self):
        self.refused(r"'collect' needs PID and DIR", "collect")
        self.refused(r"PID takes a number from 1, not 'x'", "collect", "x", self.folder)
        self.refused(r"--limit takes a number of seconds", "collect", "--limit", "0", "1", self.folder)
        self.refused(r"--then needs a command that begins with a /", "collect", "1", self.folder, "--then", "cat")
        self.refused(r"--core or --then, not both", "collect", "1", self.folder, "--core", "x", "--then", "/bin/cat")
        self.refused(r"'collect' has no option '--into'", "collect", "--into", "1")
        self.refused(r"the core on standard input ends after 0 bytes", "collect", os.getpid(), self.folder)
        self.assertRegex(self.run_it("help", "collect").text, r"\Ausage: aotidbg collect ")
        self.assertRegex(self.run_it("help").text, r"(?m)^  collect +for core_pattern")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aotidbg", type=pathlib.Path)
    parser.add_argument("--examples", type=pathlib.Path)
    case_runner.add_arguments(parser)
    return parser.parse_args()


def main():
    global options
    options = parse()
    status = case_runner.run(Cases, options)
    return 0 if status == case_runner.SKIPPED else status


if __name__ == "__main__":
    sys.exit(main())
