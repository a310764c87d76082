#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The bundle of tools/bundle.py needs nothing but itself and glibc.

    tests/e2e/bundle_test.py --build build --examples build/examples [--gdb gdb] [CASE...]

GDB has loaded libraries that were copied into the bundle, under their usual names: the module must be bound to its own.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]

import bundle  # noqa: E402
import case_runner  # noqa: E402
import programs  # noqa: E402

options = None


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="aotidbg-bundle-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name).resolve() / "aotidbg"
        cls.made = subprocess.run([sys.executable, ROOT / "tools" / "bundle.py", "--build", options.build, "--out", cls.folder],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
        cls.binaries = [path for path in cls.folder.iterdir() if path.is_file() and path.suffix != ".py"]

    def test_every_library_is_its_own_or_glibcs(self):
        self.assertGreater(len(self.binaries), 5)
        for binary in self.binaries:
            for soname, path in bundle.resolved(binary).items():
                if not bundle.SYSTEM.match(soname):
                    self.assertEqual(path.parent, self.folder, f"{binary.name} gets {soname} from {path}")
                    self.assertTrue(soname.startswith("libaotidbg-"), soname)
            self.assertNotIn("not found", bundle.output("ldd", str(binary)))

    def test_tells_the_glibc_that_it_needs_and_keeps_licences(self):
        self.assertRegex(self.made, r"glibc 2\.\d+ or newer")
        for name in ("aotidbg", "libdw1", "libelf1"):
            self.assertTrue((self.folder / "licences" / name).stat().st_size, name)

    def test_nothing_is_overwritten(self):
        again = subprocess.run([sys.executable, ROOT / "tools" / "bundle.py", "--build", options.build, "--out", self.folder],
                               capture_output=True, text=True)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists already", again.stderr)

    def test_the_module_is_bound_to_its_own_libdw_inside_gdb(self):
        core = programs.example_core(options.examples, "index_1_33/cpp", options.examples / "cores")["core"]
        done = subprocess.run([options.gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-c", core,
                               "-ex", f"source {self.folder}/aotidbg.py", "-ex", "aoti fault"],
                              env={**os.environ, "LD_DEBUG": "bindings"}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertIn("SIGSEGV", done.stdout)
        bound = re.findall(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `((?:dwarf|elf|gelf)_\w+)'", done.stderr)
        ours = [each for each in bound if each[0].startswith(f"{self.folder}/")]
        self.assertGreater(len(ours), 10, "the loader did not tell what it did")
        for user, library, symbol in ours:
            self.assertTrue(library.startswith(f"{self.folder}/"), f"{user} got {symbol} from {library}")

    def test_all_hosts_give_one_answer(self):
        done = subprocess.run([sys.executable, HERE / "parity.py", "--lldb", options.lldb, "--gdb", options.gdb,
                               "--lldb-plugin", self.folder / "aotidbg_lldb.so", "--gdb-script", self.folder / "aotidbg.py",
                               "--cli", self.folder / "aotidbg", "--examples", options.examples, "--one", "index_1_33/cpp"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--examples", required=True, type=pathlib.Path, help="what examples/build.py wrote")
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--lldb", default="lldb-19")
    case_runner.add_arguments(parser)
    options = parser.parse_args()
    return case_runner.run(Bundle, options)


if __name__ == "__main__":
    sys.exit(main())
