"""The fire times of a recurrence.

croniter and the time zones are loaded by the first call, not by the import.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DelayRule,
    Exclusion,
    Part,
    RateRule,
    Recurrence,
    Rule,
)
from duetime.core.times import SECOND, YEAR, Millis

if TYPE_CHECKING:
    from duetime.core.recurrence.exclusions import CompiledExclusion

Item = TypeVar("Item")
Made = TypeVar("Made")
After = Callable[[Millis], Millis | None]  # the first fire time strictly after an instant

# The search for one fire time ends after so many excluded stretches.
MAX_SKIPPED_STRETCHES = 1_000
# It also ends after so many calls of rules and exclusions: one schedule with the maximum of both
# must not occupy a whole tick.
MAX_RULE_CALLS = 10_000
SEARCH_HORIZON = 42 * YEAR


def next_fire(recurrence: Recurrence, after: Millis) -> Millis | None:
    """Returns the first fire time strictly after this instant; None: not for forty years.

    A delay rule has no fire times of its own. Raises BadRule if a rule is invalid, or if so much is
    excluded that the search gives up.
    """
    return _next(_rules(recurrence), _exclusions(recurrence), after)


def fire_times(
    recurrence: Recurrence, after: Millis, until: Millis | None = None
) -> Iterator[Millis]:
    """Yields the fire times strictly after one instant, up to and including another, in order."""
    rules, exclusions = _rules(recurrence), _exclusions(recurrence)
    while (at := _next(rules, exclusions, after, until)) is not None:
        yield at
        after = at


def check(recurrence: Recurrence, after: Millis) -> None:
    """Raises BadRule if the recurrence is invalid, or never fires after this instant."""
    if not recurrence.rules:
        raise BadRule("rules", "at least one rule is needed")
    exclusions = _exclusions(recurrence)
    _each("exclude", recurrence.exclude, _check_steps)
    _each("rules", recurrence.rules, lambda rule: _check_rule(rule, after))
    timed = not all(isinstance(rule, DelayRule) for rule in recurrence.rules)
    if timed and _next(_rules(recurrence), exclusions, after) is None:
        raise BadRule("exclude", "leaves out every fire time", part="exclude")


def _check_rule(rule: Rule, after: Millis) -> None:
    if isinstance(rule, DelayRule):
        _at_least_a_second("delay", rule.delay)
        return
    fires = _after(rule)(after) is not None
    _check_steps(rule)
    if isinstance(rule, CronRule) and not fires:
        from duetime.core.recurrence.cron import never_fires

        raise never_fires(rule)


def _check_steps(item: Rule | Exclusion) -> None:
    if isinstance(item, CronRule):
        from duetime.core.recurrence.cron_syntax import check_steps

        check_steps(item.expression, item.seconds)


def _next(
    rules: list[After],
    exclusions: "list[CompiledExclusion]",
    after: Millis,
    until: Millis | None = None,
) -> Millis | None:
    """Each turn skips one excluded stretch."""
    start = after
    turns = min(MAX_SKIPPED_STRETCHES, MAX_RULE_CALLS // (len(rules) + len(exclusions) or 1))
    for _ in range(turns):
        at = min((found for rule in rules if (found := rule(after)) is not None), default=None)
        if at is None or (until is not None and at > until):
            return None
        after = max((exclusion.until(at) for exclusion in exclusions), default=at) - 1
        if after < at:
            return _later(at, start)
        until = at + SEARCH_HORIZON if until is None else until
    reason = f"leaves out {turns:,} fire times, or rows of them, on end; exclude whole days"
    raise BadRule("exclude", reason, part="exclude")


def _later(at: Millis, start: Millis) -> Millis:
    """Asserts that the search moves forward. BadRule fails only this schedule."""
    if at <= start:
        raise BadRule("rules", f"the next fire time after {start} cannot be {at}")
    return at


def _rules(recurrence: Recurrence) -> list[After]:
    return _each("rules", recurrence.rules, _after)


def _exclusions(recurrence: Recurrence) -> "list[CompiledExclusion]":
    if not recurrence.exclude:
        return []
    from duetime.core.recurrence.exclusions import compile_exclusion

    return _each("exclude", recurrence.exclude, compile_exclusion)


def _each(part: Part, items: Iterable[Item], make: Callable[[Item], Made]) -> list[Made]:
    made = []
    for index, item in enumerate(items):
        try:
            made.append(make(item))
        except BadRule as bad:
            raise bad.of(part, index) from None
    return made


def _after(rule: Rule) -> After:
    match rule:
        case CronRule():
            return _cron(rule)
        case RateRule():
            return _rate(rule)
        case DelayRule():
            return lambda _: None


def _rate(rule: RateRule) -> After:
    every, anchor = rule.every, rule.anchor
    _at_least_a_second("every", every)
    return lambda at: at + every - (at - anchor) % every if at >= anchor else anchor


def _cron(rule: CronRule) -> After:
    from duetime.core.recurrence.cron import cron

    find = cron(rule).after

    def after(at: Millis) -> Millis | None:
        found = find(at // SECOND)
        return None if found is None else found * SECOND

    return after


def _at_least_a_second(field: str, length: Millis) -> None:
    if length < SECOND:
        raise BadRule(field, "is at least 1 second")
