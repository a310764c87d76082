#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the end-to-end tests can fail, and say where."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))

import catalog  # noqa: E402
import match  # noqa: E402

REPORT = {"verdict": {"code": "no_fault", "confidence": "certain"}, "fault": None,
          "models": [{"pool": {"idle": 1}}, {"pool": {"idle": 0}}], "index": [8589934592, 0]}


def paths(wanted):
    return [path for path, _, _ in match.differences(wanted, REPORT)]


class Match(unittest.TestCase):
    def test_a_part_of_the_report_matches(self):
        self.assertEqual(paths({"verdict": {"code": "no_fault"}, "fault": None, "index": [8589934592, 0]}), [])

    def test_names_the_path_of_each_difference(self):
        self.assertEqual(paths({"verdict": {"code": "not_aoti", "confidence": "likely"}}),
                         ["verdict.code", "verdict.confidence"])

    def test_a_missing_key_is_not_null(self):
        self.assertEqual(paths({"kernel": None}), ["kernel"])

    def test_null_where_an_object_is_wanted(self):
        self.assertEqual(paths({"fault": {"signal": "SIGSEGV"}}), ["fault"])

    def test_an_expression_must_match_all_of_a_text_or_number(self):
        self.assertEqual(paths({"verdict": {"code": "re:no_.*"}, "index": ["re:[0-9]+", 0]}), [])
        self.assertEqual(paths({"verdict": {"code": "re:no"}}), ["verdict.code"])
        self.assertEqual(paths({"fault": "re:.*"}), ["fault"])

    def test_a_number_is_not_its_text_and_true_is_not_one(self):
        self.assertEqual(paths({"index": ["8589934592", 0]}), ["index[0]"])
        self.assertEqual(match.differences(1, True), [("", 1, True)])

    def test_lists_by_length_and_by_member(self):
        self.assertEqual(paths({"models": {"list:length": 2, "list:contains": [{"pool": {"idle": 0}}]}}), [])
        self.assertEqual(paths({"models": {"list:length": 1}}), ["length of models"])
        self.assertEqual(paths({"models": {"list:at_least": 3}}), ["length of models"])
        self.assertEqual(paths({"models": {"list:contains": [{"pool": {"idle": 7}}]}}), ["models[0].pool.idle"])
        self.assertEqual(paths({"models": [{}]}), ["models"])
        self.assertEqual(paths({"fault": {"list:contains": [{}]}}), ["fault"])


class Catalog(unittest.TestCase):
    def test_a_variant_is_merged_over_its_example(self):
        below = {"a": {"x": 1, "y": 2}, "list": [{"p": 1}], "other": [1, 2]}
        above = {"a": {"y": 3}, "list": [{"q": 2}], "other": [3]}
        self.assertEqual(catalog.merge(below, above),
                         {"a": {"x": 1, "y": 3}, "list": [{"p": 1, "q": 2}], "other": [3]})

    def test_every_example_says_what_must_be_found(self):
        for variant in catalog.variants():
            with self.subTest(variant.full_name):
                for mode in ("core", "live"):
                    self.assertIn("code", variant.wanted(mode).get("verdict", {}))

    def test_every_example_has_its_program_and_its_model(self):
        for variant in catalog.variants():
            with self.subTest(variant.full_name):
                script = {"cpp": "main.cpp", "python": "main.py"}[variant.program]
                self.assertTrue((catalog.SOURCE / variant.example / script).is_file())
                self.assertTrue((catalog.SOURCE / variant.example / "model.py").is_file())


if __name__ == "__main__":
    unittest.main()
