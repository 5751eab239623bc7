"""Checks the limits that tasks name before they are stored: they must exist, in the namespace of
the task, and go together."""

from collections.abc import Iterator, Mapping, Sequence

from duetime.core.known_names import known_names
from duetime.core.limits.definition import Limit, LimitUse, OnFull
from duetime.core.limits.ports import LimitListing, LimitStore
from duetime.core.task import Spec
from duetime.engine.refusal import FieldError, Refusal, excerpt, invalid

MAX_KNOWN = 100  # names that a refusal looks for a similar one in


def refused_limits(limits: LimitStore, specs: Sequence[Spec]) -> dict[int, Refusal]:
    """Returns the refusals, by the place of their specs. All limits of one namespace are read
    together, and may be what they were 5 s ago."""
    wanted: dict[str, dict[str, None]] = {}
    for spec in specs:
        for use in spec.limits:
            wanted.setdefault(spec.namespace, {})[use.name] = None
    known = {namespace: limits.recent(namespace, [*names]) for namespace, names in wanted.items()}
    refused = {}
    for place, spec in enumerate(specs):
        if spec.limits and (errors := limit_errors(limits, spec, known[spec.namespace])):
            refused[place] = invalid(errors)
    return refused


def limit_errors(
    limits: LimitStore, spec: Spec, known: Mapping[str, Limit] | None = None
) -> list[FieldError]:
    """Returns why a task cannot be under these limits. `known` are those that exist; without it
    they are read."""
    if known is None:
        known = limits.recent(spec.namespace, [use.name for use in spec.limits])
    missing = [(n, use.name) for n, use in enumerate(spec.limits) if use.name not in known]
    if missing:
        return [*_unknown(limits, spec.namespace, missing)]
    uses = [(use, known[use.name]) for use in spec.limits]
    return [*_draining(uses), *_too_many(uses), *_no_holder(uses)]


def _unknown(
    limits: LimitStore, namespace: str, missing: Sequence[tuple[int, str]]
) -> Iterator[FieldError]:
    page = limits.page(LimitListing(namespace=namespace, limit=MAX_KNOWN))
    names = [limit.name for limit in page.limits]
    for place, name in missing:
        what = f"there is no limit {name!r} in namespace {excerpt(namespace, 60)!r}"
        yield FieldError(f"limits.{place}.name", f"{what}; {known_names(name, names)}")


def _draining(uses: Sequence[tuple[LimitUse, Limit]]) -> Iterator[FieldError]:
    for place, (use, limit) in enumerate(uses):
        if limit.draining:
            message = f"limit {use.name!r} is being deleted: no new task may name it"
            yield FieldError(f"limits.{place}.name", message)


def _too_many(uses: Sequence[tuple[LimitUse, Limit]]) -> Iterator[FieldError]:
    """Of several rates a task would have to wait for the slowest, and waste slots of the others."""
    rates = [place for place, (_, limit) in enumerate(uses) if limit.rate]
    concurrencies = [place for place, (_, limit) in enumerate(uses) if limit.concurrency]
    for what, places in (("rate", rates), ("concurrency", concurrencies)):
        for place in places[1:]:
            message = f"has a {what}, as limits.{places[0]} has: a task takes one of each kind"
            yield FieldError(f"limits.{place}.name", message)


def _no_holder(uses: Sequence[tuple[LimitUse, Limit]]) -> Iterator[FieldError]:
    for place, (use, limit) in enumerate(uses):
        if use.on_full is OnFull.CANCEL and limit.concurrency is None:
            message = f"cancel is for limits with a concurrency, and {use.name!r} has none"
            yield FieldError(f"limits.{place}.on_full", message)
