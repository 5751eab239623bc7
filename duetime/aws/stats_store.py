"""Statistics in DynamoDB: the AWS backend's StatsStore, which a stage has with `stats: "table"`.

The relay adds what a batch counted with one plain UpdateItem for each minute and lane, to one of
four rows at random, so that no row gets all writes. Some minutes after the end of an hour the
scanner writes its sum; until then an hour is read from its minutes.
"""

from collections.abc import Iterable, Sequence
from random import randrange
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.stats.counts import MAXIMA, NUMBERS, Counts, LaneCounts
from duetime.core.stats.ports import HOURS_KEPT, MINUTES_KEPT, StatsPage
from duetime.core.stats.series import in_steps
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis, to_datetime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ROWS = 4  # of a minute and lane
MAX_HOURS_OF_MINUTES = 24  # that one call reads: at most 9 MB, usually a hundredth of that
LATE: Millis = 5 * MINUTE  # a batch of the stream may come so late; then an hour is summed
NOT_SUMMED: Millis = 3 * HOUR  # before now, in which the sum of an hour may still be missing
MAX_SUMMED: Millis = DAY  # after an outage of the scanner


class DynamoStatsStore:
    def __init__(
        self, client: "DynamoDBClient", table: str, parallel: ParallelCalls | None = None
    ) -> None:
        self._table = Table(client, table)
        self._parallel = parallel or ParallelCalls()

    def add(self, counted: Sequence[LaneCounts]) -> None:
        self._parallel.each(self._add, counted)

    def minutes(self, since: Millis, until: Millis) -> StatsPage:
        last = (until - 1) // HOUR * HOUR
        since = max(since, last - (MAX_HOURS_OF_MINUTES - 1) * HOUR)
        hours = range(since // HOUR * HOUR, last + 1, HOUR)
        found = self._parallel.each(self._minutes_of, hours)
        rows = [row for rows in found for row in rows if since <= row.start < until]
        return StatsPage(rows=in_steps(rows, MINUTE), since=since)

    def hours(self, since: Millis, until: Millis) -> StatsPage:
        summed_until = max((until - NOT_SUMMED) // HOUR * HOUR, since)
        days = range(since // DAY * DAY, summed_until, DAY)
        summed = [row for rows in self._parallel.each(self._hours_of, days) for row in rows]
        rows = [row for row in summed if since <= row.start < summed_until]
        rows += self.minutes(summed_until, until).rows
        return StatsPage(rows=in_steps(rows, HOUR), since=since)

    def sum_hours(self, last_sum: Millis, now: Millis) -> None:
        """Writes the sums of the hours that have ended, with their late batches, since `last_sum`.
        To repeat it changes nothing."""
        end = (now - LATE) // HOUR * HOUR
        for start in range(max(last_sum - LATE, end - MAX_SUMMED) // HOUR * HOUR, end, HOUR):
            for row in in_steps(self._minutes_of(start), HOUR):
                self._table.put(_hour_item(row))

    def _add(self, row: LaneCounts) -> None:
        """An update without a condition: when its answer is lost, a repetition counts twice."""
        fields = {**_number_fields(row.counts), **_maximum_fields(row.counts)}
        fields_to_add = {name: field for name, field in fields.items() if field != {"N": "0"}}
        names = {f"#{place}": name for place, name in enumerate(fields_to_add)}
        added = ", ".join(f"#{place} :{place}" for place in range(len(names)))
        values: dict[str, Any] = {
            f":{place}": field for place, field in enumerate(fields_to_add.values())
        }
        self._table.update_if(
            {
                "Key": _minute_key(row, randrange(ROWS)),
                "UpdateExpression": f"ADD {added} SET {schema.REMOVE_AFTER} = :until",
                "ExpressionAttributeNames": names,
                "ExpressionAttributeValues": values | {":until": _removed(row, MINUTES_KEPT)},
            }
        )

    def _minutes_of(self, hour: Millis) -> list[LaneCounts]:
        rows = self._query(schema.stats_pk(f"{to_datetime(hour):%Y-%m-%dT%H}"))
        return [_row(item, hour, MINUTE) for item in rows]

    def _hours_of(self, day: Millis) -> list[LaneCounts]:
        rows = self._query(schema.stats_hours_pk(f"{to_datetime(day):%Y-%m-%d}"))
        return [_row(item, day, HOUR) for item in rows]

    def _query(self, pk: str) -> Iterable[Item]:
        return self._table.query(f"{schema.PK} = :pk", {":pk": pk})


def _row(item: Item, start: Millis, span: Millis) -> LaneCounts:
    place, lane = item[schema.SK]["S"].split("#")[:2]
    numbers = {name: int(item[name]["N"]) for name in NUMBERS if name in item}
    maxima = {name: max(map(int, item[name]["NS"])) for name in MAXIMA if name in item}
    return LaneCounts(start=start + int(place) * span, lane=lane, counts=Counts(numbers, maxima))


def _minute_key(row: LaneCounts, number: int) -> Item:
    hour = row.start // HOUR * HOUR
    return {
        schema.PK: {"S": schema.stats_pk(f"{to_datetime(hour):%Y-%m-%dT%H}")},
        schema.SK: {"S": f"{(row.start - hour) // MINUTE:02d}#{row.lane}#{number}"},
    }


def _hour_item(row: LaneCounts) -> Item:
    day = row.start // DAY * DAY
    return {
        schema.PK: {"S": schema.stats_hours_pk(f"{to_datetime(day):%Y-%m-%d}")},
        schema.SK: {"S": f"{(row.start - day) // HOUR:02d}#{row.lane}"},
        **_number_fields(row.counts),
        **_maximum_fields(row.counts),
        schema.REMOVE_AFTER: _removed(row, HOURS_KEPT),
    }


def _removed(row: LaneCounts, kept: Millis) -> Any:
    return {"N": str((row.start + kept) // SECOND)}


def _number_fields(counts: Counts) -> dict[str, Any]:
    return {name: {"N": str(number)} for name, number in counts.numbers.items()}


def _maximum_fields(counts: Counts) -> dict[str, Any]:
    """An ADD cannot compare, but it can add to a set. Rounded, the set stays small."""
    return {name: {"NS": [str(rounded_up(most))]} for name, most in counts.maxima.items()}


def rounded_up(number: int) -> int:
    """Returns the smallest number of two significant digits that is not less."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit
