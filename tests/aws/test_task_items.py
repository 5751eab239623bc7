"""The items of tasks: small, with long texts in rows of their own."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bench.billing.payloads import text_of
from bench.billing.units import size_of
from duetime.aws import overflow as texts
from duetime.aws import schema
from duetime.aws.event_records import removed_task_of_record
from duetime.aws.overflow import Text
from duetime.core.change import Applied, Change, Refused, Unreadable
from duetime.core.codec import decode_attempt, decode_spec
from duetime.core.delivery import delivery_of
from duetime.core.errors import Corrupt
from duetime.core.lifecycle import Outcome, Status
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.task import Attempt, Progress, Spec, Task, TaskError
from duetime.core.times import DAY, MINUTE, SECOND
from duetime.core.unique import HeldWhile, OnConflict, Unique
from duetime.core.wakes import minute_of, shard_of
from tests.aws.stored import a_store, asked_of, items_in
from tests.factories import (
    NOW,
    WAKE_POLICY,
    a_draw,
    a_running_task,
    a_sent_task,
    a_spec,
    a_task,
    an_id,
)

KB = 1024
LONG = "p" * 200_000
TYPICAL = a_spec(
    target={
        "type": "http",
        "url": "https://api.example.org/v2/reminders/deliver",
        "headers": {"Authorization": "Bearer 0123456789abcdef"},
    },
    payload={"customer": 48151, "template": "welcome", "locale": "de-DE"},
    run_at=NOW + 10 * SECOND,
    name="welcome-mail",
    tags={"team": "growth"},
)


def filled(limit: int, make: Callable[[str], Text]) -> str:
    """Returns the longest text with which a value still fits."""
    return "x" * (limit - len(make("").value))


def an_occurrence(name: str) -> Occurrence:
    return Occurrence(
        schedule_id=an_id(),
        scheduled_for=NOW,
        version=12,
        overlap=OverlapPolicy.CANCEL,
        has_follow_up=True,
        name=name,
    )


def a_long_spec(payload: str) -> Spec:
    of = an_occurrence("nightly report")
    return a_spec(payload=payload, expires_at=NOW + DAY, occurrence=of)


def an_ended_attempt(message: str) -> Attempt:
    return Attempt(
        number=99,
        started_at=NOW,
        drift_ms=99_999,
        finished_at=NOW,
        outcome=Outcome.TIMED_OUT,
        error=TaskError(type="TimeoutError", message=message),
    )


def full(text: str | None = None) -> Task:
    """Returns a task with every field filled, each text as long as fits, or as given."""
    payload = text or filled(texts.FOLLOW_UP_LIMIT, lambda t: texts.spec_text(a_long_spec(t)))
    message = text or filled(texts.ATTEMPT_LIMIT, lambda t: texts.attempt_text(an_ended_attempt(t)))
    return a_running_task(
        spec=a_long_spec(payload),
        attempt=99,
        budget=100,
        token=f"{NOW}-0123456789abcdef",
        holder="0123456789abcdef",
        current=an_ended_attempt(message),
        previous=an_ended_attempt(message),
        cancel_requested=True,
        sends=NOW,
        skips=3,
        progress=Progress(fraction=0.375, message="row 375 of 1000"),
        reason="overlap",
    )


def test_a_typical_task_stays_below_1_kb_all_its_way(dynamodb: Any, table: str):
    store = a_store(dynamodb, table)
    task = a_sent_task(spec=TYPICAL)
    failure = Failure(
        outcome=Outcome.FAILED, error=TaskError(type="HTTPStatusError", message="503: busy")
    )
    [put] = store.put([task])
    sizes = [size_of(items_in(dynamodb, table)[schema.TASK])]
    for make in (
        lambda t: lease(delivery_of(t, NOW), now=t.due_at, holder="0123456789abcdef"),
        lambda t: fail(WAKE_POLICY, t, failure, now=t.due_at + SECOND, draw=a_draw()),
        lambda t: lease(delivery_of(t, NOW), now=t.due_at, holder="0123456789abcdef"),
        lambda t: succeed(t, result='{"status":200,"body":"sent"}', now=t.due_at + SECOND),
    ):
        [put] = store.apply([make(put.stored)])
        sizes.append(size_of(items_in(dynamodb, table)[schema.TASK]))

    assert set(items_in(dynamodb, table)) == {schema.TASK}
    assert max(sizes) < 0.75 * KB


@pytest.mark.parametrize("text", [None, LONG], ids=["texts that fit", "long texts"])
def test_the_fullest_item_stays_below_1_kb(dynamodb: Any, table: str, text: str | None):
    task = full(text)
    result = text or filled(texts.RESULT_LIMIT, texts.result_text)
    store = a_store(dynamodb, table)

    store.put([task])
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB
    store.apply([succeed(task, result=result, now=NOW)])
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB
    assert len(items_in(dynamodb, table)) == (4 if text else 1)


@pytest.mark.parametrize("text", [None, LONG], ids=["texts that fit", "long texts"])
def test_the_fullest_item_of_a_unique_task_stays_below_1_kb(
    dynamodb: Any, table: str, text: str | None
):
    """Its key stays in the item, even if its spec is long: see duetime.aws.event_records."""
    unique = Unique(key="k" * 128, held_while=HeldWhile.PENDING, on_conflict=OnConflict.REPLACE)

    def a_unique_spec(payload: str) -> Spec:
        return a_spec(payload=payload, expires_at=NOW + DAY, unique=unique, name="n" * 64)

    payload = text or filled(texts.SPEC_LIMIT, lambda t: texts.spec_text(a_unique_spec(t)))
    task = replace(full(text), spec=a_unique_spec(payload), body_hash="0123456789abcdef")
    store = a_store(dynamodb, table)

    store.put([task])
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB
    store.apply([succeed(task, result="r", now=NOW)])
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB


@pytest.mark.parametrize("text", [None, LONG], ids=["texts that fit", "long texts"])
def test_the_fullest_item_of_a_child_stays_below_1_kb(dynamodb: Any, table: str, text: str | None):
    def a_childs_spec(payload: str) -> Spec:
        return a_spec(payload=payload, expires_at=NOW + DAY, parent_id=an_id(), name="n" * 64)

    payload = text or filled(texts.SPEC_LIMIT, lambda t: texts.spec_text(a_childs_spec(t)))
    task = replace(full(text), spec=a_childs_spec(payload))
    store = a_store(dynamodb, table)

    store.put([task])
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB
    assert store.get([task.id]) == {task.id: task}
    store.apply([succeed(task, result="r", now=NOW)])
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB


@pytest.mark.parametrize("text", [None, LONG], ids=["texts that fit", "long texts"])
def test_the_fullest_dead_item_stays_below_1_kb(dynamodb: Any, table: str, text: str | None):
    task = replace(full(text), attempt=100)
    message = text or filled(texts.ATTEMPT_LIMIT, lambda t: texts.attempt_text(an_ended_attempt(t)))
    error = TaskError(type="TimeoutError", message=message, traceback=text)
    failure = Failure(outcome=Outcome.TIMED_OUT, error=error)
    store = a_store(dynamodb, table)
    store.put([task])

    [dead] = store.apply([fail(WAKE_POLICY, task, failure, now=NOW, draw=a_draw())])

    assert dead.stored.status is Status.DEAD
    assert dead.stored.current.error == error
    assert size_of(items_in(dynamodb, table)[schema.TASK]) < KB


def test_a_stub_has_the_error_without_its_traceback():
    """The stream has only stubs, and every byte of them is billed with the item."""
    error = TaskError(type="ValueError", message="no", traceback=LONG)
    text = texts.attempt_text(replace(an_ended_attempt(""), error=error))

    stub = decode_attempt(texts.resolve(text.value, None))

    assert stub.error == TaskError(type="ValueError", message="no")
    assert LONG in text.overflow[1]


@pytest.mark.parametrize("name", [None, "nightly", "n" * 256])
def test_a_stub_has_the_occurrence(name: str | None):
    """The relay sees only stubs, and must know whether a task has a follow-up."""
    of = an_occurrence(name)
    text = texts.spec_text(a_spec(payload=LONG, occurrence=of))

    stub = decode_spec(texts.resolve(text.value, None))

    assert stub.occurrence == replace(of, name=name and name[:64])
    assert decode_spec(text.overflow[1]).occurrence == of


def test_long_texts_have_rows_of_their_own(dynamodb: Any, table: str):
    task = full(LONG)
    store = a_store(dynamodb, table)
    store.put([task])
    store.apply([succeed(task, result=LONG, now=NOW)])

    kinds = sorted(sk.partition("#")[0] for sk in items_in(dynamodb, table))
    assert kinds == ["result", "run", "spec", "task"]


def test_a_step_costs_the_same_calls_for_a_short_and_a_long_payload(dynamodb: Any, table: str):
    calls = []
    for payload in ("short", LONG):
        task = a_sent_task(spec=a_spec(run_at=NOW, payload=payload))
        store = a_store(dynamodb, table)
        store.put([task])
        with asked_of(dynamodb) as asked:
            [leased] = store.apply([lease(delivery_of(task, NOW), now=NOW, holder="me")])
            [renewed] = store.apply([renew(leased.stored, now=NOW + SECOND)])
            store.apply([succeed(renewed.stored, result="1", now=NOW + MINUTE)])
        calls.append(asked)

    assert calls == [["UpdateItem"] * 3] * 2


def test_an_executor_reads_a_long_payload_once(dynamodb: Any, table: str):
    task = a_sent_task(spec=a_spec(run_at=NOW, payload=LONG))
    a_store(dynamodb, table).put([task])
    store = a_store(dynamodb, table)

    with asked_of(dynamodb) as asked:
        [leased] = store.apply([lease(delivery_of(task, NOW), now=NOW, holder="me")])
        store.apply([renew(leased.stored, now=NOW + SECOND)])

    assert asked == ["UpdateItem", "BatchGetItem", "UpdateItem"]


def test_a_refusal_returns_the_stored_task_without_a_second_call(dynamodb: Any, table: str):
    task = a_running_task()
    store = a_store(dynamodb, table)
    store.put([task])

    with asked_of(dynamodb) as asked:
        [refused] = store.apply([renew(replace(task, holder="other"), now=NOW)])

    assert (asked, refused.stored) == (["UpdateItem"], task)


def test_more_text_than_one_response_holds_is_read(dynamodb: Any, table: str):
    noise = text_of(240_000)  # about 200 KB when it is compressed
    tasks = [a_sent_task(spec=a_spec(payload=noise + str(n))) for n in range(85)]
    a_store(dynamodb, table).put(tasks)

    with asked_of(dynamodb) as asked:
        found = a_store(dynamodb, table).get([task.id for task in tasks])

    assert found == {task.id: task for task in tasks}
    assert asked == ["BatchGetItem consistent", "BatchGetItem", "BatchGetItem"]


@pytest.mark.parametrize("kind", ["spec", "result", "run"])
def test_a_task_without_its_text_is_corrupt(dynamodb: Any, table: str, kind: str):
    task = replace(full(LONG), result=LONG)
    a_store(dynamodb, table).put([task])
    for sk, item in items_in(dynamodb, table).items():
        if sk.startswith(kind):
            dynamodb.delete_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})

    with pytest.raises(Corrupt, match=f"{task.id}.*{kind}#"):
        a_store(dynamodb, table).get([task.id])


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        (schema.SPEC, {"S": "{"}),
        (schema.SPEC, {"S": '{"unheard": "of"}'}),
        (schema.SPEC, {"N": "7"}),
        (schema.STATUS, {"S": "ASLEEP"}),
        (schema.WAKE_KEY, {"S": "d#1"}),
        (schema.CURRENT, {"S": "[1]"}),
        (schema.TOKEN, None),
    ],
)
def test_an_item_that_cannot_be_read_is_corrupt(
    dynamodb: Any, table: str, attribute: str, value: dict | None
):
    task = a_running_task()
    store = a_store(dynamodb, table)
    store.put([task])
    item = dict(items_in(dynamodb, table)[schema.TASK])
    if value is None:
        del item[attribute]
    else:
        item[attribute] = value
    dynamodb.put_item(TableName=table, Item=item)

    with pytest.raises(Corrupt) as caught:
        store.get([task.id])
    assert task.id in caught.value.item


def test_a_corrupt_task_does_not_spoil_the_answers_for_the_others(dynamodb: Any, table: str):
    tasks = [a_running_task() for _ in range(3)]
    store = a_store(dynamodb, table)
    store.put(tasks)
    dynamodb.update_item(
        TableName=table,
        Key={"pk": {"S": schema.task_pk(tasks[1].id)}, "sk": {"S": schema.TASK}},
        UpdateExpression=f"REMOVE {schema.SPEC}",
    )

    first, second, third = store.apply([renew(task, now=NOW) for task in tasks])

    assert isinstance(first, Applied)
    assert isinstance(second, Unreadable)
    assert tasks[1].id in second.reason
    assert isinstance(third, Applied)


@pytest.mark.parametrize("key", ["d#1", "x#1#0000000000000#id", "d#9#0000000000000#id", "?"])
def test_an_unreadable_wake_does_not_delay_its_bucket(dynamodb: Any, table: str, key: str):
    task = a_running_task()
    store = a_store(dynamodb, table)
    store.put([task])
    row = {"pk": "stray", "sk": "row", schema.WAKE_BUCKET: task.wake.bucket, schema.WAKE_KEY: key}
    dynamodb.put_item(TableName=table, Item={name: {"S": text} for name, text in row.items()})

    wakes = store.wakes(minute_of(task.wake.at), shard_of(task.id, WAKE_POLICY.shards))

    assert list(wakes) == [task.wake]
    assert store.few_wakes(2) == [task.wake]


def test_a_refused_put_leaves_the_stored_text(dynamodb: Any, table: str):
    """Two submissions with one key and a relative delay differ in their specs."""
    task_id = an_id()
    first, second = (a_sent_task(id=task_id, spec=a_spec(payload=p + LONG)) for p in "ab")
    a_store(dynamodb, table).put([first])
    a_store(dynamodb, table).put([second])

    assert a_store(dynamodb, table).get([task_id]) == {task_id: first}


def test_the_item_of_a_finished_task_is_in_no_wake_index(dynamodb: Any, table: str):
    task = a_running_task()
    store = a_store(dynamodb, table)
    store.put([task])
    store.apply([succeed(task, result=None, now=NOW)])

    item = items_in(dynamodb, table)[schema.TASK]
    assert item[schema.STATUS] == {"S": Status.SUCCEEDED}
    assert not {schema.WAKE_BUCKET, schema.WAKE_KEY, schema.LEASE_UNTIL} & set(item)


def changed(task: Task, payload: str) -> Change:
    wanted = Deferral(spec=replace(task.spec, payload=payload), due_at=NOW + DAY)
    return defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())


def test_change_of_a_small_task_is_one_call(dynamodb: Any, table: str):
    task, store = a_task(), a_store(dynamodb, table)
    store.put([task])

    with asked_of(dynamodb) as asked:
        store.apply([changed(task, "new")])

    assert asked == ["UpdateItem"]


def test_text_of_a_replaced_spec_stays_until_its_task_is_removed(dynamodb: Any, table: str):
    """A reader may be about to read it. The item says that it is there."""
    task, store = a_task(spec=a_spec(payload="p" * 1_000)), a_store(dynamodb, table)
    store.put([task])

    [answer] = store.apply([changed(task, "short")])

    rows = items_in(dynamodb, table)
    assert sorted(sk.partition("#")[0] for sk in rows) == ["spec", "task"]
    assert store.get([task.id]) == {task.id: answer.stored}
    ended = rows[schema.TASK] | {schema.STATUS: {"S": "SUCCEEDED"}}
    removed = {
        "eventName": "REMOVE",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {"OldImage": ended, "SequenceNumber": "1", "ApproximateCreationDateTime": 1},
    }
    found = removed_task_of_record(removed)
    assert found is not None
    assert (found.task_id, found.has_rows) == (task.id, True)


def test_change_that_is_refused_leaves_the_stored_text(dynamodb: Any, table: str):
    task, store = a_task(spec=a_spec(payload="p" * 1_000)), a_store(dynamodb, table)
    store.put([task])
    late = changed(replace(task, token="another"), "q" * 1_000)

    assert store.apply([late]) == [Refused(task)]
    assert a_store(dynamodb, table).get([task.id]) == {task.id: task}


def test_expiry_that_is_removed_leaves_no_attribute(dynamodb: Any, table: str):
    task, store = a_task(spec=a_spec(expires_at=NOW + 2 * DAY)), a_store(dynamodb, table)
    store.put([task])
    wanted = Deferral(spec=replace(task.spec, expires_at=None), due_at=task.due_at)

    store.apply([defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())])

    assert schema.EXPIRES_AT not in items_in(dynamodb, table)[schema.TASK]
