#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user runs into beside a crash: each case gets one clear sentence, and GDB lives on.

    tests/gdb/robustness.py --script build/lib/aotidbg.py [--examples build/examples] [--gdb gdb] [CASE ...]

Cases are methods named test_CASE. Those that need a core of a model take it from the examples, and are skipped without
them. GDB runs in batch mode with a time limit; a run that hangs is a failure.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import driver
import case_runner  # of tests/support
import programs

WAITS = "int main(void) { for (;;) pause(); }\n"
# A variable of each kind that `aoti tensor` may be asked for, and a function that must never run.
NAMES = """
struct part { void *inner; };
struct holder { struct part parts[2]; } holder;
int calls;
void *touch(void) { calls++; return &calls; }
int main(void) { struct holder *pointer = &holder; volatile int *at = 0; touch(); calls = 0; return *at + (pointer != 0); }
"""

options = None  # of the command line


class Robustness(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="aotidbg-gdb-")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.gdb = driver.Gdb(options.gdb, options.script, options.timeout)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    # Helpers.

    def program(self, source, name, *flags):
        return str(programs.compile_c(source, self.folder, name, *flags))

    def core(self, source=programs.NULL_READ, name="null_read", *flags):
        return programs.core_of(pathlib.Path(self.program(source, name, *flags)), self.folder)

    def model_core(self):
        """core.json of a crash in a model; the core and its package are this test's own, to be damaged."""
        if not options.examples or not (options.examples / "build.json").exists():
            self.skipTest("needs the examples: examples/build.py")
        return programs.example_core(options.examples, "index_1_33/cpp", self.folder / self._testMethodName)

    def run_gdb(self, commands, *arguments, **more):
        session = self.gdb.run(commands, *arguments, **more)
        self.assertTrue(session.ended_well(), f"status {session.status}\n{session.text}")
        return session

    def assert_one_sentence(self, answer, pattern):
        lines = answer.strip().splitlines()
        self.assertEqual(len(lines), 1, answer)
        self.assertRegex(lines[0], pattern)
        self.assertLess(len(lines[0]), 400)

    def report_of(self, before, *arguments, after=(), **more):
        """The report of `aoti inspect` after some commands, and the session."""
        path = self.folder / f"{self._testMethodName}.json"
        session = self.run_gdb([*before, f"aoti inspect --json --force --output {path}", *after], *arguments, **more)
        self.assertTrue(path.exists(), session.text)
        return json.loads(path.read_text()), session

    # The command itself.

    def test_alone_prints_help(self):
        session = self.run_gdb(["aoti", "help aoti", "help aoti inspect", "aoti help inspect", "apropos aoti"])
        for command in ("inspect", "models", "tensor", "doctor", "version"):
            self.assertRegex(session.answer(0), rf"(?m)^ +{command} ")
            self.assertRegex(session.answer(1), rf"(?m)^aoti {command} -- .+\.$")
        self.assertRegex(session.answer(2), r"(?s)^The whole crash on one screen.*\.\nUsage: aoti inspect .*--all-threads")
        self.assertIn("usage: aoti inspect", session.answer(3))
        self.assertIn("aoti constants -- ", session.answer(4))

    def test_sourced_twice(self):
        session = self.run_gdb([f"source {options.script}", "aoti version", "python print(sorted(globals()))"])
        self.assertRegex(session.answer(0).strip(), r"^aotidbg \S+ is loaded already; .*$")
        self.assertRegex(session.answer(1), r"in gdb \d")
        self.assertNotIn("answer", session.answer(2))  # the user's namespace stays the user's

    def test_unknown_words(self):
        session = self.run_gdb(["aoti inspekt", "aoti inspect --jsn", "aoti tensor", "aoti insp --help"])
        self.assert_one_sentence(session.answer(0), r"no command 'inspekt': did you mean 'inspect'\?")
        self.assert_one_sentence(session.answer(1), r"no option '--jsn': did you mean '--json'\?")
        self.assert_one_sentence(session.answer(2), r"'tensor' needs NAME")
        self.assertIn("usage: aoti inspect", session.answer(3))  # GDB's abbreviations

    def test_completes(self):
        session = self.run_gdb(["complete aoti in", "complete aoti inspect --a", "complete aoti models --color ",
                                "complete aoti help con", "complete aoti constants --inactive --v", "complete aoti tensor "])
        self.assertEqual(session.answer(0).split("\n")[:2], ["aoti inputs", "aoti inspect"])
        self.assertEqual(session.answer(1), "aoti inspect --all-threads\n")
        self.assertEqual(session.answer(2).splitlines(), [f"aoti models --color {when}" for when in ("always", "auto", "never")])
        self.assertEqual(session.answer(3), "aoti help constants\n")
        self.assertEqual(session.answer(4), "aoti constants --inactive --values\n")
        self.assertEqual(session.answer(5), "")

    # Nothing to look at.

    def test_no_target(self):
        session = self.run_gdb(["aoti inspect"])
        self.assert_one_sentence(session.answer(0), r"no program and no core open.*core-file CORE")

    def test_not_started(self):
        session = self.run_gdb(["aoti inspect"], self.program(programs.FINE, "fine"))
        self.assert_one_sentence(session.answer(0), r"no process: \S*/fine was not started.*`run`")

    def test_exited(self):
        session = self.run_gdb(["run", "aoti inspect"], self.program(programs.FINE, "fine"))
        self.assert_one_sentence(session.answer(1), r"no process: \S*/fine has exited with status 3")

    def test_running(self):
        session = self.run_gdb(["set non-stop on", "run &", "python import time; time.sleep(1)", "aoti inspect"],
                               self.program(WAITS, "waits"))
        self.assert_one_sentence(session.answer(3), r"process \d+ is running.*interrupt")

    # A process or a core without a model.

    def test_before_any_model(self):
        report, _ = self.report_of(["break main", "run"], self.program(programs.FINE, "fine"))
        self.assertEqual(report["models"], [])
        self.assertIn(report["verdict"]["code"], ("no_fault", "not_aoti"))
        self.assertEqual(report["target"]["kind"], "live")

    def test_core_without_a_model(self):
        core = self.core()
        report, _ = self.report_of([], "-c", str(core))
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertEqual(report["target"]["files"], [core.name])
        self.assertEqual(report["models"], [])

    # Forks and several inferiors: the selected one is examined.

    def test_forked_child(self):
        report, session = self.report_of(["set follow-fork-mode child", "run"], self.program(programs.FORKS, "forks"))
        child = int(re.findall(r"child process (\d+)", session.text)[-1])
        self.assertEqual(report["target"]["pid"], child, session.text)
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertEqual(report["fault"]["signal"], "SIGSEGV")

    def test_child_held_back(self):
        """`detach-on-fork off`: the parent waits for a child that GDB holds; then the child is made to crash."""
        session = self.run_gdb(["set detach-on-fork off", "set schedule-multiple on", "set non-stop off", "run",
                                "aoti inspect", "python gdb.execute(f'inferior {3 - gdb.selected_inferior().num}')", "aoti inspect"],
                               self.program(programs.FORKS, "forks"))
        first, second = session.answer(4), session.answer(6)
        heads = [re.search(r"(?m)^inferior (\d) of 2: \S*forks, process (\d+)\n", text) for text in (first, second)]
        self.assertNotIn(None, heads, session.text)
        self.assertEqual({head[1] for head in heads}, {"1", "2"})
        self.assertNotEqual(heads[0][2], heads[1][2])
        self.assertEqual(["SIGSEGV" in text for text in (first, second)], [True, False], session.text)

    def test_several_inferiors(self):
        first, second = self.core(), self.core(programs.TWO_THREADS, "two_threads", "-pthread")
        session = self.run_gdb([f"core-file {first}", "add-inferior -no-connection", "inferior 2", f"core-file {second}", "aoti inspect",
                                "inferior 1", "aoti inspect", "aoti inspect --json"])
        self.assertRegex(session.answer(4), r"^inferior 2 of 2: \S*two_threads, process \d+\n")
        self.assertRegex(session.answer(6), r"^inferior 1 of 2: \S*null_read, process \d+\n")
        self.assertIn("0x1234", session.answer(4))
        self.assertNotIn("0x1234", session.answer(6))
        json.loads(session.answer(7))

    # Damaged cores.

    def test_truncated_core(self):
        said = r"(?i)cut short|truncated|ends (at|after|before)|no program and no core|no process"
        for whole, percent in ((self.core(), 90), (self.core(), 1), (pathlib.Path(self.model_core()["core"]), 90),
                               (pathlib.Path(self.model_core()["core"]), 30), (pathlib.Path(self.model_core()["core"]), 1)):
            core = self.folder / f"{whole.name}.cut{percent}"
            shutil.copy(whole, core)
            os.truncate(core, whole.stat().st_size * percent // 100)
            with self.subTest(core=whole.name, percent=percent):
                session = self.run_gdb(["aoti inspect"], "-c", str(core))
                self.assertRegex(session.answer(0), said)
            core.unlink()

    def test_core_whose_wrapper_is_gone(self):
        note = self.model_core()
        shutil.rmtree(note["tmp"])
        report, _ = self.report_of([], note["executable"], note["core"])
        self.assertTrue(any("wrapper.so" in json.dumps(unknown) for unknown in report["unknowns"]), report["unknowns"])
        self.assertNotEqual(report["verdict"]["code"], "no_fault")

    def test_core_that_was_deleted(self):
        core = self.core()
        report, _ = self.report_of([f"shell rm {core}"], "-c", str(core))
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertRegex(report["target"]["executable"], "null_read$")

    def test_core_that_was_replaced(self):
        core, other = self.core(), self.core(programs.TWO_THREADS, "two_threads", "-pthread")
        report, _ = self.report_of([f"shell mv {other} {core}"], "-c", str(core))
        self.assertRegex(report["target"]["executable"], "null_read$")
        self.assertEqual(report["fault"]["address"], "0x0")

    def test_module_that_shrinks(self):
        note = self.model_core()
        wrapper, = pathlib.Path(note["tmp"]).rglob("*.wrapper.so")
        for left in (wrapper.stat().st_size // 2, 4096, 100, 0):  # open at the second time
            with self.subTest(left=left):
                session = self.run_gdb(["aoti inspect", f"shell truncate -s {left} {wrapper}", "aoti inspect"],
                                       note["executable"], note["core"])
                self.assertTrue(session.answer(2).strip(), session.text)

    # Through a connection.

    def test_gdbserver(self):
        program = self.program(programs.TWO_THREADS, "two_threads", "-pthread")
        for target in ("remote", "extended-remote"):
            with self.subTest(target=target):
                trace = self.folder / f"{target}.trace"
                report, session = self.report_of([f"target {target} | gdbserver --once - {program}", "continue"], program,
                                                 under=["strace", "-qq", "-e", "trace=openat,process_vm_readv", "-o", str(trace)])
                self.assertEqual(report["target"]["kind"], "live", session.text)
                self.assertEqual(report["fault"]["address"], "0x1234")
                self.assertEqual(report["fault"]["code"], "SEGV_MAPERR")
                self.assertEqual(report["verdict"]["code"], "not_aoti")
                self.assertTrue(any("connection" in json.dumps(unknown) for unknown in report["unknowns"]), report["unknowns"])
                # GDB itself may look at the process that gdbserver stands for; aotidbg may not.
                self.assertNotRegex(trace.read_text(), rf"/proc/{report['target']['pid']}/(maps|mem)|process_vm_readv")

    # What the user chose.

    def test_selected_thread(self):
        program = self.program(programs.TWO_THREADS, "two_threads", "-pthread")
        mine, other = self.folder / "mine.json", self.folder / "other.json"
        session = self.run_gdb(["run", f"aoti inspect --json --output {mine}", "thread 2", "up",
                                f"aoti inspect --json --output {other}", "frame"], program)
        left, right = (json.loads(path.read_text()) for path in (mine, other))
        self.assertEqual(left["fault"]["address"], "0x1234", session.text)
        self.assertEqual(left["fault"]["thread"], left["target"]["pid"])
        self.assertNotEqual((right["fault"] or {}).get("thread"), left["fault"]["thread"])
        self.assertRegex(session.answer(5), r"^#1 ")  # the user's frame is still selected

    def test_selected_thread_of_a_core(self):
        core = self.core(programs.TWO_THREADS, "two_threads", "-pthread")
        session = self.run_gdb(["aoti fault", "thread 2", "aoti fault"], self.folder / "two_threads", core)
        self.assertIn("0x1234", session.answer(0))
        self.assertNotIn("0x1234", session.answer(2))

    def test_sourced_after_the_stop(self):
        """The thread that stopped is found without having heard of the stop, whichever is selected by then."""
        program = self.program(programs.TWO_THREADS, "two_threads", "-pthread")
        command = [options.gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "run", "-ex", "thread 2",
                   "-ex", f"source {options.script}", "-ex", "aoti inspect --json --thread 0x", "-ex", "thread 1",
                   "-ex", "aoti fault", program]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=options.timeout)
        self.assertRegex(done.stdout, r"SIGSEGV \(SEGV_MAPERR\), read of 0x1234")

    def test_runs_nothing(self):
        session = self.run_gdb(["run", "aoti tensor touch()", "aoti tensor calls=7", "aoti tensor pointer->parts[1].inner",
                                "aoti tensor &holder", "aoti tensor $nothing", "print calls", "show may-call-functions"],
                               self.program(NAMES, "names"))
        for number in range(1, 6):
            self.assert_one_sentence(session.answer(number), r"no constant|no register|neither|no tensor|no frame|cannot|is called")
        self.assertIn("= 0\n", session.answer(6))
        self.assertIn("is on", session.answer(7))

    def test_answers_after_a_change(self):
        """What was kept is dropped when the user writes to memory, continues, or opens another core."""
        program = self.program(programs.TWO_THREADS, "two_threads", "-pthread")
        first, second = self.core(), self.core(programs.TWO_THREADS, "two_threads", "-pthread")
        session = self.run_gdb(["break pthread_create", "run", "aoti fault", "continue", "aoti fault", "set var $rip = main", "aoti fault",
                                "kill", f"core-file {first}", "aoti fault", f"core-file {second}", "aoti fault"], program)
        self.assertNotIn("SIGSEGV", session.answer(2))
        self.assertIn("0x1234", session.answer(4))
        self.assertNotIn("mov eax, [0x1234]", session.answer(6))
        self.assertIn("read of 0x0", session.answer(9))
        self.assertIn("read of 0x1234", session.answer(11))

    def test_output_twice(self):
        path = self.folder / "once.txt"
        session = self.run_gdb([f"aoti inspect --output {path}", f"aoti inspect --output {path}"], "-c", str(self.core()))
        self.assert_one_sentence(session.answer(1), r"once\.txt.*--force")

    # The machine around it.

    def test_connects_nowhere(self):
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        note = self.model_core()
        shutil.rmtree(note["tmp"])  # a file to look for
        trace = self.folder / "network"
        # Nothing answers on port 9, and nobody may ask. GDB's own look-ups are switched off: it would.
        self.run_gdb(["aoti inspect", "aoti doctor"], note["executable"], note["core"], env={"DEBUGINFOD_URLS": "http://127.0.0.1:9"},
                     under=["strace", "-f", "-qq", "-e", "trace=network", "-o", str(trace)])
        self.assertNotRegex(trace.read_text(), r"connect\(.*AF_INET")

    def test_interrupted(self):
        if not shutil.which("strace"):
            self.skipTest("needs strace, which makes reading slow")
        note = self.model_core()
        session, seconds = self.gdb.interrupt(["aoti models", "aoti version"], note["executable"], note["core"], core=note["core"], begun=b"@@ 0")
        self.assertIn(session.status, (0, 1), session.text)
        self.assertRegex(session.text, r"Interrupted: |you interrupted this before")
        self.assertIn("aotidbg", session.answer(1))  # GDB went on to the next command
        self.assertLess(seconds, 60, session.text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--script")
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--examples", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of the debugger")
    case_runner.add_arguments(parser)
    return parser.parse_args()


def main():
    global options
    options = parse()
    there = options.script and driver.Gdb(options.gdb, options.script).exists()
    return case_runner.run(Robustness, options, None if there else f"{options.gdb} and aotidbg.py")


if __name__ == "__main__":
    sys.exit(main())
