import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core import codec
from duetime.core.lanes import Lane
from duetime.core.retry import RetryPolicy
from duetime.core.task import Attempt, Progress, Spec
from tests.strategies import attempts, json_values, progresses, specs, texts

PLAIN = Spec(target={"type": "http", "url": "https://example.org"}, run_at=1_794_820_020_120)


@given(specs)
def test_a_spec_survives_being_written_down(spec):
    assert codec.decode_spec(codec.encode_spec(spec)) == spec


@given(attempts)
def test_an_attempt_survives_being_written_down(attempt):
    assert codec.decode_attempt(codec.encode_attempt(attempt)) == attempt


@given(progresses)
def test_progress_survives_being_written_down(progress):
    assert codec.decode_progress(codec.encode_progress(progress)) == progress


@given(specs.map(codec.encode_spec))
def test_a_spec_is_written_down_as_json_that_utf_8_can_carry(text):
    assert json.loads(text.encode().decode()) is not None


def test_text_is_stored_unescaped():
    progress = Progress(fraction=0.5, message="hälfte ✓ 半分")

    assert codec.encode_progress(progress) == '[0.5,"hälfte ✓ 半分"]'


def test_defaults_are_left_out():
    body = json.loads(codec.encode_spec(PLAIN))

    assert body == {"target": PLAIN.target, "run_at": PLAIN.run_at}


def test_nothing_is_written_twice_or_with_spaces():
    attempt = Attempt(number=1, started_at=5, drift_ms=2)

    assert codec.encode_attempt(attempt) == "1,5,2,,,"


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("payload", False, False),
        ("payload", 0, 0),
        ("payload", "", ""),
        ("payload", [], []),
        ("payload", {}, {}),
        ("priority", Lane.HIGH, "high"),
        ("timeout", 30.0, 30.0),
        ("retry", RetryPolicy(max_attempts=1), [1, 1.0, 2.0, 3600.0, 0.5]),
        ("jitter", 10.0, 10.0),
        ("expires_at", 7, 7),
        ("name", "", ""),
        ("namespace", "growth", "growth"),
        ("ordering_key", "account-7", "account-7"),
        ("idempotency_key", "order-4711", "order-4711"),
        ("tags", {"team": "growth"}, {"team": "growth"}),
    ],
)
def test_every_field_that_differs_from_its_default_is_written(field, value, written):
    spec = Spec(target=PLAIN.target, run_at=PLAIN.run_at, **{field: value})
    body = json.loads(codec.encode_spec(spec))

    assert body.keys() - {"target", "run_at"} == {field}
    assert body[field] == written
    assert type(body[field]) is type(written)
    assert codec.decode_spec(codec.encode_spec(spec)) == spec


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_lacks_is_refused(number):
    with pytest.raises(ValueError, match="JSON"):
        codec.to_json({"payload": number})


@given(st.dictionaries(texts, json_values), st.randoms(use_true_random=False))
def test_the_canonical_text_does_not_depend_on_the_order_of_keys(body, chance):
    shuffled = dict(chance.sample(list(body.items()), len(body)))

    assert codec.canonical(shuffled) == codec.canonical(body)


@given(st.dictionaries(texts, json_values), st.dictionaries(texts, json_values))
def test_other_content_has_another_canonical_text(one, other):
    same = codec.canonical(one) == codec.canonical(other)

    assert same == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))
