"""POST /v1/purge: remove finished tasks before their retention ends."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from duetime.api.http import Request, Response, Router
from duetime.api.paging import read_page
from duetime.api.query import Query
from duetime.api.task_models import read_body
from duetime.api.validation import Word
from duetime.core.change import Applied
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import FINAL, Status
from duetime.core.listings import EndedListing
from duetime.core.ports import Ports
from duetime.core.retention import MAX_RETENTION
from duetime.core.task import Task
from duetime.core.times import SECOND, seconds
from duetime.core.value import value
from duetime.engine.removal import remove_tasks

PURGE_LIMIT = 1_000
BATCH = 100  # tasks that are archived and removed together
MAX_PAGES = 50  # of the store, in one call: a filter may match few tasks of a page

Final = Literal["SUCCEEDED", "CANCELLED", "EXPIRED"]


class PurgeIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    older_than: Annotated[float, Field(ge=0, le=MAX_RETENTION // SECOND)]
    namespace: Word | None = None
    status: Annotated[list[Final], Field(min_length=1)] | None = None
    dry_run: bool = False
    limit: Annotated[int, Field(ge=1, le=PURGE_LIMIT)] = PURGE_LIMIT
    cursor: str | None = None


@value()
class Tally:
    """The result of a purge so far."""

    cursor: str | None
    matched: int = 0
    removed: int = 0

    def json(self, *, dry_run: bool) -> dict[str, Any]:
        return {
            "matched": self.matched,
            "removed": self.removed,
            "dry_run": dry_run,
            "next_cursor": self.cursor,
        }


@value(frozen=True, slots=True)
class Purge:
    ports: Ports

    def add_to(self, router: Router) -> None:
        router.add("POST", "/v1/purge", self.purge)

    def purge(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        body = read_body(PurgeIn, request.json())
        listing = EndedListing(
            as_of=self.ports.clock.now(),
            kept_for=seconds(body.older_than),
            statuses=frozenset(map(Status, body.status)) if body.status else FINAL,
            namespace=body.namespace,
            cursor=body.cursor,
        )
        tally = self._matching(listing, body.limit, dry_run=body.dry_run)
        return Response(status=200, body=tally.json(dry_run=body.dry_run))

    def _matching(self, listing: EndedListing, limit: int, *, dry_run: bool) -> Tally:
        """If the store stops answering after the first page, returns what was done and the cursor
        to continue from."""
        tally = Tally(cursor=listing.cursor)
        for number in range(MAX_PAGES):
            size = min(BATCH, limit - tally.matched)
            try:
                wanted = replace(listing, limit=size, cursor=tally.cursor)
                page = read_page(self.ports.store.ended, wanted)
                removed = 0 if dry_run else self._remove(page.tasks)
            except Unavailable:
                if number == 0:
                    raise
                break
            tally.matched += len(page.tasks)
            tally.removed += removed
            tally.cursor = page.cursor
            if page.cursor is None or tally.matched >= limit:
                break
        return tally

    def _remove(self, tasks: Sequence[Task]) -> int:
        answers = remove_tasks(self.ports, tasks)
        return sum(isinstance(answer, Applied) for answer in answers)
