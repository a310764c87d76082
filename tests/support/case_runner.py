# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a file of cases: methods test_CASE of one unittest.TestCase, of which CTest runs each by its name."""
import unittest

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def add_arguments(parser):
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("cases", nargs="*")


def run(cases, options, missing=None):
    """The exit status: SKIPPED when every case was, or when `missing` says what none can do without."""
    names = [name.removeprefix("test_") for name in unittest.TestLoader().getTestCaseNames(cases)]
    if options.list:
        print("\n".join(names))
        return 0
    if missing:
        print(f"skipped: needs {missing}")
        return SKIPPED
    suite = unittest.TestSuite(cases(f"test_{name}") for name in options.cases or names)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    return SKIPPED if len(result.skipped) == result.testsRun else 0
