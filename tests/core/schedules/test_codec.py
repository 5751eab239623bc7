from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from duetime.core.occurrence import OverlapPolicy, occurrence_id
from duetime.core.schedules.codec import decode_plan, decode_state, encode_plan, encode_state
from duetime.core.schedules.occurrence_spec import occurrence_spec
from duetime.core.schedules.schedule import Span
from tests.core.schedules.strategies import plans
from tests.factories import NOW, a_schedule, a_spec
from tests.strategies import moments, specs

spans = st.builds(
    Span,
    id=st.sampled_from(["", "late", "fill"]),
    next_at=moments,
    until=moments,
    due_at=moments,
    interval=st.integers(0, 60_000),
    overlap=st.sampled_from(OverlapPolicy),
    running=st.none() | st.just("r"),
)
STATE = {
    "since": moments,
    "put_at": st.lists(moments, max_size=2).map(tuple),
    "runs": st.integers(0, 10),
    "active": st.none() | st.just("a"),
    "active_since": st.none() | st.integers(0, 10**13),
    "waiting": st.lists(st.sampled_from(["w", "x"]), unique=True).map(tuple),
    "settled_until": st.integers(0, 10**13),
    "awaited": st.none() | st.just("x"),
    "dead_runs": st.lists(st.just("d"), max_size=2).map(tuple),
    "spans": st.lists(spans, max_size=3).map(tuple),
    "note": st.none() | st.text(max_size=5),
    "last_error": st.none() | st.text(max_size=5),
}


@given(plans)
def test_a_plan_is_read_as_it_was_written(plan):
    assert decode_plan(encode_plan(plan)) == plan


@given(st.fixed_dictionaries(STATE))
def test_the_state_is_read_as_it_was_written(state):
    schedule = a_schedule(**state)
    read = decode_state(encode_state(schedule))
    defaults = {f.name: f.default for f in fields(schedule)}
    assert {name: read.get(name, defaults[name]) for name in STATE} == state


def test_a_state_written_when_only_one_could_wait_is_read():
    text = '{"since":1,"waiting":"w","spans":[["fill",1,2,3,4,"queue"]]}'
    state = decode_state(text)

    assert state["waiting"] == ("w",)
    [span] = state["spans"]
    assert (span.id, span.overlap, span.running) == ("fill", OverlapPolicy.QUEUE, None)


@given(specs, moments)
def test_the_task_of_an_occurrence_is_its_template_at_its_time(spec, fire_time):
    from duetime.core.template import BadTemplate

    schedule = a_schedule(task=spec)
    try:
        made = occurrence_spec(
            schedule, fire_time, run_at=NOW, overlap=OverlapPolicy.QUEUE, version=3
        )
    except BadTemplate:
        return
    assert made.occurrence.scheduled_for == fire_time
    assert (made.occurrence.version, made.occurrence.has_follow_up) == (3, True)
    assert (made.run_at, made.priority, made.retry) == (NOW, spec.priority, spec.retry)


def test_names_of_the_schedule_are_filled_in():
    template = a_spec(run_at=0, payload={"at": "{{scheduled_for}}", "of": "{{schedule.name}}"})
    schedule = a_schedule(task=template, name="nightly")
    made = occurrence_spec(schedule, NOW, run_at=NOW, overlap=OverlapPolicy.ALLOW, version=1)
    assert made.payload == {"at": "2026-11-16T09:00:00.000Z", "of": "nightly"}
    assert not made.occurrence.open
    assert not made.occurrence.has_follow_up


def test_occurrence_id_depends_on_maker_and_fire_time_and_sorts_by_time():
    assert occurrence_id("s", "v1", NOW) == occurrence_id("s", "v1", NOW)
    others = {
        occurrence_id("s", "v2", NOW),
        occurrence_id("t", "v1", NOW),
        occurrence_id("s", "v1", NOW + 1),
        occurrence_id("s", "fill", NOW),
    }
    assert len(others) == 4
    assert occurrence_id("s", "v1", NOW) < occurrence_id("s", "v9", NOW + 1)
