# SPDX-License-Identifier: BSD-3-Clause
"""Compares a report with the part of it that answer.json wants.

An object wants its keys, and each value in turn; other keys may be there. A list wants the same
length and each item in its place. In place of a list an object may stand, with any of
    {"list:length": 2, "list:at_least": 200, "list:contains": [item, ...]}
where each item of list:contains must match some element. A string "re:EXPRESSION" wants a string or
number that the whole expression matches. Anything else wants an equal value of the same type; null
wants null, never a missing key.
"""
import re

MISSING = object()
LIST_KEYS = {"list:length", "list:at_least", "list:contains"}


def differences(wanted, got, path=""):
    """One (path, wanted, got) for each place where the report is not what was wanted."""
    if isinstance(wanted, dict) and wanted and wanted.keys() <= LIST_KEYS:
        return _list_differences(wanted, got, path)
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [(path, wanted, got)]
        return [difference for key, value in wanted.items()
                for difference in differences(value, got.get(key, MISSING), f"{path}.{key}".lstrip("."))]
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return [(path, wanted, got)]
        return [difference for i, value in enumerate(wanted)
                for difference in differences(value, got[i], f"{path}[{i}]")]
    if isinstance(wanted, str) and wanted.startswith("re:"):
        fits = _is_text_or_number(got) and re.fullmatch(wanted[3:], str(got), re.DOTALL)
        return [] if fits else [(path, wanted, got)]
    same = type(wanted) is type(got) and wanted == got
    return [] if same else [(path, wanted, got)]


def _list_differences(wanted, got, path):
    if not isinstance(got, list):
        return [(path, wanted, got)]
    found = []
    if "list:length" in wanted and len(got) != wanted["list:length"]:
        found.append((f"length of {path}", wanted["list:length"], len(got)))
    if len(got) < wanted.get("list:at_least", 0):
        found.append((f"length of {path}", f"at least {wanted['list:at_least']}", len(got)))
    for item in wanted.get("list:contains", []):
        each = [differences(item, element, f"{path}[{i}]") for i, element in enumerate(got)]
        if all(each):  # no element without differences: tell those of the nearest
            found += min(each, key=len) if each else [(path, item, "an empty list")]
    return found


def _is_text_or_number(value):
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def readable(difference):
    """Three lines: where, what was wanted, what came."""
    path, wanted, got = difference
    return f"  at {path or 'the report itself'}\n    wanted {_short(wanted)}\n    got    {_short(got)}"


def _short(value):
    if value is MISSING:
        return "nothing: no such key"
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text)} characters)"
