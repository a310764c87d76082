# SPDX-License-Identifier: BSD-3-Clause
"""The validator refuses what is wrong, and the published schema says what the contract says."""

import copy
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from json_schema import SchemaError, Validator  # noqa: E402

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
REPORT = {
    "schema": "aotidbg.report/1",
    "tool": {"version": "0.1.0", "host": "lldb 19.1.7"},
    "target": {"kind": "core", "executable": "run2", "pid": 3863, "files": ["core2"],
               "libtorch": {"version": "2.13.0", "layout": "2.13", "how": "found", "evidence": ["torch/version.py"]}},
    "verdict": {"code": "index_out_of_bounds", "confidence": "likely", "text": "t", "evidence": ["e"], "next": ["n"]},
    "fault": {"signal": "SIGSEGV", "code": "SEGV_MAPERR", "address": "0x8028", "access": "read", "pc": "0x7f99",
              "thread": 3863, "instruction": "vmovups zmm1, [rsi+rax*4]",
              "owner": {"kind": "constant", "name": "emb_weight", "fqn": "emb.weight", "relation": "past_end",
                        "bytes": 2199023255552, "index": [8589934592, 0]}},
    "kernel": {"name": "k", "kind": "cpp", "device": "cpu", "location": {"file": "a.cpp", "line": 24},
               "call_site": {"file": "b.cpp", "line": 930},
               "arguments": [{"parameter": "in_ptr1", "type": "const float*", "value": "0x5626",
                              "tensor": {"kind": "constant", "name": "emb_weight", "fqn": "emb.weight"}}],
               "source_nodes": ["embedding"], "aten": ["aten.embedding"]},
    "inputs": [{"name": "arg3_1", "position": 0,
                "expected": {"dtype": "int64", "shape": ["2..1024"], "stride": ["1"], "device": "cpu"},
                "actual": {"dtype": "int64", "shape": [8], "stride": [1], "device": "cpu", "data": "0x5626",
                           "residency": "host"},
                "mismatches": []}],
    "models": [{"container": "0x5626", "runner": "0x5626", "wrapper": "w.so", "package": "m2", "build_id": "ab",
                "compiled_for": "cpu", "loaded_on": "cpu", "layout": "2.13", "layout_how": "found", "evidence": [],
                "pool": {"size": 1, "running": 1, "idle": 0, "pending": 0},
                "constant_buffer": {"active": 0, "fold_state": "folded", "bytes": 264320},
                "constants": [{"name": "emb_weight", "fqn": "emb.weight", "dtype": "float32", "shape": [1000, 64],
                               "stride": [64, 1], "bytes": 256000, "declared_device": "cpu", "residency": "host",
                               "where": "heap", "data": "0x5626", "kind": "parameter", "state": "ready",
                               "mismatches": []}]}],
    "threads": [{"id": 3863, "role": "faulting",
                 "frames": [{"pc": "0x7f99", "function": "k", "module": "w.so", "file": "a.cpp", "line": 24,
                             "inlined": False, "how": "cfi"}]}],
    "gpu": {"device": 0, "exception": "Warp Illegal Address", "error_pc": "0x7fe8"},
    "unknowns": [{"what": "a", "why": "b", "fix": "c"}],
}


def changed(path, value):
    """The report with one value replaced; `...` removes the key."""
    report = copy.deepcopy(REPORT)
    place = report
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return report


class ReportSchema(unittest.TestCase):
    def errors(self, report):
        return Validator(SCHEMA).errors(report)

    def test_accepts_the_report_of_the_contract(self):
        self.assertEqual(self.errors(REPORT), [])

    def test_accepts_unknown_as_null_and_keys_that_were_added(self):
        for path in (["fault"], ["kernel"], ["gpu"], ["fault", "owner"], ["kernel", "arguments"],
                     ["inputs", 0, "expected"], ["models", 0, "pool"], ["target", "pid"]):
            self.assertEqual(self.errors(changed(path, None)), [], path)
        self.assertEqual(self.errors(changed(["models", 0, "added"], {"x": 1})), [])

    def test_accepts_decimal_strings_for_counts_that_a_double_cannot_hold(self):
        self.assertEqual(self.errors(changed(["fault", "owner", "bytes"], "9223372036854775807")), [])
        self.assertEqual(self.errors(changed(["fault", "owner", "index"], ["-9223372036854775808", 0])), [])

    def test_refuses_each_wrong_value_and_names_its_place(self):
        wrong = [
            (["schema"], "aotidbg.report/2"), (["verdict", "code"], "segfault"), (["verdict", "code"], None),
            (["verdict", "confidence"], "sure"), (["fault", "address"], "8028"), (["fault", "address"], 32808),
            (["fault", "address"], "0xABC"), (["fault", "owner", "relation"], "after"),
            (["fault", "owner", "bytes"], "12 bytes"), (["fault", "owner", "bytes"], 1.5),
            (["kernel", "kind"], "cuda"), (["inputs", 0, "actual", "residency"], "gpu"),
            (["inputs", 0, "actual", "shape"], ["8"]), (["inputs", 0, "position"], True),
            (["models", 0, "constants", 0, "state"], "ok"), (["models", 0, "layout_how"], "guessed"),
            (["threads", 0, "role"], "main"), (["threads", 0, "frames", 0, "how"], "magic"),
            (["threads", 0, "frames", 0, "inlined"], None), (["target", "kind"], "process"),
            (["gpu"], "none"), (["unknowns"], None), (["verdict", "evidence"], "e"),
        ]
        for path, value in wrong:
            errors = self.errors(changed(path, value))
            self.assertEqual(len(errors), 1, (path, value, errors))
            self.assertIn(str(path[-1]), errors[0])

    def test_refuses_each_missing_key(self):
        def keys(value, path):
            if isinstance(value, dict):
                for key in value:
                    if path[:1] != ["gpu"]:
                        yield path + [key]
                    yield from keys(value[key], path + [key])
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    yield from keys(item, path + [i])

        paths = list(keys(REPORT, []))
        self.assertGreater(len(paths), 90)
        for path in paths:
            if path[0] == "gpu" and len(path) > 1:
                continue
            self.assertEqual(len(self.errors(changed(path, ...))), 1, path)

    def test_a_part_matches_the_definition_of_an_answer_and_not_that_of_a_report(self):
        part = {key: REPORT[key] for key in ("schema", "tool", "target", "models")}
        self.assertEqual(Validator(SCHEMA, "answer").errors(part), [])
        self.assertNotEqual(Validator(SCHEMA).errors(part), [])


class Keywords(unittest.TestCase):
    def test_refuses_a_schema_with_keywords_that_it_would_not_check(self):
        with self.assertRaisesRegex(SchemaError, "minimum"):
            Validator({"properties": {"a": {"minimum": 1}}})
        with self.assertRaisesRegex(SchemaError, "is not there"):
            Validator({"$ref": "#/$defs/missing"})
        with self.assertRaisesRegex(SchemaError, "is not there"):
            Validator({"$defs": {}}, "missing")

    def test_true_is_not_one(self):
        self.assertNotEqual(Validator({"type": "integer"}).errors(True), [])
        self.assertNotEqual(Validator({"enum": [1]}).errors(True), [])
        self.assertNotEqual(Validator({"const": 0}).errors(False), [])

    def test_one_of_wants_exactly_one(self):
        validator = Validator({"oneOf": [{"type": "integer"}, {"type": "number"}]})
        self.assertEqual(validator.errors(1.5), [])
        self.assertNotEqual(validator.errors(1), [])
        self.assertNotEqual(validator.errors("1"), [])

    def test_an_alternative_that_nearly_fits_says_what_is_wrong_in_it(self):
        validator = Validator({"anyOf": [{"type": "null"},
                                         {"type": "object", "properties": {"a": {"type": "string"}}}]})
        self.assertEqual(validator.errors({"a": 1}), ["$.a: 1 is not of type string"])


if __name__ == "__main__":
    unittest.main()
