"""Renders the document as one page of HTML that needs nothing else: no script, no other file."""

import json
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from duetime.api.openapi.page_types import (
    REQUIRED,
    code,
    fields_table,
    prose,
    row,
    schema_link,
    table,
    type_of,
    values_table,
)

STYLE_FILE = Path(__file__).with_name("style.css")
SERVER = "http://127.0.0.1:8080"

STATUSES = ("status", "body", "meaning")  # the columns of a table of answers

Part = Mapping[str, Any]


def render(document: Part) -> str:
    info = document["info"]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(info["title"])} API</title>
<style>{STYLE_FILE.read_text()}</style>
</head>
<body>
{_contents(document)}
<main id="main">
<h1>{escape(info["title"])} API</h1>
{_paragraphs(info["description"])}
<p class="quiet">Version {escape(info["version"])}. The same as an OpenAPI 3.1 document:
<a href="v1/openapi.json">/v1/openapi.json</a></p>
{"".join(_group(document, tag) for tag in document["tags"])}
{_problems(document)}
{_schemas(document)}
</main>
</body>
</html>
"""


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{prose(part)}</p>" for part in text.split("\n\n") if part)


def _operations(document: Part, tag: str) -> Iterator[tuple[str, str, Part]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                yield method, path, operation


def _method(method: str) -> str:
    return f'<span class="method {escape(method)}">{escape(method.upper())}</span>'


def _contents(document: Part) -> str:
    info = document["info"]
    groups = []
    for tag in document["tags"]:
        links = "".join(
            f'<li><a href="#{escape(operation["operationId"])}">{_method(method)}'
            f"<span>{escape(operation['summary'])}</span></a></li>"
            for method, _, operation in _operations(document, tag["name"])
        )
        groups.append(f"<p>{escape(tag['name'])}</p><ul>{links}</ul>")
    more = '<li><a href="#problems">Problems</a></li><li><a href="#schemas">Schemas</a></li>'
    return (
        '<nav aria-label="Contents"><a class="skip" href="#main">Skip to the calls</a>'
        f'<p class="brand">{escape(info["title"])} <span>{escape(info["version"])}</span></p>'
        f"{''.join(groups)}<p>Reference</p><ul>{more}</ul></nav>"
    )


def _group(document: Part, tag: Part) -> str:
    calls = (_call(document, *found) for found in _operations(document, tag["name"]))
    return (
        f"<section><h2>{escape(tag['name'])}</h2><p>{prose(tag['description'])}</p>"
        f"{''.join(calls)}</section>"
    )


def _call(document: Part, method: str, path: str, operation: Part) -> str:
    name = escape(operation["operationId"])
    return (
        f'<article id="{name}"><h3>{escape(operation["summary"])}</h3>'
        f'<p class="call">{_method(method)} {code(path)}</p>'
        f"{_paragraphs(operation.get('description', ''))}"
        f"<pre><code>{escape(curl(method, path, operation))}</code></pre>"
        f"{_parameters(operation)}{_body(document, operation)}{_answers(operation)}</article>"
    )


def _parameters(operation: Part) -> str:
    rows = [
        (
            parameter["name"],
            REQUIRED if parameter["required"] else "",
            {**parameter["schema"], "description": parameter["description"]},
        )
        for parameter in operation.get("parameters", [])
    ]
    return f"<h4>Parameters</h4>{values_table('name', rows)}" if rows else ""


def _body(document: Part, operation: Part) -> str:
    if "requestBody" not in operation:
        return ""
    body = operation["requestBody"]
    name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    note = "" if body["required"] else ' <span class="quiet">may be left out</span>'
    heading = f"<h4>Body: {schema_link(name)}{note}</h4>"
    return f"{heading}{fields_table(document['components']['schemas'][name])}"


def _answers(operation: Part) -> str:
    good = {status: a for status, a in operation["responses"].items() if "$ref" not in a}
    rows = (
        row(code(status), _answer_type(answer), prose(answer["description"]))
        for status, answer in good.items()
    )
    links = ", ".join(
        f'<a href="#problem-{status}">{code(status)}</a>'
        for status in operation["responses"]
        if status not in good
    )
    return f'<h4>Answers</h4>{table(STATUSES, rows)}<p class="statuses">Problems: {links}</p>'


def _answer_type(answer: Part) -> str:
    return " or ".join(type_of(body["schema"]) for body in answer.get("content", {}).values())


def _problems(document: Part) -> str:
    """Lists the problems of all calls once, by their status."""
    responses = document["components"]["responses"]
    names = {
        status: answer["$ref"].rpartition("/")[2]
        for methods in document["paths"].values()
        for operation in methods.values()
        for status, answer in operation["responses"].items()
        if "$ref" in answer
    }
    rows = (
        row(
            code(status),
            _answer_type(responses[name]),
            prose(responses[name]["description"]),
            f"problem-{status}",
        )
        for status, name in sorted(names.items())
    )
    text = "A `Problem` is sent as `application/problem+json`, everything else as JSON."
    return (
        f'<section><h2 id="problems">Problems</h2><p>{prose(text)}</p>{table(STATUSES, rows)}'
        "</section>"
    )


def _schemas(document: Part) -> str:
    schemas = document["components"]["schemas"]
    sent = _sent_schemas(document)
    shown = "".join(_schema(name, s, answered=name not in sent) for name, s in schemas.items())
    return f'<section><h2 id="schemas">Schemas</h2>{shown}</section>'


def _sent_schemas(document: Part) -> set[str]:
    """Returns the names of the schemas that request bodies use, at any depth."""
    sent: set[str] = set()
    parts = [
        operation["requestBody"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    while parts:
        new = {name for part in parts for name in _names_in(part)} - sent
        sent |= new
        parts = [document["components"]["schemas"][name] for name in new]
    return sent


def _names_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].rpartition("/")[2]
        part = list(part.values())
    for inner in part if isinstance(part, list) else []:
        yield from _names_in(inner)


def _schema(name: str, schema: Part, *, answered: bool) -> str:
    described = prose(schema.get("description", ""))
    fields = fields_table(schema, answered=answered)
    what = f"<p>{type_of(schema)}</p>" if "enum" in schema else fields
    text = f"<p>{described}</p>" if described else ""
    return f'<article id="schema-{escape(name)}"><h3>{escape(name)}</h3>{text}{what}</article>'


def curl(method: str, path: str, operation: Part) -> str:
    """Returns a command that sends the example of an operation."""
    parameters = operation.get("parameters", [])
    given = {p["name"]: p["example"] for p in parameters if "example" in p and p["in"] == "query"}
    query = f"?{urlencode(given, doseq=True, safe=':')}" if given else ""
    url = f"{SERVER}{path.replace('{id}', '$ID').replace('{name}', '$NAME')}{query}"
    words = ["curl", "-s"]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in content:
        body = json.dumps(content["example"], indent=2, ensure_ascii=False)
        verb = [] if method == "post" else ["-X", method.upper()]
        data = ["-H", "'content-type: application/json'", "-d", shlex.quote(body)]
        return " ".join([*words, *verb, _quoted(url), *data])
    verb = [] if method == "get" else ["-X", method.upper()]
    return " ".join([*words, *verb, _quoted(url)])


def _quoted(url: str) -> str:
    return f'"{url}"' if "?" in url else url
