#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that each rule of this folder can fail: every test writes a small tree or module that breaks it."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CXX = os.environ.get("CXX", "c++")
ENTRY = "_ZN4lldb16PluginInitializeENS_10SBDebuggerE"
LICENCE = "// SPDX-License-Identifier: BSD-3-Clause\n"


def run(script, *arguments):
    done = subprocess.run([sys.executable, HERE / script, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def breaks(self, script, *expected):
        status, output = run(script, self.tree)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)
        self.assertEqual(len(output.splitlines()), len(expected), output)

    def keeps(self, script):
        status, output = run(script, self.tree)
        self.assertEqual(status, 0, output)


class IncludeRule(TreeTest):
    script = "include_rule.py"

    def test_an_arrow_backwards_is_named_with_its_line(self):
        self.write("common/target/a.cpp", LICENCE + '#include <vector>\n#include "common/crash/fault.h"\n')
        self.breaks(self.script, 'common/target/a.cpp:3: common/target may not include "common/crash/fault.h"')

    def test_every_arrow_of_the_house_is_allowed(self):
        self.write("common/elf/a.cpp", '#include "common/target/t.h"\n#include "common/arch/x.h"\n#include "common/elf/s.h"\n')
        self.write("common/crash/a.cpp", '#include "common/report/report.h"\n#include "common/torch/t.h"\n')
        self.write("lldb_plugin/a.cpp", '#include <lldb/API/LLDB.h>\n#include "common/commands/c.h"\n')
        self.write("tests/unit/a.cpp", '#include <gtest/gtest.h>\n#include "common/crash/c.h"\n')
        self.keeps(self.script)

    def test_a_stage_fills_a_report_and_does_not_render_it(self):
        self.write("common/crash/a.cpp", '#include "common/report/text.h"\n')
        self.breaks(self.script, "common/crash/a.cpp:1: common/crash may not include")

    def test_a_renderer_knows_no_target(self):
        self.write("common/report/a.h", '#include "common/target/target.h"\n')
        self.breaks(self.script, "common/report/a.h:1: common/report may not include")

    def test_debugger_headers_stay_with_their_host(self):
        self.write("common/commands/a.cpp", '#include <lldb/API/LLDB.h>\n')
        self.write("cli/a.cpp", '#include "lldb/API/SBTarget.h"\n')
        self.write("lldb_plugin/a.cpp", '#  include <Python.h>\n')
        self.breaks(self.script, "common/commands/a.cpp:1: ", 'cli/a.cpp:1: ', "lldb_plugin/a.cpp:1: ")

    def test_a_host_does_not_reach_past_the_commands(self):
        self.write("lldb_plugin/a.cpp", '#include "common/torch/tensor.h"\n')
        self.breaks(self.script, "lldb_plugin may not include")

    def test_an_include_is_written_from_the_root(self):
        self.write("common/elf/a.cpp", '#include "symbols.h"\n')
        self.breaks(self.script, "does not start at the root")

    def test_foreign_headers_stay_in_one_place(self):
        self.write("common/crash/a.cpp", "#include <Zydis/Zydis.h>\n#include <ATen/Tensor.h>\n#include <regex>\n")
        self.breaks(self.script, "a.cpp:1: ", "a.cpp:2: ", "a.cpp:3: ")

    def test_a_folder_without_a_rule_is_refused(self):
        self.write("common/magic/a.cpp", "#include <vector>\n")
        self.breaks(self.script, "common/magic is not among the folders")

    def test_an_empty_tree_proves_nothing(self):
        self.breaks(self.script, "holds no source at all")


class TreeRule(TreeTest):
    script = "tree_rule.py"

    def test_a_path_of_a_machine(self):
        self.write("docs/a.md", "fine: /usr/lib, /proc/PID/root/usr, ~/work/x\nbad: see /" + "home/ann/x\n")
        self.write("b.json", '{"file": "/' + 'work/tree/a.cpp"}\n')
        self.breaks(self.script, "docs/a.md:2: a path", "b.json:1: a path")

    def test_a_path_inside_a_compressed_fixture(self):
        import gzip
        self.write("tests/data/core.gz", gzip.compress(b"\0\0PWD=/" + b"root/secret\0"))
        self.breaks(self.script, "tests/data/core.gz:1: a path")

    def test_a_secret(self):
        self.write("a.txt", "-----BEGIN RSA PRIVATE" + " KEY-----\nhttps://ann:pa" + "ss@example.org/\n")
        self.breaks(self.script, "a.txt:1: what looks", "a.txt:2: what looks")

    def test_a_source_without_its_licence(self):
        self.write("a.cpp", "int x;\n")
        self.write("b.cpp", LICENCE)
        self.breaks(self.script, "a.cpp:1: the first lines lack")


class Exports(unittest.TestCase):
    entry = "namespace lldb { class SBDebugger { void* p; public: SBDebugger(const SBDebugger&); ~SBDebugger(); };\n" \
            "__attribute__((visibility(\"default\"))) bool PluginInitialize(SBDebugger d) { return sizeof(d) != 0; } }\n"

    def module(self, source, *options):
        """Exit status and output of the rule on a module that is compiled from `source`."""
        with tempfile.TemporaryDirectory() as folder:
            code, module, script = Path(folder) / "a.cpp", Path(folder) / "a.so", Path(folder) / "a.map"
            code.write_text(source)
            script.write_text("{ global: " + ENTRY + "; local: *; };")
            options = [str(script).join(option.split("MAP")) for option in options]
            subprocess.run([CXX, "-shared", "-fPIC", "-fvisibility=hidden", "-o", module, code, *options], check=True)
            status, output = run("exports.py", module, ENTRY, "--undefined", "_ZN4lldb")
        return status, output

    good = ("-static-libstdc++", "-static-libgcc", "-Wl,-u,__cxa_pure_virtual", "-Wl,--version-script=MAP")
    uses_strings = "#include <string>\n#include <vector>\n" \
        "struct Base { virtual ~Base() = default; virtual int g() = 0; };\n" \
        "struct Derived : Base { int g() override { return 1; } };\n" \
        "std::string f(int i) { std::vector<std::string> v; v.push_back(std::to_string(i)); return v.at(0); }\n"

    def test_a_sealed_module_passes(self):
        status, output = self.module(self.uses_strings + self.entry.replace("sizeof(d) != 0", "f(Derived().g()).empty()"), *self.good)
        self.assertEqual(status, 0, output)

    def test_a_shared_runtime_is_seen(self):
        status, output = self.module(self.uses_strings + self.entry.replace("sizeof(d) != 0", "f(1).empty()"),
                                     "-Wl,--version-script=MAP")
        self.assertEqual(status, 1)
        self.assertIn("needs libstdc++.so.6", output)
        self.assertIn("from a C++ runtime that is not its own", output)

    def test_a_second_export_is_seen(self):
        status, output = self.module(self.entry + 'extern "C" __attribute__((visibility("default"))) int more() { return 1; }\n')
        self.assertEqual(status, 1)
        self.assertIn("exports more", output)

    def test_a_leaking_static_runtime_is_seen(self):
        status, output = self.module(self.uses_strings + self.entry.replace("sizeof(d) != 0", "f(1).empty()"),
                                     "-static-libstdc++", "-static-libgcc")
        self.assertEqual(status, 1)
        self.assertIn("exports _Z", output)

    def test_a_missing_entry_point_is_seen(self):
        status, output = self.module("int x;\n", *self.good)
        self.assertEqual(status, 1)
        self.assertIn("does not export " + ENTRY, output)


if __name__ == "__main__":
    unittest.main()
