"""The fire times of a recurrence: what all others ask.

croniter and the zones are loaded by the first question, not by the import.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from lambdas.core.recurrence.rules import (
    BadRule,
    CronRule,
    DelayRule,
    Exclusion,
    Part,
    RateRule,
    Recurrence,
    Rule,
)
from lambdas.core.times import SECOND, YEAR, Millis

if TYPE_CHECKING:
    from lambdas.core.recurrence.exclusions import LeftOut

Item = TypeVar("Item")
Made = TypeVar("Made")
After = Callable[[Millis], Millis | None]  # the first fire time strictly after an instant

# How many stretches of left-out fire times are passed over before the search is given up.
PATIENCE = 1_000
# Each asks every rule and every exclusion: so many questions at most, for one fire time, or one
# schedule with all that it may have would keep a whole tick busy.
QUESTIONS = 10_000
HORIZON = 42 * YEAR


def next_fire(recurrence: Recurrence, after: Millis) -> Millis | None:
    """The first fire time strictly after this instant; None: not for forty years.

    A delay rule has none of its own. BadRule if a rule is wrong, or if so much is left out that
    the search was given up.
    """
    return _next(_rules(recurrence), _exclusions(recurrence), after)


def fire_times(
    recurrence: Recurrence, after: Millis, until: Millis | None = None
) -> Iterator[Millis]:
    """Those strictly after one instant, up to and with another, each later than the one before."""
    rules, exclusions = _rules(recurrence), _exclusions(recurrence)
    while (at := _next(rules, exclusions, after, until)) is not None:
        yield at
        after = at


def check(recurrence: Recurrence, after: Millis) -> None:
    """BadRule for anything that is wrong with it, or keeps it from ever firing after this."""
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
        from lambdas.core.recurrence.cron import never_fires

        raise never_fires(rule)


def _check_steps(item: Rule | Exclusion) -> None:
    if isinstance(item, CronRule):
        from lambdas.core.recurrence.language import check_steps

        check_steps(item.expression, item.seconds)


def _next(
    rules: list[After], exclusions: "list[LeftOut]", after: Millis, until: Millis | None = None
) -> Millis | None:
    """Each turn passes over one stretch that an exclusion leaves out."""
    start = after
    turns = min(PATIENCE, QUESTIONS // (len(rules) + len(exclusions) or 1))
    for _ in range(turns):
        at = min((found for rule in rules if (found := rule(after)) is not None), default=None)
        if at is None or (until is not None and at > until):
            return None
        after = max((exclusion.until(at) for exclusion in exclusions), default=at) - 1
        if after < at:
            return _later(at, start)
        until = at + HORIZON if until is None else until
    reason = f"leaves out {turns:,} fire times, or rows of them, on end; exclude whole days"
    raise BadRule("exclude", reason, part="exclude")


def _later(at: Millis, start: Millis) -> Millis:
    """Asserted, whatever it takes; as a BadRule, so that one schedule is set aside, not all."""
    if at <= start:
        raise BadRule("rules", f"the next fire time after {start} cannot be {at}")
    return at


def _rules(recurrence: Recurrence) -> list[After]:
    return _each("rules", recurrence.rules, _after)


def _exclusions(recurrence: Recurrence) -> "list[LeftOut]":
    if not recurrence.exclude:
        return []
    from lambdas.core.recurrence.exclusions import left_out

    return _each("exclude", recurrence.exclude, left_out)


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
    from lambdas.core.recurrence.cron import cron

    find = cron(rule).after

    def after(at: Millis) -> Millis | None:
        found = find(at // SECOND)
        return None if found is None else found * SECOND

    return after


def _at_least_a_second(field: str, length: Millis) -> None:
    if length < SECOND:
        raise BadRule(field, "is at least 1 second")
