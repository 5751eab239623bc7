"""References in targets, payloads and maps."""

import pickle
from typing import Any

import pytest

from duetime.core.workflows.references import (
    MAX_FILLED,
    BadReference,
    TooLarge,
    fill_in,
    literal_faults,
    needed_results,
    needed_steps,
    parse,
    resolve_items,
    steps_in_pattern,
)

NAMES: dict[str, Any] = {
    "input": {"user": {"name": "Ann Lee", "tags": ["a", "b"]}, "evil": "x\r\nHost: evil.example"},
    "steps": {
        "extract": {
            "result": {"rows": [{"id": 7}], "next": None},
            "status": "SUCCEEDED",
            "error": None,
            "task_id": "01T",
        },
        "load": {"status": "DEAD", "error": {"type": "Boom", "message": "no {{input}}"}},
        "each": {"results": [1, None, 3]},
    },
    "item": {"url": "a/b?c"},
    "index": 0,
    "run": {"id": "01R", "status": "RUNNING"},
    "callback": {"url": "https://duetime.example/cb", "token": "t"},
}
HTTP = {"type": "http", "url": "https://a.example/x", "method": "POST"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{input.user.name}}", "Ann Lee"),
        ("{{ input.user.tags.1 }}", "b"),
        ("{{input.user.tags.2}}", None),
        ("{{input.user.tags.x}}", None),
        ("{{input.gone.below}}", None),
        ("{{steps.extract.result.rows.0.id}}", 7),
        ("{{steps.extract.result}}", NAMES["steps"]["extract"]["result"]),
        ("{{steps.extract.error.message}}", None),
        ("{{steps.load.error.message}}", "no {{input}}"),
        ("{{steps.load.error.type}} {{steps.load.status}}", "Boom DEAD"),
        ("{{steps.each.results}}", [1, None, 3]),
        ("{{steps.extract.task_id}}-{{index}}", "01T-0"),
        ("{{item}}", {"url": "a/b?c"}),
        ("{{run.id}} {{callback.token}}", "01R t"),
        ("{{{{input}}", "{{input}}"),
    ],
)
def test_reference_in_a_payload_becomes_its_value(template, expected):
    target, payload = fill_in(HTTP, {"deep": [template]}, NAMES)
    assert target == HTTP
    assert payload == {"deep": [expected]}


def test_references_in_a_url_are_percent_encoded():
    target = {**HTTP, "url": "https://a.example/{{item.url}}?q={{input.user.name}}"}
    filled, _ = fill_in(target, None, NAMES)
    assert filled["url"] == "https://a.example/a%2Fb%3Fc?q=Ann%20Lee"


@pytest.mark.parametrize(
    ("path", "values"), [("{{input.a}}", {"a": ".."}), ("{{input.a}}{{input.a}}/x", {"a": "."})]
)
def test_reference_that_leads_out_of_the_path_of_a_url_is_refused(path, values):
    with pytest.raises(BadReference, match=r"target\.url"):
        fill_in({**HTTP, "url": f"https://a.example/v1/{path}"}, None, {"input": values})


def test_url_that_references_make_too_long_is_refused():
    with pytest.raises(BadReference, match="at most 2048"):
        fill_in({**HTTP, "url": "https://a.example/{{input}}"}, None, {"input": "x" * 3_000})


def test_line_break_in_a_header_is_refused():
    with pytest.raises(BadReference, match=r"target\.headers\.X-A") as caught:
        fill_in({**HTTP, "headers": {"X-A": "{{input.evil}}"}}, None, NAMES)
    assert pickle.loads(pickle.dumps(caught.value)).field == "target.headers.X-A"


@pytest.mark.parametrize("text", ["\x00", "日本", "😀"])
def test_character_that_no_header_can_carry_is_refused(text):
    with pytest.raises(BadReference, match=r"target\.headers\.X-A"):
        fill_in({**HTTP, "headers": {"X-A": "{{input}}"}}, None, {"input": text})


def test_header_gets_the_text_of_a_value_and_keeps_a_secret():
    headers = {"X-A": "{{index}}", "Authorization": {"$secret": "stripe"}}
    filled, _ = fill_in({**HTTP, "headers": headers}, None, NAMES)
    assert filled["headers"] == {"X-A": "0", "Authorization": {"$secret": "stripe"}}


def test_input_of_a_nested_workflow_is_filled_in_and_its_definition_is_not():
    nested = {"steps": [{"name": "a", "payload": "{{input.x}}"}]}
    target = {
        "type": "workflow",
        "definition": nested,
        "input": {"rows": "{{steps.extract.result}}"},
    }
    filled, _ = fill_in(target, None, NAMES)
    assert filled["definition"] == nested
    assert filled["input"] == {"rows": NAMES["steps"]["extract"]["result"]}


def test_values_of_more_than_256_kib_together_are_refused():
    half = {"input": "x" * (MAX_FILLED // 2)}
    assert fill_in(HTTP, "{{input}}", half)[1] == half["input"]
    with pytest.raises(TooLarge, match="at most 262,144"):
        fill_in(HTTP, ["{{input}}", "{{input}}"], half)


@pytest.mark.parametrize(
    "name",
    ["", "inputs", "steps", "steps.a", "steps.A.result", "steps.a.what", "steps.a.status.x",
     "steps.a.error.traceback", "index.0", "run", "run.name", "callback", "input..x"],
)  # fmt: skip
def test_name_that_does_not_exist_is_no_reference(name):
    assert parse(name) is None


def test_needed_steps_are_those_that_are_named():
    value = {"a": ["{{steps.x.result.0}} {{steps.y.status}}"], "b": "{{input}} {{steps.m.results}}"}
    assert needed_steps(value) == {"x", "y", "m"}
    assert needed_results(value) == {"m"}
    assert steps_in_pattern({"steps": {"z": {"status": ["DEAD"]}}, "input": {}}) == {"z"}
    assert steps_in_pattern({"input": {"a": [1]}}) == steps_in_pattern(None) == set()


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ({**HTTP, "url": "{{input.url}}"}, "url"),
        ({**HTTP, "url": "{{input.scheme}}://a.example/"}, "url"),
        ({**HTTP, "url": "https://{{input.host}}/x"}, "url"),
        ({**HTTP, "url": "https://a.example:{{input.port}}/"}, "url"),
        ({**HTTP, "url": "https://a.example{{input.rest}}"}, "url"),
        ({**HTTP, "method": "{{input.method}}"}, "method"),
        ({**HTTP, "type": "{{input.type}}"}, "type"),
        ({**HTTP, "headers": {"{{input.name}}": "x"}}, "headers"),
        ({**HTTP, "headers": {"A": {"$secret": "{{input.name}}"}}}, "headers.A"),
        ({**HTTP, "sign": {"$secret": "{{input.name}}"}}, "sign.$secret"),
        ({"type": "python", "handler": "{{input.handler}}"}, "handler"),
        ({"type": "sql", "database": "main", "statement": "{{input.sql}}"}, "statement"),
        ({"type": "workflow", "workflow": "{{input.name}}"}, "workflow"),
    ],
)
def test_literal_place_of_a_target_takes_no_reference(target, path):
    assert path in [found for found, _ in literal_faults(target)]


@pytest.mark.parametrize(
    "url",
    ["https://a.example/{{input.x}}", "https://a.example?{{input.x}}", "http://[::1]:8/#{{index}}"],
)
def test_path_query_and_headers_take_references(url):
    assert not [*literal_faults({**HTTP, "url": url, "headers": {"A": "{{input.x}}"}})]


@pytest.mark.parametrize(
    ("items", "expected"),
    [("{{input.user.tags}}", ["a", "b"]), (3, 3), ([1, "{{index}}"], [1, 0]), ("{{index}}", 0)],
)
def test_items_of_a_map_are_a_list_or_a_number(items, expected):
    assert resolve_items(items, NAMES) == expected


@pytest.mark.parametrize("value", [None, {"a": 1}, "x", True, 1.5, -1, 10_001, [0] * 10_001])
def test_other_items_of_a_map_are_refused(value):
    with pytest.raises(BadReference, match=r"map\.items"):
        resolve_items("{{input}}", {"input": value})
