"""Templates, by properties and by examples."""

import json
import string
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duetime.core.template import (
    MAX_NAMES,
    OF_THE_SCHEDULE,
    BadTemplate,
    check_names,
    finish,
    literal,
    names_in,
    render,
)

NAMES: dict[str, Any] = {
    "scheduled_for": "2026-11-16T09:00:00.000Z",
    "schedule.id": "01ID",
    "schedule.name": "daily {{previous.status}}",
    "previous.result": {"next_page": 7, "deep": {"a-b": [1, None]}, "text": "x"},
    "previous.status": "SUCCEEDED",
    "previous.task_id": None,
    "previous.scheduled_for": None,
}

words = st.text("{}ab ", max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
known = st.sampled_from([*NAMES, "previous.result.next_page", "previous.result.a.b"])
pieces = words.map(literal) | known.map("{{{{{}}}}}".format) | known.map("{{{{ {} }}}}".format)
texts = st.lists(pieces, max_size=5).map("".join)


def valid(value: Any) -> bool:
    try:
        check_names(value)
    except BadTemplate:
        return False
    return True


templates = st.recursive(
    st.none() | st.integers() | texts.filter(valid),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
given_names = st.fixed_dictionaries(dict.fromkeys(NAMES, values))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("at {{scheduled_for}}!", "at 2026-11-16T09:00:00.000Z!"),
        ("{{ schedule.id }}/{{schedule.id}}", "01ID/01ID"),
        ("{{previous.result}}", NAMES["previous.result"]),
        ("{{previous.result.next_page}}", 7),
        ("page {{previous.result.next_page}}", "page 7"),
        ("{{previous.result.deep.a-b}}", [1, None]),
        ("<{{previous.result.deep.a-b}}>", "<[1,null]>"),
        ("{{previous.result.next_page.none}}", None),
        ("{{previous.result.gone}}", None),
        ("-{{previous.result.gone}}-", "--"),
        ("{{previous.task_id}}", None),
        (
            "{{schedule.name}}",
            "daily {{previous.status}}",
        ),  # inserted text is not read as a template
        ("{{{{previous.status}}", "{{previous.status}}"),
        ("{{{{{{previous.status}}", "{{SUCCEEDED"),
        ('{"a":{{previous.result.next_page}}}', '{"a":7}'),
        ("{{{previous.status}}}", "{SUCCEEDED}"),
        ("{one} }} {", "{one} }} {"),
        ("", ""),
        (
            {"{{scheduled_for}}": ["{{schedule.id}}", 1, None]},
            {"{{scheduled_for}}": ["01ID", 1, None]},
        ),
    ],
)
def test_names_are_filled_in(template: Any, expected: Any):
    check_names(template)

    assert finish(template, NAMES) == expected


def test_value_of_a_lone_name_becomes_text_unless_whole():
    assert finish(["{{previous.result.next_page}}"], NAMES, whole=False) == ["7"]
    assert finish("{{previous.task_id}}", NAMES, whole=False) == ""
    assert render("{{schedule.id}}", NAMES, whole=False) == "01ID"


def test_names_that_are_not_given_are_kept():
    names = {"schedule.id": "01ID"}

    assert render("{{schedule.id}} {{ previous.result.a }}", names) == "01ID {{previous.result.a}}"


@given(templates, given_names, st.sets(st.sampled_from(sorted(NAMES))))
@example("{{schedule.name}}{{previous.result}}", NAMES | {"schedule.name": ""}, {"schedule.name"})
@example("{{{schedule.name}}", NAMES | {"schedule.name": "{a}}"}, {"schedule.name"})
@example("{{schedule.name}}{{previous.result}}", NAMES | {"schedule.name": "{"}, {"schedule.name"})
@example("{{schedule.name}}", NAMES, {"schedule.name"})
@example("{{{schedule.name}}", NAMES | {"schedule.name": "{schedule.id}}"}, {"schedule.name"})
def test_filling_in_step_by_step_is_filling_in_at_once(
    template: Any, names: dict[str, Any], early: set[str]
):
    first = {name: value for name, value in names.items() if name in early}
    rest = {name: value for name, value in names.items() if name not in early}

    assert finish(render(template, first), rest) == finish(template, names)


@given(templates, given_names)
def test_rendered_template_has_no_given_name_left(template: Any, names: dict[str, Any]):
    left = [name for _, name in names_in(render(template, names))]

    assert left == []


@given(values)
def test_any_value_can_be_written_as_a_template(value: Any):
    check_names(literal(value))

    assert finish(literal(value), NAMES) == value


@given(values)
def test_any_text_is_a_template_or_raises_bad_template(value: Any):
    if valid(value):
        finish(value, NAMES)
    else:
        with pytest.raises(BadTemplate):
            check_names(value)


@given(templates, given_names)
def test_template_itself_is_not_changed(template: Any, names: dict[str, Any]):
    before = json.dumps(template)

    finish(template, names)

    assert json.dumps(template) == before


@pytest.mark.parametrize(
    ("template", "path", "reason"),
    [
        ({"a": ["x", {"b": "{{nme}}"}]}, "a.1.b", "there is no name 'nme'; known: scheduled_for"),
        ("{{}}", "", "there is no name ''"),
        ("{{previous.result.}}", "", "there is no name 'previous.result.'"),
        ("{{previous}}", "", "there is no name 'previous'"),
        ("ab {{scheduled_for}", "", "the {{ at position 4 is not closed by }}; write {{{{ for"),
        ("{{scheduled_for {{schedule.id}}", "", "the {{ at position 1 is not closed"),
        ("{{" + "x" * 100 + "}}", "", f"there is no name '{'x' * 60}…'"),
        (["{{scheduled_for}}"] * (MAX_NAMES + 1), "100", "more than 100 names in one task"),
    ],
)
def test_invalid_template_is_refused(template: Any, path: str, reason: str):
    with pytest.raises(BadTemplate) as refused:
        check_names(template)

    assert refused.value.path == path
    assert refused.value.reason.startswith(reason)


@pytest.mark.parametrize("name", ["previous.status", "previous.result.x"])
def test_where_only_the_schedule_is_known_the_previous_run_is_refused(name: str):
    with pytest.raises(BadTemplate, match=f"{name} is known only when the run starts"):
        check_names(f"{{{{{name}}}}}", OF_THE_SCHEDULE)


def test_deeply_nested_template_is_filled_in():
    deep: Any = "{{schedule.id}}"
    for _ in range(20_000):
        deep = [deep]

    [(path, name)] = names_in(deep)
    filled = finish(deep, NAMES)
    for _ in range(20_000):
        [filled] = filled

    assert (name, len(path.split("."))) == ("schedule.id", 20_000)
    assert filled == "01ID"


@pytest.mark.parametrize("unit", ["{", "{{{{", "{{schedule.id}}", "{{ ", "{{a", "}}", "{{{"])
def test_a_long_text_takes_time_in_proportion(unit: str):
    """A quarter of a mebibyte; quadratic time would take minutes."""
    text = unit * (256 * 1024 // len(unit))
    started = time.thread_time()

    valid(text)
    if unit in ("{{{{", "{{schedule.id}}", "}}"):
        finish(text, NAMES)

    assert time.thread_time() - started < 5, "of CPU, however busy the machine is"


@given(st.text(string.printable))
def test_text_without_two_braces_is_not_changed(text: str):
    if "{{" not in text:
        assert finish(text, NAMES) == render(text, NAMES) == text
