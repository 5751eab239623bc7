"""Fingerprints: what died of the same cause has the same one."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.fingerprints import LENGTH, MAX_MESSAGE, cause_of, general
from duetime.core.ids import new_id
from duetime.core.step_ref import StepRef
from duetime.core.task import Task, TaskError
from tests.api.dead import a_dead_task
from tests.strategies import task_ids

URL = "https://api.shop/orders/{}?at={}"

words = st.text("abcdefghijklmnopqrstuvwxyz '", max_size=20)
quotes = st.sampled_from(["'{}'", '"{}"', "`{}`", "“{}”"])
quoted = st.builds(
    lambda quote, text: quote.format(text),
    quotes,
    st.text(st.characters(exclude_characters="'\"`“”\n", exclude_categories=["Cs"]), max_size=9),
)
numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: f"{number:.3f}"),
    st.uuids().map(str),
    task_ids,
    st.datetimes().map(lambda at: at.isoformat()),
)


def dead_of(message: str, error_type: str = "ValueError", **spec: object) -> Task:
    task = a_dead_task(error_type=error_type, **spec)
    assert task.current
    error = TaskError(type=error_type, message=message)
    return replace(task, current=replace(task.current, error=error))


def fingerprint(message: str, **of: object) -> str:
    return cause_of(dead_of(message, **of)).fingerprint


@given(numbers, numbers)
def test_numbers_and_ids_do_not_count(one: str, other: str):
    text = "no item {} in stock"

    assert fingerprint(text.format(one)) == fingerprint(text.format(other))


@given(quoted, quoted)
def test_quoted_text_does_not_count(one: str, other: str):
    """Only how it is quoted does."""
    text = "no item {} in stock"

    assert (general(text.format(one)) == general(text.format(other))) is (one[0] == other[0])


@given(words, words)
def test_messages_of_other_words_have_other_fingerprints(one: str, other: str):
    texts = [" ".join(text.replace("'", "").split()) for text in (one, other)]

    assert (fingerprint(texts[0]) == fingerprint(texts[1])) is (texts[0] == texts[1])


@given(st.text(), st.text())
def test_every_message_has_a_fingerprint_and_a_short_cause(message: str, error_type: str):
    cause = cause_of(dead_of(message, error_type))

    assert len(cause.fingerprint) == LENGTH
    assert set(cause.fingerprint) <= set("0123456789abcdef")
    assert len(cause.message) <= MAX_MESSAGE
    assert not any(letter.isdigit() for letter in cause.message)


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("no such item 'salt'", "no such item '…'"),
        ("can't open 'a b', don't retry", "can't open '…', don't retry"),
        ("row 17, 18, and 19 of 2,000", "row …, and … of …"),
        ("key 01M7KRNXWBQCJDXSY1EA4MVFBN expired", "key … expired"),
        ("at 2026-11-18T09:00:00+01:00:\n  gone", "at …: gone"),
        ("connect to 10.0.0.7:5432", "connect to …"),
    ],
)
def test_cause_says_what_tasks_have_in_common(message: str, cause: str):
    assert general(message) == cause


def test_error_type_and_target_count():
    assert fingerprint("gone") != fingerprint("gone", error_type="KeyError")
    handlers = [{"type": "python", "handler": name} for name in ("a", "b")]
    assert fingerprint("gone", target=handlers[0]) != fingerprint("gone", target=handlers[1])


def test_urls_that_differ_in_an_id_or_the_query_are_one_target():
    def cause(url: str) -> str:
        return cause_of(dead_of("gone", target={"type": "http", "url": url})).target

    assert cause(URL.format(17, 1)) == cause(URL.format(UUID(int=5), 2))
    assert cause(URL.format(17, 1)) == "https://api.shop/orders/…"
    assert cause("https://api2.shop/v1/pay") == "https://api2.shop/…/pay"
    assert cause("https://ada:pass@api.shop/pay") == "https://***@api.shop/pay"


def test_step_without_a_target_is_named_by_its_step():
    step = StepRef(run_id=new_id(0, 0), step="resize")

    assert cause_of(dead_of("gone", target={"type": "step"}, step=step)).target == "step resize"


def test_task_without_an_error_has_a_cause():
    assert cause_of(replace(a_dead_task(), current=None)).error_type is None
