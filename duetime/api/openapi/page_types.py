"""HTML of schemas: the type of a value, its limits, and the fields of an object."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

Schema = Mapping[str, Any]

REQUIRED = '<span class="mark required">required</span>'

_PLAIN = {"integer": "whole number", "boolean": "true or false", "null": "null"}


def code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def prose(text: str) -> str:
    """Escapes a text, and makes what is in backticks code."""
    parts = text.split("`")
    return "".join(code(part) if n % 2 else escape(part) for n, part in enumerate(parts))


def schema_link(name: str) -> str:
    return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'


def type_of(schema: Schema) -> str:
    """Returns the type of a value in words, with links to the schemas that it names."""
    if "$ref" in schema:
        return schema_link(schema["$ref"].rpartition("/")[2])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(type_of(option) for option in schema[several]))
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(str(option)) for option in schema["enum"])
    return _structure(schema)


def _structure(schema: Schema) -> str:
    match schema.get("type"):
        case "array":
            return f"list of {type_of(schema.get('items', {}))}"
        case "object":
            if fields := schema.get("properties"):
                return f"object with {', '.join(map(code, fields))}"
            values = schema.get("additionalProperties")
            return f"object of {type_of(values)}" if isinstance(values, dict) else "object"
        case "string":
            return {"date-time": "time", "uri": "URL"}.get(schema.get("format", ""), "text")
        case None:
            return "any JSON"
        case kind:
            return _PLAIN.get(kind, str(kind))


def limits_of(schema: Schema) -> str:
    """Returns the limits of a value and its default, as one line."""
    options = [schema, *schema.get("anyOf", [])]
    limits = [limit for option in options for limit in _limits(option)]
    if "default" in schema and schema["default"] not in ([], {}):
        limits.append(f"default {code(_shown(schema['default']))}")
    return f'<span class="limit">{"; ".join(limits)}</span>' if limits else ""


def _limits(schema: Schema) -> Iterator[str]:
    if span := _span(schema, "minimum", "maximum"):
        yield span
    if span := _span(schema, "minLength", "maxLength"):
        yield f"{span} characters"
    if span := _span(schema, "minItems", "maxItems") or _span(schema, "", "maxProperties"):
        yield f"{span} entries"
    if "pattern" in schema and "A-Za-z0-9._:" in schema["pattern"]:
        yield f"letters, digits and {code('._:-')}"


def _span(schema: Schema, low: str, high: str) -> str:
    match schema.get(low), schema.get(high):
        case None, None:
            return ""
        case least, None:
            return f"at least {_number(least)}"
        case None, most:
            return f"up to {_number(most)}"
        case least, most:
            return f"{_number(least)} to {_number(most)}"
    return ""


def _number(number: float | None) -> str:
    return f"{number:,}"


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return value if isinstance(value, str) else json.dumps(value)


def fields_table(schema: Schema, *, answered: bool = False) -> str:
    """Returns the fields of an object as a table, or a line if it has none. Most fields of an
    answer are always there and most of a request may be left out: the others get a mark."""
    required = schema.get("required", [])
    rows = [
        (name, _mark(name in required, answered=answered), field)
        for name, field in schema.get("properties", {}).items()
    ]
    return values_table("field", rows) if rows else '<p class="quiet">No fields.</p>'


def _mark(required: bool, *, answered: bool) -> str:
    if answered:
        return "" if required else '<span class="mark">if any</span>'
    return REQUIRED if required else ""


def values_table(heading: str, rows: Sequence[tuple[str, str, Schema]]) -> str:
    """Each row has a name, a mark behind it, and a schema with a description."""
    return table((heading, "type", "meaning"), (_value_row(*row) for row in rows))


def _value_row(name: str, mark: str, schema: Schema) -> str:
    kind = f"{type_of(schema)}{limits_of(schema)}"
    return row(f"{code(name)}{mark}", kind, prose(schema.get("description", "")))


def row(name: str, kind: str, meaning: str, mark: str = "") -> str:
    """Returns a row of three cells that are HTML; `mark` is its id."""
    named = f' id="{mark}"' if mark else ""
    return (
        f'<tr{named}><th scope="row">{name}</th><td class="type">{kind}</td><td>{meaning}</td></tr>'
    )


def table(headings: Iterable[str], rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
