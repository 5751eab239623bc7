"""The clocks of rate limits in the table: the AWS backend's RateStore.

One row for each limit and key, and one conditional write for all times that a request wants. A
process remembers what it last saw of a row only to guess which of two writes fits; the condition
decides.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.limits.definition import Rate
from duetime.core.limits.rate import (
    RateKey,
    RateState,
    SlotRequest,
    free_at_once,
    interval,
    slots_before,
    tat_after_block,
)
from duetime.core.quotas import NANOS_PER_SECOND, Nanos, nanos
from duetime.core.times import DAY, SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_ROUNDS = 5  # each but the first follows a wrong guess or a lost race
ROW_LIFE: Millis = DAY  # after the last time that was handed out
MAX_REMEMBERED = 10_000  # rows

TAT, BLOCKED, END = schema.TAT, schema.BLOCKED_UNTIL, schema.REMOVE_AFTER


class DynamoRateStore:
    def __init__(
        self, client: "DynamoDBClient", table: str, parallel: ParallelCalls | None = None
    ) -> None:
        self._table = Table(client, table)
        self._parallel = parallel or ParallelCalls()
        self._seen: dict[RateKey, RateState] = {}

    def reserve(self, requests: Sequence[SlotRequest]) -> list[Sequence[Millis] | Unknown]:
        return self._parallel.each(self._reserve, requests)

    def states(self, keys: Sequence[RateKey]) -> list[RateState]:
        return self._parallel.each(lambda key: _state(self._table.get(*_place(key))), keys)

    def block(self, key: RateKey, rate: Rate, until: Millis) -> None:
        """Two writes, of which the first is enough unless times are handed out beyond `until`. Each
        only ever makes the row later, so neither needs to know what it was."""
        ends_at = (until + ROW_LIFE) // SECOND
        values = {":tat": tat_after_block(rate, until), ":until": until, ":end": ends_at}
        both = f"SET {TAT} = :tat, {BLOCKED} = :until, {END} = :end"
        row, written = self._write(
            key, both, f"attribute_not_exists({TAT}) OR {TAT} < :tat", values
        )
        if not written:
            newer = f"attribute_not_exists({BLOCKED}) OR {BLOCKED} < :until"
            row, _ = self._write(key, f"SET {BLOCKED} = :until", newer, {":until": until})
        self._remember(key, _state(row))

    def _reserve(self, request: SlotRequest) -> Sequence[Millis] | Unknown:
        try:
            return self._handed_out(request)
        except Unavailable as error:
            return Unknown(str(error))

    def _handed_out(self, request: SlotRequest) -> Sequence[Millis]:
        """An SDK that repeats a write whose answer was lost moves the clock twice: the times of the
        first write are wasted."""
        rate, now = request.rate, request.asked_at
        state = self._seen.get(request.key, RateState())
        for _ in range(MAX_ROUNDS):
            count = request.count
            if request.at_once:
                count = min(count, free_at_once(state, rate, now))
            if count == 0:
                return []
            row, written = self._write(request.key, *_reservation(state, request, count))
            state = _state(row)
            self._remember(request.key, state)
            if written:
                return slots_before(state, rate, count, now)
        raise Unavailable(f"rate limit {request.key.name!r}: too many writers")

    def _write(
        self, key: RateKey, change: str, condition: str, values: dict[str, int]
    ) -> tuple[Item | None, bool]:
        pk, sk = _place(key)
        parameters: dict[str, Any] = {
            "Key": {schema.PK: {"S": pk}, schema.SK: {"S": sk}},
            "UpdateExpression": change,
            "ConditionExpression": condition,
            "ExpressionAttributeValues": {name: {"N": str(n)} for name, n in values.items()},
        }
        return self._table.update_if(parameters)

    def _remember(self, key: RateKey, state: RateState) -> None:
        if len(self._seen) >= MAX_REMEMBERED:
            self._seen.clear()
        self._seen[key] = state


def _reservation(
    state: RateState, request: SlotRequest, count: int
) -> tuple[str, str, dict[str, int]]:
    """Returns the update, its condition and their values. Neither of the usual two conditions names
    the exact state, so processes that reserve at the same time all succeed:

    - The limit is idle: its clock starts from now.
    - It is not: its clock moves on. Its row ends so much later; at least a second, which only
      keeps the row for longer.

    What is free at once depends on the exact state, so the clock must be where it was seen."""
    cost, now = count * interval(request.rate), nanos(request.asked_at)
    values: dict[str, Nanos] = {":now": now}
    if state.tat < now:
        condition = f"attribute_not_exists({TAT}) OR {TAT} < :now"
        values |= {":tat": now + cost, ":end": _seconds(now + cost) + ROW_LIFE // SECOND}
        return f"SET {TAT} = :tat, {END} = :end", condition, values
    change = f"SET {TAT} = {TAT} + :cost, {END} = {END} + :more"
    values |= {":cost": cost, ":more": _seconds(cost)}
    if request.at_once:
        del values[":now"]
        return change, f"{TAT} = :seen", values | {":seen": state.tat}
    return change, f"{TAT} >= :now", values


def _seconds(span: Nanos) -> int:
    return -(-span // NANOS_PER_SECOND)


def _state(row: Item | None) -> RateState:
    if row is None:
        return RateState()
    return RateState(tat=_number(row, TAT), blocked_until=_number(row, BLOCKED))


def _number(row: Item, name: str) -> int:
    return int(row[name]["N"]) if name in row else 0


def _place(key: RateKey) -> tuple[str, str]:
    return schema.limit_pk(key.namespace, key.name, key.key), schema.RATE
