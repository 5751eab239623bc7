import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lifecycle import Outcome, Status
from duetime.core.live import frames
from duetime.core.live.changes import age, change_json, coalesced, packed
from duetime.core.live.limits import FRAME_BYTES, FRAME_ITEMS
from duetime.core.task import TaskError
from tests.core.live.changes import TASK_ID, a_change, changes
from tests.strategies import texts

batches = st.lists(changes, max_size=12)


def test_item_has_what_a_row_shows():
    change = a_change(
        at=1_700_000_000_000,
        due_at=1_700_000_000_500,
        outcome=Outcome.FAILED,
        error=TaskError(type="ValueError", message="card 4111 declined", traceback="…"),
        occurrence_of="daily",
        result='{"secret": 1}',
        reason="stopped",
    )

    assert json.loads(change_json(change)) == {
        "task_id": TASK_ID,
        "namespace": "shop",
        "name": "restock",
        "target": "shop.restock",
        "lane": "low",
        "before": "RUNNING",
        "status": "DEAD",
        "attempt": 5,
        "updated_at": "2023-11-14T22:13:20.000Z",
        "due_at": "2023-11-14T22:13:20.500Z",
        "drift_ms": 3,
        "outcome": "failed",
        "error_type": "ValueError",
        "schedule_id": "daily",
        "run_id": None,
    }


def test_item_has_no_password_of_a_url():
    item = change_json(a_change(target="https://me:secret@example.org/hook"))

    assert "secret" not in item
    assert "example.org/hook" in item


@given(batches)
def test_coalesced_changes_are_the_latest_of_each_task(batch):
    kept = coalesced(batch)

    assert len({change.task_id for change in kept}) == len(kept)
    assert {change.task_id for change in kept} == {change.task_id for change in batch}
    for change in kept:
        assert age(change) == max(age(each) for each in batch if each.task_id == change.task_id)


@given(batches, st.randoms(use_true_random=False))
def test_repeated_and_reordered_changes_leave_the_same_states(batch, random):
    repeated = [*batch, *batch]
    random.shuffle(repeated)

    def ages(kept):
        return {change.task_id: age(change) for change in kept}

    assert ages(coalesced(repeated)) == ages(coalesced(batch))


def test_of_two_changes_in_one_millisecond_the_later_one_is_kept():
    first, second = a_change(after=Status.RUNNING), a_change(after=Status.SUCCEEDED)

    assert coalesced([first, second]) == [second]


@given(st.lists(changes | st.builds(a_change, name=texts, target=texts), max_size=300))
def test_frames_hold_every_item_in_order_within_their_limits(batch):
    items = [change_json(change) for change in batch]
    sent = [frames.changes("s" * 64, part) for part in packed(items)]

    assert all(len(frame.encode()) <= FRAME_BYTES for frame in sent)
    assert all(len(json.loads(frame)["items"]) <= FRAME_ITEMS for frame in sent)
    read = [item for frame in sent for item in json.loads(frame)["items"]]
    assert read == [json.loads(item) for item in items]


@pytest.mark.parametrize("text", ["\x01" * 300, "😀" * 300, '"' * 300])
def test_largest_item_fits_in_a_frame_with_others(text):
    error = TaskError(type=text, message="")
    words = {"namespace": "n" * 128, "occurrence_of": "s" * 128, "run_id": "r" * 128}
    item = change_json(a_change(name=text, target=text, error=error, **words))

    assert len(item.encode()) < FRAME_BYTES / 4


def test_full_frames_have_a_hundred_items():
    assert [len(part) for part in packed(["{}"] * 250)] == [100, 100, 50]
    assert packed([]) == []
