"""The drain of an outbox: submits every task in it once, although it may die at any point.

1. It writes an id into each row that has none, and commits.
2. It posts the tasks with these ids. Duetime stores one task for an id.
3. It deletes the rows whose tasks are stored.

A drain that dies between two steps leaves rows with ids, and the next drain posts the same ids
again. Duetime refuses an id that is older than five minutes. The drain then reads the task: if it
exists, the row is deleted; if not, the row gets a new id. It waits until the id is six minutes old,
because a request with that id may still be on its way to the store.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from duetime.client.errors import ApiError
from duetime.core.errors import DuetimeError
from duetime.core.ids import created_at
from duetime.core.times import MINUTE, SECOND, Millis, seconds
from duetime.core.value import value
from duetime.outbox.rows import Row, Rows

if TYPE_CHECKING:
    from duetime.client.client import Client
    from duetime.client.types import BatchResult, TaskFields

BATCH = 100  # tasks in a request
BATCH_BYTES = 4 << 20  # of bodies; a request may have 5 MiB
MAX_ID_AGE: Millis = 5 * MINUTE  # of an id that the API accepts
ID_MARGIN: Millis = MINUTE  # clocks may differ this much, and a request may take this long
RETRY_DELAY: Millis = 10 * SECOND  # after a task that could not be stored for now

STORED = (HTTPStatus.OK, HTTPStatus.CREATED)
# The request is refused for what is in it.
FOR_ITS_CONTENT = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


class ClocksDiffer(DuetimeError):
    """Raised if Duetime refuses an id that was made just now."""

    def __init__(self) -> None:
        super().__init__("The clocks of this machine and of Duetime differ by minutes; set them")


@value(frozen=True, kw_only=True, slots=True)
class Drained:
    """What a drain has done with the rows that it found."""

    submitted: int = 0  # and deleted
    refused: int = 0  # kept with their error
    postponed: int = 0  # kept for a later drain: over a quota, for example


class Drain:
    def __init__(
        self,
        rows: Rows,
        client: "Client",
        *,
        now: Callable[[], Millis],
        make_id: Callable[[], str],
    ) -> None:
        self._rows = rows
        self._client = client
        self._now = now
        self._make_id = make_id
        self._submitted = self._refused = self._postponed = 0

    def run(self) -> Drained:
        """Returns when no row is left that it may submit now."""
        while claimed := self._rows.claim(self._now(), BATCH, self._make_id):
            try:
                for batch in _batches(self._readable(claimed)):
                    self._submit(batch)
            except BaseException:
                self._release(claimed)
                raise
        return Drained(submitted=self._submitted, refused=self._refused, postponed=self._postponed)

    def _release(self, rows: Sequence[Row]) -> None:
        """So that the next drain need not wait for the end of the claims. If the database fails
        too, it waits."""
        with suppress(Exception):
            for row in rows:
                self._rows.postpone(row, None)

    def _readable(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Refuses a row that was written, or changed, by other means than `Outbox.add`."""
        for row in rows:
            if _is_object(row.body):
                yield row
            else:
                self._refuse(row, "body: is not a JSON object")

    def _submit(self, batch: Sequence[Row]) -> None:
        tasks = [{**json.loads(row.body), "id": row.task_id} for row in batch]
        try:
            results = self._client.submit_batch(cast("list[TaskFields]", tasks))
        except ApiError as error:
            if error.status not in FOR_ITS_CONTENT:
                raise
            if len(batch) > 1:  # one of them may be to blame
                for row in batch:
                    self._submit([row])
                return
            problem = dict(error.problem) or {"title": str(error)}
            results = [{"status": error.status, "error": problem}]
        stored = [r for r, result in zip(batch, results, strict=True) if _is_stored(result)]
        self._delete(stored)
        for row, result in zip(batch, results, strict=True):
            if not _is_stored(result):
                self._keep(row, result)

    def _delete(self, rows: Sequence[Row]) -> None:
        if rows:
            self._rows.delete(rows)
            self._submitted += len(rows)

    def _keep(self, row: Row, result: "BatchResult") -> None:
        problem, status = result.get("error", {}), result["status"]
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            pause = seconds(problem.get("retry_after") or 0)
            self._postpone(row, self._now() + max(pause, RETRY_DELAY))
        elif status == HTTPStatus.CONFLICT and "id" in _fields(problem):
            self._refuse(row, f"the body was changed after task {row.task_id} was stored")
        elif "id" in _fields(problem):
            self._replace_old_id(row)
        elif self._exists(row.task_id):
            # Stored before; what was valid then, such as its expiry, is not valid now.
            self._delete([row])
        else:
            self._refuse(row, _text(problem))

    def _replace_old_id(self, row: Row) -> None:
        made_at = created_at(row.task_id)
        age = abs(self._now() - made_at)
        if age < MAX_ID_AGE - ID_MARGIN:
            raise ClocksDiffer
        if age < MAX_ID_AGE + ID_MARGIN:
            self._postpone(row, made_at + MAX_ID_AGE + ID_MARGIN)
        elif self._exists(row.task_id):
            self._delete([row])
        else:
            self._rows.replace_id(row)  # this drain claims the row again

    def _refuse(self, row: Row, error: str) -> None:
        self._rows.refuse(row, error)
        self._refused += 1

    def _postpone(self, row: Row, until: Millis) -> None:
        self._rows.postpone(row, until)
        self._postponed += 1

    def _exists(self, task_id: str) -> bool:
        try:
            self._client.get(task_id)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            return False
        return True


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yields rows that fit into one request."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        if batch and size + len(row.body) > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row.body)
    if batch:
        yield batch


def _is_object(body: str) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _is_stored(result: "BatchResult") -> bool:
    return result["status"] in STORED


def _fields(problem: Mapping[str, Any]) -> list[str]:
    return [str(error.get("field")) for error in problem.get("errors") or ()]


def _text(problem: Mapping[str, Any]) -> str:
    errors = [f"{e.get('field')}: {e.get('message')}" for e in problem.get("errors") or ()]
    return "; ".join(errors) or str(problem.get("detail") or problem.get("title") or "refused")
