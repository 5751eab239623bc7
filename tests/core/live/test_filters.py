from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.live.filters import EVERYTHING, LiveFilter
from tests.core.live.changes import a_change, changes, few

words = st.frozensets(few)
filters = st.builds(
    LiveFilter,
    namespaces=words,
    statuses=st.frozensets(st.sampled_from(Status)),
    handlers=words,
    lanes=st.frozensets(st.sampled_from(Lane)),
    schedule_ids=words,
    run_ids=words,
    task_ids=words,
)
FIELDS = {
    "namespaces": "namespace",
    "statuses": "after",
    "handlers": "target",
    "lanes": "lane",
    "schedule_ids": "occurrence_of",
    "run_ids": "run_id",
    "task_ids": "task_id",
}


@given(changes)
def test_filter_without_fields_wants_every_change(change):
    assert EVERYTHING.wants(change)


@given(filters, changes)
def test_filter_wants_a_change_if_each_of_its_fields_has_the_value(wanted, change):
    fitting = [
        not getattr(wanted, field) or getattr(change, name) in getattr(wanted, field)
        for field, name in FIELDS.items()
    ]

    assert wanted.wants(change) == all(fitting)


@given(filters, changes, st.none() | words)
def test_namespaces_of_a_ticket_only_narrow_a_filter(wanted, change, namespaces):
    allowed = namespaces is None or change.namespace in namespaces

    assert wanted.wants_in(namespaces, change) == (allowed and wanted.wants(change))


def test_ticket_without_a_namespace_gets_nothing():
    assert not EVERYTHING.wants_in(frozenset(), a_change())
