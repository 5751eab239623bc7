"""How a schedule lies in the table: small, and apart from a long plan."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bench.billing.units import size_of
from lambdas.aws import schedule_store as module
from lambdas.aws import schema, unprocessed
from lambdas.aws.change_feed import StreamFeed, stream_of
from lambdas.aws.clients import streams
from lambdas.aws.events import change_of_record, left_behind_by_record
from lambdas.aws.schedule_store import DynamoScheduleStore
from lambdas.core.change import Unknown
from lambdas.core.errors import Unavailable
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import CronRule, Recurrence
from lambdas.core.schedules.ledger import KEPT_FOR, Expected, LedgerRow, LedgerSpan
from lambdas.core.schedules.ports import Differs, ScheduleListing, Stands
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.times import SECOND
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
    assert schedules.put([schedule]) == [Stands(schedule)]
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

    assert schedules.put([replanned(schedule, "short")]) == [Differs(stepped)]
    assert schedules.get([schedule.id]) == {schedule.id: stepped}


class Interfering:
    """A client that lets something else happen before one of its calls, once."""

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


def test_a_plan_that_is_replaced_while_it_is_read(
    interfering: Interfering, disturbed: DynamoScheduleStore, schedules: DynamoScheduleStore
):
    """After its schedule was read, and before it is itself."""
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    changed = replanned(schedule, LONG + "!")

    def change(_: Any) -> None:
        interfering.before["batch_get_item"] = lambda _: put(schedules, changed)

    interfering.before["batch_get_item"] = change

    assert disturbed.get([schedule.id]) == {schedule.id: changed}


def test_a_schedule_that_is_deleted_while_it_is_read(
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
def test_who_changes_a_plan_and_is_too_late_learns_so_and_deletes_none(
    interfering: Interfering,
    disturbed: DynamoScheduleStore,
    schedules: DynamoScheduleStore,
    change: Any,
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    winner = change(schedule)
    interfering.before["put_item"] = lambda _: put(schedules, winner)

    assert disturbed.put([replanned(schedule, LONG + "?")]) == [Differs(winner)]
    fresh = DynamoScheduleStore(interfering, schedules._table.name, clock=SteppedClock())
    assert fresh.get([schedule.id]) == {schedule.id: winner}


def unavailable(_: Any) -> None:
    raise Unavailable("throttled")


def test_a_write_that_is_not_answered_is_unknown_and_holds_nobody_up(
    interfering: Interfering, disturbed: DynamoScheduleStore
):
    interfering.before["put_item"] = unavailable
    some = [a_schedule() for _ in range(3)]

    answers = disturbed.put(some)

    assert sorted(type(answer).__name__ for answer in answers) == ["Stands", "Stands", "Unknown"]
    [lost] = [s for s, answer in zip(some, answers, strict=True) if isinstance(answer, Unknown)]
    assert disturbed.get([s.id for s in some]) == {s.id: s for s in some if s is not lost}


def test_an_entry_that_is_not_written_is_told(
    interfering: Interfering, disturbed: DynamoScheduleStore
):
    interfering.before["put_item"] = unavailable

    with pytest.raises(Unavailable):
        disturbed.note([a_row(an_id())], NOW)


@pytest.mark.parametrize("kind", ["changed", "deleted"])
def test_what_cannot_be_cleared_away_stays_and_does_no_harm(
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
    assert "stays: throttled" in caplog.text


def test_a_deletion_that_is_not_answered_is_told(
    interfering: Interfering, disturbed: DynamoScheduleStore
):
    schedule = put(disturbed, a_schedule())
    interfering.before["batch_write_item"] = unavailable

    with pytest.raises(Unavailable):
        disturbed.delete(schedule.id)


def a_row(schedule_id: str, at: int = NOW) -> LedgerRow:
    return LedgerRow(
        schedule_id=schedule_id, fire_time=at, version=1, outcome=Expected.FIRED, task_id=an_id()
    )


def test_nothing_is_left_of_a_deleted_schedule(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore
):
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    put(schedules, advanced(schedule))
    schedules.note([a_row(schedule.id, NOW - n) for n in range(40)], NOW)

    schedules.delete(schedule.id)

    assert items_in(dynamodb, table) == {}


def test_a_long_ledger_is_left_to_time(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_DELETED", 5)
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    schedules.note([a_row(schedule.id, NOW - n) for n in range(8)], NOW)

    schedules.delete(schedule.id)

    left = items_in(dynamodb, table)
    assert len(left) == 3
    assert all(sk.startswith(schema.LEDGER_PREFIX) for sk in left), "its plan has no time limit"
    assert all(schema.REMOVE_AFTER in row for row in left.values())


@pytest.mark.parametrize(
    ("at", "now", "since"), [(NOW, NOW - 5, NOW), (NOW - 5, NOW, NOW)], ids=["ahead", "past"]
)
def test_an_entry_says_when_it_may_go(
    dynamodb: Any, table: str, schedules: DynamoScheduleStore, at: int, now: int, since: int
):
    entry = a_row(an_id(), at)
    span = LedgerSpan(
        schedule_id=entry.schedule_id,
        start=at - 100,
        until=at,
        outcome=Expected.PAUSED,
        recurrence=ORDINARY.plan.recurrence,
    )
    schedules.note([entry, span], now)

    rows = items_in(dynamodb, table).values()
    until = {"N": str((since + KEPT_FOR) // SECOND + 1)}
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


def test_a_page_that_finds_little_ends_somewhere(
    schedules: DynamoScheduleStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_ROUNDS", 2)
    some = [put(schedules, a_schedule()) for _ in range(5)][::-1]

    page = schedules.page(ScheduleListing(limit=1, status=ScheduleStatus.BROKEN))

    assert (list(page.schedules), page.cursor) == ([], some[1].id)


def test_a_batch_that_is_read_in_parts(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch, schedules: DynamoScheduleStore
):
    some = [put(schedules, a_schedule()) for _ in range(3)]
    monkeypatch.setattr(unprocessed.time, "sleep", lambda _: None)

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


def test_the_relay_passes_over_all_of_it(dynamodb: Any, table: str, schedules: DynamoScheduleStore):
    feed = StreamFeed(streams(), stream_of(dynamodb, table), from_start=True)
    schedule = put(schedules, a_schedule(task=a_spec(payload=LONG)))
    put(schedules, advanced(schedule))
    schedules.note([a_row(schedule.id)], NOW)
    rows = list(items_in(dynamodb, table).values())
    schedules.delete(schedule.id)

    assert feed.poll() == []
    by_expiry = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    for row in rows:
        removed = {"eventName": "REMOVE", "userIdentity": by_expiry, "dynamodb": {"OldImage": row}}
        assert left_behind_by_record(removed) is None
        assert change_of_record({"eventName": "INSERT", "dynamodb": {"NewImage": row}}) is None
