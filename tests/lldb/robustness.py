#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user runs into beside a crash: each case gets one clear sentence, and LLDB lives on.

    tests/lldb/robustness.py --plugin build/lib/aotidbg_lldb.so [--examples build/examples] [--lldb lldb-19] [CASE ...]

Cases are methods named test_CASE. Those that need a core of a model take it from the examples, and are skipped without
them. LLDB runs in batch mode with a time limit; a run that hangs is a failure.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import driver
import case_runner  # of tests/support
import programs

options = None  # of the command line


class Robustness(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="aotidbg-lldb-")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.lldb = driver.Lldb(options.lldb, options.plugin, options.timeout)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    # Helpers.

    def program(self, source, name, *flags):
        return programs.compile_c(source, self.folder, name, *flags)

    def model_core(self):
        """core.json of a crash in a model; the core and its package are this test's own, to be damaged."""
        if not options.examples or not (options.examples / "build.json").exists():
            self.skipTest("needs the examples: examples/build.py")
        return programs.example_core(options.examples, "index_1_33/cpp", self.folder / self._testMethodName)

    def wrapper_of(self, note):
        wrapper, = pathlib.Path(note["tmp"]).rglob("*.wrapper.so")
        return wrapper

    def run_lldb(self, commands, *arguments, **more):
        session = self.lldb.run(commands, *arguments, **more)
        self.assertTrue(session.ended_well(), f"status {session.status}\n{session.text}")
        return session

    def run_crash(self, before, after, *arguments, **more):
        session = self.lldb.crash(before, after, *arguments, **more)
        self.assertTrue(session.ended_well(), f"status {session.status}\n{session.text}")
        return session

    def assert_one_sentence(self, session, pattern):
        """Exactly one error of `aoti`, and it says what `pattern` wants."""
        errors = [line for line in session.text.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, session.text)
        self.assertRegex(errors[0], pattern)
        self.assertLess(len(errors[0]), 400)

    def report_of(self, run, before, *arguments, **more):
        """The report that `run` (run_lldb or run_crash) brings, and the session."""
        path = self.folder / f"{self._testMethodName}.json"
        command = f"aoti inspect --json --force --output {path}"
        if run == self.run_crash:
            session = run(before, [command], *arguments, **more)
        else:
            session = run([*before, command], *arguments, **more)
        self.assertTrue(path.exists(), session.text)
        return json.loads(path.read_text()), session

    # The command itself.

    def test_alone_prints_help(self):
        session = self.run_lldb(["aoti", "help aoti inspect", "aoti help"])
        for command in ("inspect", "models", "tensor", "doctor", "version"):
            self.assertRegex(session.answer("aoti"), rf"(?m)^ +{command} +-- ")
        self.assertIn("aoti inspect", session.answer("help aoti inspect"))
        self.assertNotIn("error:", session.text)

    def test_loaded_twice(self):
        session = self.run_lldb([f"plugin load {options.plugin}", "aoti version"])
        again = session.answer(f"plugin load {options.plugin}", 1).strip()
        self.assertRegex(again, r"^aotidbg \S+ is loaded already; .*$")
        self.assertIn("lldb", session.answer("aoti version"))

    def test_several_debuggers(self):
        session = self.run_lldb([
            "script other = lldb.SBDebugger.Create(); result = lldb.SBCommandReturnObject()",
            f"script other.GetCommandInterpreter().HandleCommand('plugin load {options.plugin}', result)",
            "script other.GetCommandInterpreter().HandleCommand('aoti version', result); print(result.GetOutput())",
            "script lldb.SBDebugger.Destroy(other)",
            "aoti version"])
        self.assertEqual(session.text.count(session.answer("aoti version").strip().splitlines()[0]), 2, session.text)

    # Nothing to look at.

    def test_no_target(self):
        self.assert_one_sentence(self.run_lldb(["aoti inspect"]), r"no target.*target create -c CORE")

    def test_not_started(self):
        session = self.run_lldb(["aoti inspect"], str(self.program(programs.FINE, "fine")))
        self.assert_one_sentence(session, r"no process: \S*/fine was not started.*`run`")

    def test_exited(self):
        session = self.run_lldb(["run", "aoti inspect"], str(self.program(programs.FINE, "fine")))
        self.assert_one_sentence(session, r"process \d+ has exited with status 3")

    def test_running(self):
        program = self.program("#include <unistd.h>\nint main(void) { for (;;) pause(); }\n", "waits")
        session = self.run_lldb(["script lldb.debugger.SetAsync(True)", "run",
                                 "script import time; time.sleep(2)",  # the launch itself stops once
                                 "aoti inspect"], str(program))
        self.assert_one_sentence(session, r"process \d+ is running.*process interrupt")

    # A process or a core without a model.

    def test_before_any_model(self):
        report, _ = self.report_of(self.run_lldb, ["breakpoint set -n main", "run"], str(self.program(programs.FINE, "fine")))
        self.assertEqual(report["models"], [])
        self.assertIn(report["verdict"]["code"], ("no_fault", "not_aoti"))
        self.assertEqual(report["target"]["kind"], "live")

    def test_core_without_a_model(self):
        core = programs.core_of(self.program(programs.NULL_READ, "null_read"), self.folder)
        report, _ = self.report_of(self.run_lldb, [], "-c", str(core))
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertEqual(report["target"]["files"], [core.name])
        self.assertEqual(report["models"], [])

    def test_forked_child(self):
        before = ["settings set target.process.follow-fork-mode child"]
        program = self.program(programs.FORKS, "forks")
        report, session = self.report_of(self.run_crash, before, str(program))
        child = int(re.findall(r"Process (\d+) stopped", session.text)[-1])
        self.assertEqual(report["target"]["pid"], child)
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertEqual(report["fault"]["signal"], "SIGSEGV")

    # Damaged cores.

    def test_truncated_core(self):
        # GDB writes the notes last: LLDB refuses what is left. The kernel writes them first: LLDB opens it.
        plain = programs.core_of(self.program(programs.NULL_READ, "null_read"), self.folder)
        model = pathlib.Path(self.model_core()["core"])
        said = r"(?i)cut short|truncated|ends (at|after|before)|no target"
        for whole, percent in ((plain, 90), (plain, 1), (model, 90), (model, 30), (model, 1)):
            core = self.folder / f"{whole.name}.cut{percent}"
            shutil.copy(whole, core)
            os.truncate(core, whole.stat().st_size * percent // 100)
            with self.subTest(core=whole.name, percent=percent):
                # Opened by a script, since a command that fails would end the batch.
                session = self.run_lldb([f"script lldb.debugger.HandleCommand('target create -c {core}')", "aoti inspect"])
                self.assertRegex(session.answer("aoti inspect"), said)
            core.unlink()

    def test_core_whose_wrapper_is_gone(self):
        note = self.model_core()
        shutil.rmtree(note["tmp"])
        report, _ = self.report_of(self.run_lldb, [], "-c", note["core"], note["executable"])
        self.assertTrue(any("wrapper.so" in json.dumps(unknown) for unknown in report["unknowns"]), report["unknowns"])
        self.assertNotEqual(report["verdict"]["code"], "no_fault")

    def test_core_that_was_deleted(self):
        core = programs.core_of(self.program(programs.NULL_READ, "null_read"), self.folder)
        report, _ = self.report_of(self.run_lldb, [f"script import os; os.unlink('{core}')"], "-c", str(core))
        self.assertEqual(report["models"], [])
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertTrue(any("LLDB's own calls" in json.dumps(unknown) for unknown in report["unknowns"]), report["unknowns"])

    def test_core_that_was_replaced(self):
        core = programs.core_of(self.program(programs.NULL_READ, "null_read"), self.folder)
        other = programs.core_of(self.program(programs.TWO_THREADS, "two_threads", "-pthread"), self.folder)
        report, _ = self.report_of(self.run_lldb, [f"script import os; os.rename('{other}', '{core}')"], "-c", str(core))
        self.assertRegex(report["target"]["executable"], "null_read$")
        self.assertEqual(report["verdict"]["code"], "not_aoti")
        self.assertTrue(any("another process" in json.dumps(unknown) for unknown in report["unknowns"]), report["unknowns"])

    def test_module_that_shrinks(self):
        note = self.model_core()
        wrapper = self.wrapper_of(note)
        for left in (wrapper.stat().st_size // 2, 4096, 100, 0):  # open at the second time
            with self.subTest(left=left):
                session = self.run_lldb(["aoti inspect", f"script import os; os.truncate('{wrapper}', {left})", "aoti inspect"],
                                        "-c", note["core"], note["executable"])
                self.assertTrue(session.answer("aoti inspect", 1).strip(), session.text)
                self.assertNotIn("error:", session.answer("aoti inspect", 1))

    # What the user chose.

    def test_several_targets(self):
        first = programs.core_of(self.program(programs.NULL_READ, "null_read"), self.folder)
        second = programs.core_of(self.program(programs.TWO_THREADS, "two_threads", "-pthread"), self.folder)
        session = self.run_lldb([f"target create -c {first}", f"target create -c {second}", "aoti inspect",
                                 "target select 0", "aoti inspect"])
        self.assertRegex(session.answer("aoti inspect", 0), r"^target \d of 2: \S*two_threads, process \d+\n")
        self.assertRegex(session.answer("aoti inspect", 1), r"^target \d of 2: \S*null_read, process \d+\n")

    def test_selected_thread(self):
        program = str(self.program(programs.TWO_THREADS, "two_threads", "-pthread"))
        mine = self.folder / "mine.json"
        other = self.folder / "other.json"
        session = self.run_crash([], [f"aoti inspect --json --output {mine}", "thread select 2",
                                      f"aoti inspect --json --output {other}"], program)
        left, right = (json.loads(path.read_text()) for path in (mine, other))
        self.assertEqual(left["fault"]["address"], "0x1234", session.text)
        self.assertEqual(left["fault"]["thread"], left["target"]["pid"])
        self.assertNotEqual((right["fault"] or {}).get("thread"), left["fault"]["thread"])

    def test_output_twice(self):
        core = programs.core_of(self.program(programs.NULL_READ, "null_read"), self.folder)
        path = self.folder / "once.txt"
        session = self.run_lldb([f"aoti inspect --output {path}", f"aoti inspect --output {path}"], "-c", str(core))
        self.assert_one_sentence(session, r"once\.txt.*--force")

    # The machine around it.

    def test_connects_nowhere(self):
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        note = self.model_core()
        shutil.rmtree(note["tmp"])  # a file to look for
        trace = self.folder / "network"
        # Nothing answers on port 9, and nobody may ask. LLDB's own look-ups are switched off: it would.
        self.run_lldb(["aoti inspect", "aoti doctor"], "-O", "settings set symbols.enable-external-lookup false",
                      "-c", note["core"], note["executable"], env={"DEBUGINFOD_URLS": "http://127.0.0.1:9"},
                      under=["strace", "-f", "-qq", "-e", "trace=network", "-o", str(trace)])
        self.assertNotRegex(trace.read_text(), r"connect\(.*AF_INET")

    def test_interrupted(self):
        if not shutil.which("strace"):
            self.skipTest("needs strace, which makes reading slow")
        note = self.model_core()
        session, seconds = self.lldb.interrupt(["aoti models", "aoti version"], "-c", note["core"], note["executable"], core=note["core"], begun=b"(lldb) aoti models")
        self.assertIn(session.status, (0, 1), session.text)
        self.assertRegex(session.text, r"(?i)interrupted|partial|you stopped")
        self.assertLess(seconds, 60, session.text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plugin")
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--examples", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of the debugger")
    case_runner.add_arguments(parser)
    return parser.parse_args()


def main():
    global options
    options = parse()
    there = options.plugin and driver.Lldb(options.lldb, options.plugin).exists()
    return case_runner.run(Robustness, options, None if there else f"{options.lldb} and the plugin")


if __name__ == "__main__":
    sys.exit(main())
