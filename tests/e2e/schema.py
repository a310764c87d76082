# SPDX-License-Identifier: BSD-3-Clause
"""Checks a report against docs/report.schema.json.

With the `jsonschema` package where it is installed; else with the keywords below, which are those
that the schema uses. A keyword that is not known here is an error, not a pass.
"""
import json
import re

KNOWN = {"$schema", "$id", "$defs", "$ref", "$comment", "title", "description", "default", "examples", "type", "enum",
         "const", "required", "properties", "additionalProperties", "items", "minItems", "maxItems", "pattern",
         "minimum", "maximum", "minLength", "anyOf", "oneOf", "allOf", "format"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def errors(document, schema_path):
    """Sentences, none when the document is valid."""
    schema = json.loads(schema_path.read_text())
    try:
        import jsonschema
    except ImportError:
        return list(_check(document, schema, schema, "report"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def _check(value, schema, root, path):
    if schema is True or schema == {}:
        return
    if schema is False:
        yield f"{path}: not allowed"
        return
    unknown = schema.keys() - KNOWN
    if unknown:
        yield f"{path}: the schema uses {sorted(unknown)}, which this check does not know; teach it, or install jsonschema"
    if "$ref" in schema:
        yield from _check(value, _resolve(schema["$ref"], root), root, path)
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is(value, name) for name in names):
            yield f"{path}: wanted {' or '.join(names)}, got {type(value).__name__} {str(value)[:80]!r}"
            return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    for word, wanted in (("anyOf", "at least one"), ("oneOf", "exactly one")):
        if word in schema:
            fitting = sum(not list(_check(value, choice, root, path)) for choice in schema[word])
            if fitting == 0 or (word == "oneOf" and fitting != 1):
                yield f"{path}: fits {fitting} of {len(schema[word])} choices, wanted {wanted}"
    for part in schema.get("allOf", []):
        yield from _check(value, part, root, path)
    if isinstance(value, dict):
        yield from _object(value, schema, root, path)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0) or len(value) > schema.get("maxItems", len(value)):
            yield f"{path}: {len(value)} items"
        for i, item in enumerate(value if "items" in schema else []):
            yield from _check(item, schema["items"], root, f"{path}[{i}]")
    elif isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{path}: {value!r} does not match {schema['pattern']}"
        if len(value) < schema.get("minLength", 0):
            yield f"{path}: too short"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            yield f"{path}: {value} is out of range"


def _object(value, schema, root, path):
    for key in schema.get("required", []):
        if key not in value:
            yield f"{path}: '{key}' is missing"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, item in value.items():
        yield from _check(item, properties.get(key, others), root, f"{path}.{key}")


def _is(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def _resolve(reference, root):
    found = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found[part] if part else found
    return found
