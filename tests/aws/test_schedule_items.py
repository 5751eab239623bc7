"""The items of schedules: small, with a long plan in a row of its own."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bench.billing.units import size_of
from duetime.aws import schedule_store as module
from duetime.aws import schema
from duetime.aws.clients import streams
from duetime.aws.event_records import change_of_record, removed_task_of_record
from duetime.aws.schedule_store import DynamoScheduleStore
from duetime.aws.stream_reader import StreamReader, stream_arn
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.errors import Unavailable
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import CronRule, Recurrence
from duetime.core.schedules.ledger import LEDGER_RETENTION, LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.schedules.ports import ScheduleListing
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import SECOND
from tests.aws.stored import asked_of, items_in
from tests.contract.test_schedules import advanced, replanned
from tests.factories import NOW, SteppedClock, a_schedule, a_spec, an_id

KB = 1024
LONG = "p" * 200_000
ORDINARY = a_schedule(
    recurrence=Recurrence(
        rules=(CronRule(expression="0 9 * * 1-5", timezone="America/Argentina/Buenos_Aires"),)
    ),
    task=a_spec(
        target={
            "type": "http",
            "url": "https://api.example.org/v2/reminders/deliver",
            "headers": {"Authorization": "Bearer 0123456789abcdef"},
        },
        payload={"customer": 48151, "template": "welcome", "locale": "de-DE"},
        name="daily-report",
        tags={"team": "growth"},
        run_at=0,
    ),
    name="daily-report",
    overlap=OverlapPolicy.QUEUE,
    pause_on_failure=3,
)


@pytest.fixture
def schedules(dynamodb: Any, table: str) -> Iterator[DynamoScheduleStore]:
    store = DynamoScheduleStore(dynamodb, table, clock=SteppedClock())
    yield store
    store.close()


def plans_in(dynamodb: Any, table: str) -> list[str]:
    return [sk for sk in items_in(dynamodb, table) if sk.startswith(schema.PLAN_PREFIX)]


def put(schedules: DynamoScheduleStore, schedule: Schedule) -> Schedule:
    assert schedules.put([schedule]) == [Applied(schedule)]
    return schedule


def test_an_ordinary_schedule_stays_below_1_kb_all_its_way(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    busy = replace(
        advanced(ORDINARY),
        version=12,
        runs=12_345,
        put_at=(NOW, NOW + 1),
        active=an_id(),
        waiting=(an_id(), an_id()),
        active_since=NOW,
        settled_until=NOW,
        dead_runs=(an_id(), an_id()),
    )
    for schedule in (ORDINARY, busy):
        put(schedules, schedule)
        assert list(items_in(dynamodb, table)) == [schema.SCHEDULE], "its plan is in it"
        assert size_of(items_in(dynamodb, table)[schema.SCHEDULE]) < KB


def test_a_step_is_one_request_that_leaves_a_long_plan_alone(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    before = items_in(dynamodb, table)
    assert size_of(before[schema.SCHEDULE]) < KB / 2

    with asked_of(dynamodb) as asked:
        put(schedules, advanced(schedule))

    assert asked == ["UpdateItem"]
    after = items_in(dynamodb, table)
    assert after[schema.SCHEDULE][schema.PLAN] == before[schema.SCHEDULE][schema.PLAN]


def test_a_plan_that_is_replaced_is_deleted(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    [first] = plans_in(dynamodb, table)

    changed = put(schedules, replanned(schedule, LONG + "!"))
    [second] = plans_in(dynamodb, table)
    back = put(schedules, replanned(changed, LONG))
    [third] = plans_in(dynamodb, table)
    assert len({first, second, third}) == 3, "a name is never used again"

    put(schedules, replanned(back, None))
    assert plans_in(dynamodb, table) == []


def test_a_write_that_was_refused_deletes_no_plan(schedules: DynamoScheduleStore):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    stepped = put(schedules, advanced(schedule))

    assert schedules.put([replanned(schedule, "short")]) == [Refused(stepped)]
    assert schedules.get([schedule.id]) == {schedule.id: stepped}


class Interfering:
    """A client that runs a function once before one of its calls."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.before: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        def made(**parameters: Any) -> Any:
            if interruption := self.before.pop(name, None):
                interruption(parameters)
            return call(**parameters)

        return made


@pytest.fixture
def interfering(dynamodb: Any) -> Interfering:
    return Interfering(dynamodb)


@pytest.fixture
def disturbed(interfering: Interfering, table: str) -> Iterator[DynamoScheduleStore]:
    store = DynamoScheduleStore(interfering, table, clock=SteppedClock())
    yield store
    store.close()


def test_a_schedule_whose_plan_is_replaced_while_it_is_read_is_read_again(
    interfering: Interfering, disturbed: DynamoScheduleStore, schedules: DynamoScheduleStore
):
    """The plan is replaced after its schedule was read and before the plan is read."""
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    changed = replanned(schedule, LONG + "!")

    def change(_: Any) -> None:
        interfering.before["batch_get_item"] = lambda _: put(schedules, changed)

    interfering.before["batch_get_item"] = change

    assert disturbed.get([schedule.id]) == {schedule.id: changed}


def test_a_schedule_that_is_deleted_while_it_is_read_is_not_found(
    interfering: Interfering,
    disturbed: DynamoScheduleStore,
    schedules: DynamoScheduleStore,
    caplog: pytest.LogCaptureFixture,
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))

    def delete(_: Any) -> None:
        interfering.before["batch_get_item"] = lambda _: schedules.delete(schedule.id)

    interfering.before["batch_get_item"] = delete

    assert disturbed.get([schedule.id]) == {}
    assert caplog.text == "", "nothing is wrong with it"


@pytest.mark.parametrize("change", [advanced, lambda s: replanned(s, LONG + "!")])
def test_a_plan_change_that_is_too_late_is_refused_and_deletes_no_plan(
    interfering: Interfering,
    disturbed: DynamoScheduleStore,
    schedules: DynamoScheduleStore,
    change: Any,
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    winner = change(schedule)
    interfering.before["put_item"] = lambda _: put(schedules, winner)

    assert disturbed.put([replanned(schedule, LONG + "?")]) == [Refused(winner)]
    fresh = DynamoScheduleStore(interfering, schedules._table.name, clock=SteppedClock())
    assert fresh.get([schedule.id]) == {schedule.id: winner}


def unavailable(_: Any) -> None:
    raise Unavailable("throttled")


def test_a_write_that_is_not_answered_is_unknown_and_delays_no_other(
    interfering: Interfering, disturbed: DynamoScheduleStore
):
    interfering.before["put_item"] = unavailable
    some = [a_schedule() for _ in range(3)]

    answers = disturbed.put(some)

    assert sorted(type(answer).__name__ for answer in answers) == ["Applied", "Applied", "Unknown"]
    [lost] = [s for s, answer in zip(some, answers, strict=True) if isinstance(answer, Unknown)]
    assert disturbed.get([s.id for s in some]) == {s.id: s for s in some if s is not lost}


def test_a_ledger_entry_that_is_not_written_raises_unavailable(
    interfering: Interfering, disturbed: DynamoScheduleStore
):
    interfering.before["put_item"] = unavailable

    with pytest.raises(Unavailable):
        disturbed.write_ledger([a_row(an_id())], NOW)


@pytest.mark.parametrize("kind", ["changed", "deleted"])
def test_rows_that_cannot_be_deleted_do_no_harm(
    interfering: Interfering,
    disturbed: DynamoScheduleStore,
    caplog: pytest.LogCaptureFixture,
    kind: str,
):
    schedule = put(disturbed, a_schedule(task=a_spec(payload=LONG)))
    if kind == "changed":
        interfering.before["batch_write_item"] = unavailable
        changed = put(disturbed, replanned(schedule, None))
        assert disturbed.get([schedule.id]) == {schedule.id: changed}
    else:
        interfering.before["query"] = unavailable
        disturbed.delete(schedule.id)
        assert disturbed.get([schedule.id]) == {}
    [record] = caplog.records
    assert (record.message, record.reason) == ("rows not deleted", "throttled")


def test_a_deletion_that_is_not_answered_raises_unavailable(
    interfering: Interfering, disturbed: DynamoScheduleStore
):
    schedule = put(disturbed, a_schedule())
    interfering.before["batch_write_item"] = unavailable

    with pytest.raises(Unavailable):
        disturbed.delete(schedule.id)


def a_row(schedule_id: str, at: int = NOW) -> LedgerRow:
    return LedgerRow(
        schedule_id=schedule_id,
        fire_time=at,
        version=1,
        outcome=LedgerOutcome.FIRED,
        task_id=an_id(),
    )


def test_nothing_is_left_of_a_deleted_schedule(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    put(schedules, advanced(schedule))
    schedules.write_ledger([a_row(schedule.id, NOW - n) for n in range(40)], NOW)

    schedules.delete(schedule.id)

    assert items_in(dynamodb, table) == {}


def test_a_long_ledger_is_removed_by_its_ttl(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_LEDGER_DELETES", 5)
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    schedules.write_ledger([a_row(schedule.id, NOW - n) for n in range(8)], NOW)

    schedules.delete(schedule.id)

    left = items_in(dynamodb, table)
    assert len(left) == 3
    assert all(sk.startswith(schema.LEDGER_PREFIX) for sk in left), "its plan has no time limit"
    assert all(schema.REMOVE_AFTER in row for row in left.values())


@pytest.mark.parametrize(
    ("at", "now", "since"), [(NOW, NOW - 5, NOW), (NOW - 5, NOW, NOW)], ids=["ahead", "past"]
)
def test_a_ledger_entry_has_a_ttl(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore, at: int, now: int, since: int
):
    entry = a_row(an_id(), at)
    span = LedgerSpan(
        schedule_id=entry.schedule_id,
        start=at - 100,
        until=at,
        outcome=LedgerOutcome.PAUSED,
        recurrence=ORDINARY.plan.recurrence,
    )
    schedules.write_ledger([entry, span], now)

    rows = items_in(dynamodb, table).values()
    until = {"N": str((since + LEDGER_RETENTION) // SECOND + 1)}
    assert [row[schema.REMOVE_AFTER] for row in rows] == [until] * 2


def test_a_list_reads_no_long_plan_that_it_does_not_show(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    put(schedules, a_schedule(task=a_spec(payload=LONG)))
    fresh = DynamoScheduleStore(dynamodb, table, clock=SteppedClock())

    with asked_of(dynamodb) as asked:
        page = fresh.page(ScheduleListing(status=ScheduleStatus.BROKEN))

    assert (list(page.schedules), page.cursor) == ([], None)
    assert asked == ["Query", "BatchGetItem consistent"]


def test_a_page_that_finds_few_schedules_has_a_cursor(
    schedules: DynamoScheduleStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_QUERY_ROUNDS", 2)
    some = [put(schedules, a_schedule()) for _ in range(5)][::-1]

    page = schedules.page(ScheduleListing(limit=1, status=ScheduleStatus.BROKEN))

    assert (list(page.schedules), page.cursor) == ([], some[1].id)


def test_unprocessed_keys_of_a_read_are_requested_again(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch, schedules: DynamoScheduleStore
):
    some = [put(schedules, a_schedule()) for _ in range(3)]
    monkeypatch.setattr("duetime.aws.table.time.sleep", lambda _: None)

    class Sparing(Interfering):
        def batch_get_item(self, RequestItems: Any) -> Any:
            [(name, asked)] = RequestItems.items()
            few = asked | {"Keys": asked["Keys"][:1]}
            answer = dynamodb.batch_get_item(RequestItems={name: few})
            if rest := asked["Keys"][1:]:
                answer["UnprocessedKeys"] = {name: {"Keys": rest}}
            return answer

    sparing = DynamoScheduleStore(Sparing(dynamodb), table, clock=SteppedClock())
    assert sparing.get([s.id for s in some]) == {s.id: s for s in some}


def test_the_relay_ignores_the_rows_of_schedules(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    feed = StreamReader(streams(), stream_arn(dynamodb, table), from_start=True)
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    put(schedules, advanced(schedule))
    schedules.write_ledger([a_row(schedule.id)], NOW)
    rows = list(items_in(dynamodb, table).values())
    schedules.delete(schedule.id)

    assert feed.poll() == []
    by_expiry = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    for row in rows:
        removed = {"eventName": "REMOVE", "userIdentity": by_expiry, "dynamodb": {"OldImage": row}}
        assert removed_task_of_record(removed) is None
        assert change_of_record({"eventName": "INSERT", "dynamodb": {"NewImage": row}}) is None
