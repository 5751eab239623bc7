"""The text of a run: everything comes back, and a large map is small."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.workflows.run import Run, RunError, RunSpec, StopReason
from duetime.core.workflows.run_codec import (
    PACK_FROM,
    decode_run_spec,
    decode_run_state,
    encode_run_spec,
    encode_run_state,
)
from tests.factories import NOW, a_run

STATE = ("states", "generations", "timeout_at", "attempt", "stop", "watches", "error")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
specs = st.builds(
    RunSpec, input=json_values, tags=st.dictionaries(st.text(), st.text(), max_size=3)
)
states = st.text("wpsdcxuf", max_size=1_200)
runs = st.builds(
    a_run,
    states=states,
    generations=st.text("0123zZ", max_size=1_200),
    attempt=st.integers(1, 61),
    stop=st.none() | st.sampled_from(StopReason),
    watches=st.integers(0, 9),
    error=st.none() | st.builds(RunError),
    finished_at=st.none() | st.just(NOW),
)


@given(specs)
def test_spec_of_a_run_comes_back(spec: RunSpec):
    assert decode_run_spec(encode_run_spec(spec)) == spec


@pytest.mark.parametrize("given_input", [False, 0, 0.0, "", [], {}])
def test_empty_input_of_a_run_comes_back_as_it_was(given_input: object):
    [found] = [decode_run_spec(encode_run_spec(a_run(spec={"input": given_input}).spec)).input]

    assert (type(found), found) == (type(given_input), given_input)


@given(runs)
def test_state_of_a_run_comes_back(run: Run):
    found = decode_run_state(encode_run_state(run))

    assert found == {name: getattr(run, name) for name in (*STATE, "finished_at")}


def test_defaults_of_a_run_are_left_out():
    spec = encode_run_spec(a_run().spec)

    left_out = {f.name for f in fields(RunSpec)} - {"namespace", "digest", "run_at", "timeout"}
    assert not [name for name in left_out if f'"{name}"' in spec]
    assert encode_run_state(a_run()).count(":") == 2


def test_states_of_a_map_of_10000_items_are_far_below_1_kb():
    states = "".join("ssssssssd"[n * 7 % 9] for n in range(6_000)) + "p" * 100 + "w" * 3_900

    assert len(encode_run_state(a_run(states=states))) < 512


@pytest.mark.parametrize("damaged", ['{"s":"~x","t":1}', '{"s":"~eJw=","t":1}', '{"t":1}'])
def test_damaged_state_of_a_run_is_refused(damaged: str):
    with pytest.raises((ValueError, KeyError)):
        decode_run_state(damaged)


def test_short_states_of_a_run_can_be_read_by_an_operator():
    assert '"s":"spw."' in encode_run_state(a_run())
    assert "~" in encode_run_state(a_run(states="s" * (PACK_FROM + 1)))
