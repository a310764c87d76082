# SPDX-License-Identifier: BSD-3-Clause
"""A JSON Schema (draft 2020-12) validator for the keywords that docs/report.schema.json uses.

A schema that uses any other keyword is refused, so that nothing is silently left unchecked.

    python3 tests/support/json_schema.py docs/report.schema.json [--definition answer] FILE...
"""

import argparse
import json
import re
import sys

ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}
CHECKED = {"$ref", "anyOf", "const", "enum", "items", "oneOf", "pattern", "properties", "required", "type"}


class SchemaError(Exception):
    """The schema itself cannot be used."""


def is_of_type(value, name):
    if name == "null":
        return value is None
    if name == "boolean":
        return isinstance(value, bool)
    if name == "integer":
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return is_whole and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    classes = {"string": str, "array": list, "object": dict}
    if name not in classes:
        raise SchemaError(f"no such type: {name}")
    return isinstance(value, classes[name])


def same(left, right):
    """Equality as JSON has it: true is not 1."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def shown(value):
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Validator:
    def __init__(self, schema, definition=None):
        self.root = schema
        self.start = {"$ref": f"#/$defs/{definition}"} if definition else schema
        self.check_keywords(schema, "#")
        if definition:
            self.resolve(self.start["$ref"])

    def check_keywords(self, schema, where):
        if not isinstance(schema, dict):
            raise SchemaError(f"{where}: a schema is an object here")
        unknown = set(schema) - ANNOTATIONS - CHECKED
        if unknown:
            raise SchemaError(f"{where}: this validator does not know {', '.join(sorted(unknown))}")
        for keyword in ("$defs", "properties"):
            for name, part in schema.get(keyword, {}).items():
                self.check_keywords(part, f"{where}/{keyword}/{name}")
        if "items" in schema:
            self.check_keywords(schema["items"], f"{where}/items")
        for keyword in ("anyOf", "oneOf"):
            for i, part in enumerate(schema.get(keyword, [])):
                self.check_keywords(part, f"{where}/{keyword}/{i}")
        if "$ref" in schema:
            self.resolve(schema["$ref"])

    def resolve(self, reference):
        if not reference.startswith("#/"):
            raise SchemaError(f"only references inside the document are followed, not {reference}")
        found = self.root
        for part in reference[2:].split("/"):
            try:
                found = found[part.replace("~1", "/").replace("~0", "~")]
            except (KeyError, TypeError):
                raise SchemaError(f"{reference} is not there") from None
        return found

    def errors(self, value):
        """One line for each thing that is wrong; none when the document is valid."""
        return list(dict.fromkeys(self.check(value, self.start, "$")))

    def check(self, value, schema, where):
        if "$ref" in schema:
            yield from self.check(value, self.resolve(schema["$ref"]), where)
        if "type" in schema:
            names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            if not any(is_of_type(value, name) for name in names):
                yield f"{where}: {shown(value)} is not of type {' or '.join(names)}"
                return
        if "const" in schema and not same(value, schema["const"]):
            yield f"{where}: {shown(value)} is not {shown(schema['const'])}"
        if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
            yield f"{where}: {shown(value)} is none of {', '.join(shown(one) for one in schema['enum'])}"
        if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
            yield f"{where}: {shown(value)} does not match {schema['pattern']}"
        yield from self.check_choice(value, schema, where)
        if isinstance(value, dict):
            for key in schema.get("required", []):
                if key not in value:
                    yield f"{where}: the key {key} is missing"
            for key, part in schema.get("properties", {}).items():
                if key in value:
                    yield from self.check(value[key], part, f"{where}.{key}")
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                yield from self.check(item, schema["items"], f"{where}[{i}]")

    def check_choice(self, value, schema, where):
        for keyword in ("anyOf", "oneOf"):
            if keyword not in schema:
                continue
            found = [list(self.check(value, part, where)) for part in schema[keyword]]
            valid = sum(not errors for errors in found)
            if valid == 0:
                # What is wrong with the alternative that came closest to fitting: the one whose
                # complaints lie deepest in the document.
                closest = max(found, key=lambda errors: max(len(line.split(": ")[0]) for line in errors))
                yield from closest
            elif keyword == "oneOf" and valid > 1:
                yield f"{where}: {shown(value)} fits {valid} alternatives, not one"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("schema")
    parser.add_argument("documents", nargs="+")
    parser.add_argument("--definition", help="validate against #/$defs/NAME")
    arguments = parser.parse_args()
    with open(arguments.schema, encoding="utf-8") as file:
        validator = Validator(json.load(file), arguments.definition)
    failed = False
    for path in arguments.documents:
        with open(path, encoding="utf-8") as file:
            errors = validator.errors(json.load(file))
        for line in errors:
            print(f"{path}: {line}")
        failed = failed or bool(errors)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
