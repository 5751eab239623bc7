"""Trace contexts are stored packed, and attempts with one are read as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.codec import decode_attempt, encode_attempt
from duetime.core.lifecycle import Outcome
from duetime.core.task import Attempt, TaskError
from duetime.core.trace_context import is_traceparent, pack, unpack

NOTHING = "0" * 16
hexadecimal = st.sampled_from("0123456789abcdef")
traceparents = st.builds(
    lambda trace, span, flags: f"00-{trace}-{span}-{flags}",
    st.text(hexadecimal, min_size=32, max_size=32),
    st.text(hexadecimal, min_size=16, max_size=16),
    st.text(hexadecimal, min_size=2, max_size=2),
)


@given(traceparents)
def test_packed_context_is_unpacked_as_it_was(traceparent: str):
    assert unpack(pack(traceparent)) == traceparent
    assert len(pack(traceparent)) == 34


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"00-{NOTHING * 2}-{'b' * 16}-01",
        f"00-{'a' * 32}-{NOTHING}-01",
        f"01-{'a' * 32}-{'b' * 16}-01",
        f"00-{'A' * 32}-{'b' * 16}-01",
        f"00-{'a' * 32}-{'b' * 16}-01-more",
        f"00-{'a' * 32}-{'b' * 16}-01\n",
    ],
)
def test_text_that_names_no_span_is_no_traceparent(text: str):
    assert not is_traceparent(text)


@given(traceparents, st.sampled_from([None, *Outcome]), st.booleans())
def test_attempt_with_a_span_is_read_as_it_was_written(
    traceparent: str, outcome: Outcome | None, failed: bool
):
    attempt = Attempt(
        number=1,
        started_at=2,
        drift_ms=3,
        outcome=outcome,
        error=TaskError(type="A, b", message="c 1,2") if failed else None,
        trace=pack(traceparent),
    )
    assert decode_attempt(encode_attempt(attempt)) == attempt
