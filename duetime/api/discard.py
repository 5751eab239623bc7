"""DELETE /v1/dead-letters: discard dead tasks, by id, by a filter or all of them."""

from duetime.api.bulk import MAX_TASKS, NOT_FOUND, Bulk, Tally
from duetime.api.bulk_actions import Discard
from duetime.api.dead_letters import FILTERS, dead_listing_of
from duetime.api.http import FieldError, Request, Response, excerpt, invalid
from duetime.api.query import Query
from duetime.core.ids import is_id
from duetime.core.lifecycle import Status
from duetime.core.listings import DeadListing
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.value import value

MAX_IDS = 100  # of one call: they are in its URL
SELECTION = f"give ids, a filter ({', '.join(FILTERS)}) or all=true"


@value(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which dead tasks a request discards."""

    ids: tuple[str, ...]
    listing: DeadListing
    limit: int
    dry_run: bool


def discard_dead(ports: Ports, request: Request) -> Response:
    chosen = _selection(request)
    if chosen.ids:
        tally = _discard_named(ports, chosen)
    else:
        tally = Bulk(
            clock=ports.clock,
            read=ports.store.dead,
            listing=chosen.listing,
            action=Discard(ports=ports),
            dry_run=chosen.dry_run,
        ).run(chosen.limit)
    return Response(status=200, body=tally.json(dry_run=chosen.dry_run))


def _discard_named(ports: Ports, chosen: Selection) -> Tally:
    tally = Tally()
    found = ports.store.get([task_id for task_id in chosen.ids if is_id(task_id)])
    reasons = {task_id: _not_dead(found.get(task_id)) for task_id in chosen.ids}
    tally.matched = len(chosen.ids)
    tally.reasons |= {excerpt(i): reason for i, reason in reasons.items() if reason is not None}
    if not chosen.dry_run:
        dead = [found[i] for i, reason in reasons.items() if reason is None]
        after = Discard(ports=ports).apply(dead, 0)
        tally.reasons |= {t.id: r for t, r in zip(dead, after, strict=True) if r is not None}
    return tally


def _not_dead(task: Task | None) -> str | None:
    if task is None:
        return NOT_FOUND
    return None if task.status is Status.DEAD else f"it is {task.status}"


def _selection(request: Request) -> Selection:
    query = Query(request)
    given = [name for name in ("ids", *FILTERS, "all") if request.query.get(name)]
    ids = tuple(dict.fromkeys(query.several("ids", separator=",")))
    limit = query.number("limit", MAX_TASKS)
    everything = query.flag("all", default=False)
    chosen = Selection(
        ids=ids,
        listing=dead_listing_of(query),
        limit=limit,
        dry_run=query.flag("dry_run", default=False),
    )
    query.done()
    errors = [*_selection_errors(given, everything=everything), *_errors(request, chosen)]
    if errors:
        raise invalid(errors)
    return chosen


def _selection_errors(given: list[str], *, everything: bool) -> list[FieldError]:
    """Requires exactly one way to select tasks, so that no request discards all by accident."""
    if "all" in given and not everything:
        return [FieldError("all", "must be true, or left out")]
    filters = [name for name in given if name in FILTERS]
    ways = [name for name in given if name not in FILTERS] + filters[:1]
    if not ways:
        return [FieldError("query", SELECTION)]
    return [FieldError(name, "give only one of ids, a filter and all") for name in ways[1:]]


def _errors(request: Request, chosen: Selection) -> list[FieldError]:
    errors = []
    if not 1 <= chosen.limit <= MAX_TASKS:
        errors.append(FieldError("limit", f"must be from 1 to {MAX_TASKS}"))
    if len(chosen.ids) > MAX_IDS:
        errors.append(FieldError("ids", f"must have at most {MAX_IDS} entries"))
    if chosen.ids:
        paging = [name for name in ("limit", "cursor") if request.query.get(name)]
        errors += [FieldError(name, "does not go with ids") for name in paging]
    return errors
