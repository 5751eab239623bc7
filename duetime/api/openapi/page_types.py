"""HTML of schemas: the type of a value, its limits, and the fields of an object."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

Schema = Mapping[str, Any]

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


def fields_table(schema: Schema) -> str:
    """Returns the fields of an object as a table, or a line if it has none."""
    required = schema.get("required", [])
    rows = [(name, name in required, field) for name, field in schema.get("properties", {}).items()]
    if not rows:
        return '<p class="quiet">No fields.</p>'
    return values_table("field", rows)


def values_table(heading: str, rows: Sequence[tuple[str, bool, Schema]]) -> str:
    """Each row has a name, whether it is required, and a schema with a description."""
    shown = "".join(_row(*row) for row in rows)
    heads = "".join(f'<th scope="col">{head}</th>' for head in (heading, "type", "meaning"))
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{shown}</tbody></table></div>"
    )


def _row(name: str, required: bool, schema: Schema) -> str:
    mark = '<span class="required">required</span>' if required else ""
    return (
        f'<tr><th scope="row">{code(name)}{mark}</th>'
        f'<td class="type">{type_of(schema)}{limits_of(schema)}</td>'
        f"<td>{prose(schema.get('description', ''))}</td></tr>"
    )
