"""/v1/dead-letters: list, redrive and discard."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from duetime.api.http import FieldError, Request, Response, Router, invalid, recent
from duetime.api.paging import task_page
from duetime.api.query import Query
from duetime.api.redrive import Redrive
from duetime.api.task_models import read_body
from duetime.api.validation import (
    ErrorType,
    Fingerprint,
    Moment,
    Word,
    fingerprint,
)
from duetime.core.listings import DeadListing
from duetime.core.ports import Ports
from duetime.core.times import Millis
from duetime.core.value import replace, value

REDRIVE_LIMIT = 1_000
FILTERS = ("namespace", "error_type", "handler", "fingerprint", "died_after", "died_before")
SELECTION_REQUIRED = f'give ids, a filter ({", ".join(FILTERS)}) or "all": true'


def _true(wanted: bool) -> bool:
    if not wanted:
        raise ValueError("must be true, or left out")
    return wanted


class RedriveIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    ids: Annotated[list[str], Field(min_length=1, max_length=REDRIVE_LIMIT)] | None = None
    namespace: Word | None = None
    error_type: ErrorType | None = None
    handler: Word | None = None
    fingerprint: Fingerprint | None = None
    died_after: Moment | None = None
    died_before: Moment | None = None
    all: Annotated[bool, AfterValidator(_true), Field(json_schema_extra={"const": True})] | None = (
        None
    )
    dry_run: bool = False
    limit: Annotated[int, Field(ge=1, le=REDRIVE_LIMIT)] | None = None
    cursor: str | None = None

    def check(self) -> None:
        """Requires exactly one way to select tasks, so that no request redrives all by accident."""
        errors = [*self._selection(), *_span_errors(self.died_after, self.died_before)]
        if self.ids is not None:
            paging = [name for name in ("limit", "cursor") if getattr(self, name) is not None]
            errors += [FieldError(name, "does not go with ids") for name in paging]
        if errors:
            raise invalid(errors)

    def _selection(self) -> list[FieldError]:
        filters = [name for name in FILTERS if getattr(self, name) is not None]
        ways = [*(["ids"] if self.ids else []), *filters[:1], *(["all"] if self.all else [])]
        if not ways:
            return [FieldError("body", SELECTION_REQUIRED)]
        return [FieldError(name, "give only one of ids, a filter and all") for name in ways[1:]]

    def listing(self) -> DeadListing:
        return DeadListing(
            namespace=self.namespace,
            error_type=self.error_type,
            handler=self.handler,
            fingerprint=self.fingerprint,
            since=self.died_after,
            before=self.died_before,
            cursor=self.cursor,
        )


@value(frozen=True, slots=True)
class DeadLetters:
    ports: Ports

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/dead-letters", self.page)
        router.add("GET", "/v1/dead-letters/groups", self.groups)
        router.add("DELETE", "/v1/dead-letters", self.discard)
        router.add("POST", "/v1/dead-letters/redrive", self.redrive)

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = replace(dead_listing_of(query), limit=query.limit())
        query.done()
        return task_page(self.ports.store.dead, listing)

    def groups(self, request: Request, _: Mapping[str, str]) -> Response:
        from duetime.api.dead_letter_groups import dead_letter_groups

        query = Query(request)
        since = query.moment("since")
        listing = dead_listing_of(query)
        query.done()
        if since is not None:
            if listing.since is not None:
                raise invalid([FieldError("since", "means the same as died_after: give one")])
            listing = replace(listing, since=since)
        return recent(dead_letter_groups(self.ports, listing))

    def discard(self, request: Request, _: Mapping[str, str]) -> Response:
        from duetime.api.discard import discard_dead  # most requests do not need it

        return discard_dead(self.ports, request)

    def redrive(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        body = read_body(RedriveIn, request.json())
        body.check()
        redrive = Redrive(ports=self.ports, dry_run=body.dry_run)
        if body.ids is not None:
            tally = redrive.named(body.ids)
        else:
            tally = redrive.matching(body.listing(), body.limit or REDRIVE_LIMIT)
        return Response(status=200, body=tally.json(dry_run=body.dry_run))


def dead_listing_of(query: Query) -> DeadListing:
    """Takes the filter of dead letters from a query, and leaves the other parameters."""
    listing = DeadListing(
        namespace=query.word("namespace"),
        error_type=query.error_type("error_type"),
        handler=query.word("handler"),
        fingerprint=_fingerprint(query),
        since=query.moment("died_after"),
        before=query.moment("died_before"),
        cursor=query.text("cursor"),
    )
    if errors := _span_errors(listing.since, listing.before):
        raise invalid(errors)
    return listing


def _fingerprint(query: Query) -> str | None:
    text = query.text("fingerprint")
    try:
        return None if text is None else fingerprint(text)
    except ValueError as error:
        raise invalid([FieldError("fingerprint", str(error))]) from None


def _span_errors(after: Millis | None, before: Millis | None) -> list[FieldError]:
    if after is None or before is None or after < before:
        return []
    return [FieldError("died_before", "must be later than died_after")]
