"""/v1/dead-letters: list, redrive."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lambdas.api.fields import ErrorType, Moment, Word
from lambdas.api.http import FieldError, Request, Response, Router, invalid
from lambdas.api.models import read_body
from lambdas.api.pages import task_page
from lambdas.api.query import Query
from lambdas.api.redrive import Redrive
from lambdas.core.ports import DeadListing, Ports
from lambdas.core.times import Millis
from lambdas.core.values import value

REDRIVE_LIMIT = 1_000
FILTERS = ("namespace", "error_type", "died_after", "died_before")
SAY_WHICH = f'give ids, a filter ({", ".join(FILTERS)}) or "all": true'


def _true(wanted: bool) -> bool:
    if not wanted:
        raise ValueError("must be true, or left out")
    return wanted


class RedriveIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    ids: Annotated[list[str], Field(min_length=1, max_length=REDRIVE_LIMIT)] | None = None
    namespace: Word | None = None
    error_type: ErrorType | None = None
    died_after: Moment | None = None
    died_before: Moment | None = None
    all: Annotated[bool, AfterValidator(_true)] | None = None
    dry_run: bool = False
    limit: Annotated[int, Field(ge=1, le=REDRIVE_LIMIT)] | None = None
    cursor: str | None = None

    def check(self) -> None:
        """Nobody redrives everything by accident: which ones is said once, and in one way."""
        errors = [*self._which(), *_span(self.died_after, self.died_before)]
        if self.ids is not None:
            given = [name for name in ("limit", "cursor") if getattr(self, name) is not None]
            errors += [FieldError(name, "does not go with ids") for name in given]
        if errors:
            raise invalid(errors)

    def _which(self) -> list[FieldError]:
        filters = [name for name in FILTERS if getattr(self, name) is not None]
        ways = [*(["ids"] if self.ids else []), *filters[:1], *(["all"] if self.all else [])]
        if not ways:
            return [FieldError("body", SAY_WHICH)]
        return [FieldError(name, "give only one of ids, a filter and all") for name in ways[1:]]

    def listing(self) -> DeadListing:
        return DeadListing(
            namespace=self.namespace,
            error_type=self.error_type,
            since=self.died_after,
            before=self.died_before,
            cursor=self.cursor,
        )


@value(frozen=True, slots=True)
class DeadLetters:
    ports: Ports

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/dead-letters", self.page)
        router.add("POST", "/v1/dead-letters/redrive", self.redrive)

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = DeadListing(
            namespace=query.word("namespace"),
            error_type=query.error_type("error_type"),
            since=query.moment("died_after"),
            before=query.moment("died_before"),
            limit=query.limit(),
            cursor=query.text("cursor"),
        )
        query.done()
        if errors := _span(listing.since, listing.before):
            raise invalid(errors)
        return task_page(self.ports.store.dead, listing)

    def redrive(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        wanted = read_body(RedriveIn, request.json())
        wanted.check()
        redrive = Redrive(ports=self.ports, dry_run=wanted.dry_run)
        if wanted.ids is not None:
            tally = redrive.named(wanted.ids)
        else:
            tally = redrive.matching(wanted.listing(), wanted.limit or REDRIVE_LIMIT)
        return Response(status=200, body=tally.json(dry_run=wanted.dry_run))


def _span(after: Millis | None, before: Millis | None) -> list[FieldError]:
    if after is None or before is None or after < before:
        return []
    return [FieldError("died_before", "must be later than died_after")]
