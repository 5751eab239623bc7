"""When one cron rule fires, daylight saving included. Times here are whole seconds."""

from functools import lru_cache

from lambdas.core.recurrence.language import check_zone, parse
from lambdas.core.recurrence.pattern import DAY_LONG, YEARS_AHEAD, Pattern, firing
from lambdas.core.recurrence.rules import BadRule, CronRule, DayMatch, Gap, Overlap, Seconds
from lambdas.core.recurrence.zones import load, stretch

BOUND = YEARS_AHEAD * 366 * DAY_LONG
MOST_TURNS = 2_000  # a few for each year, if need be


class Cron:
    """A cron rule made ready."""

    __slots__ = ("gap", "overlap", "pattern", "zone")

    def __init__(self, pattern: Pattern, zone: str, gap: Gap, overlap: Overlap) -> None:
        self.pattern = pattern
        self.zone = zone
        self.gap = gap
        self.overlap = overlap

    def after(self, at: int) -> int | None:
        """The first fire time strictly after this instant; None: not for forty years.

        Each turn looks at the next local time within one stretch of constant offset. It either
        answers or moves on, to a later local time or to the next stretch.
        """
        now = stretch(self.zone, at)
        local = self.pattern.first(at + 1 + now.offset)
        for _ in range(MOST_TURNS):
            if local is None or local - at > BOUND:
                return None
            fires = local - now.offset
            if fires < now.end:
                again = self._left_out_until(fires)
                if again is None:
                    return fires
                local = self.pattern.first(again)
                continue
            then = stretch(self.zone, now.end)
            begins = now.end + then.offset
            if self.gap is Gap.SHIFT and local < begins:
                return now.end
            if local < begins or then.offset < now.offset:
                local = self.pattern.first(begins)
            now = then
        raise BadRule("expression", f"gets nowhere after {at}")

    def _left_out_until(self, fires: int) -> int | None:
        """The local time to go on from, if this one exists twice and the other one is meant."""
        if self.overlap is Overlap.BOTH:
            return None
        now = stretch(self.zone, fires)
        if self.overlap is Overlap.FIRST and fires < now.second_pass_until:
            return now.second_pass_until + now.offset
        if self.overlap is Overlap.LAST and fires >= now.first_pass_from:
            return now.end + now.offset
        return None


def cron(rule: CronRule) -> Cron:
    return _ready(rule.expression, rule.timezone, rule.gap, rule.overlap, rule.seconds, rule.days)


@lru_cache(maxsize=1_024)
def _ready(
    expression: str,
    zone: str,
    gap: Gap | None,
    overlap: Overlap | None,
    seconds: Seconds | None,
    days: DayMatch,
) -> Cron:
    pattern = firing(expression, seconds, days)
    check_zone(parse(expression, seconds), zone)
    load(zone)
    usual_gap, usual_overlap = daylight(expression, seconds)
    return Cron(pattern, zone, gap or usual_gap, overlap or usual_overlap)


def daylight(expression: str, seconds: Seconds | None = None) -> tuple[Gap, Overlap]:
    """Debian cron's rule: an expression whose minute or hour begins with `*` follows elapsed
    time; any other follows the clock on the wall, so that a daily task runs once every day.

    EventBridge leaves out a local time that does not exist, and its `0/15` is cron's `*/15`.
    """
    parsed = parse(expression, seconds)
    stars = "*" if parsed.year is None else ("*", "0/")
    if parsed.minute.text.startswith(stars) or parsed.hour.text.startswith(stars):
        return Gap.SKIP, Overlap.BOTH
    return (Gap.SHIFT if parsed.year is None else Gap.SKIP), Overlap.FIRST


def never_fires(rule: CronRule) -> BadRule:
    """Why there is no fire time, for a rule that is well said."""
    parsed = parse(rule.expression, rule.seconds)
    years = firing(rule.expression, rule.seconds, rule.days).years
    if parsed.year is None or years is None:
        return BadRule("expression", "never fires")
    reason = f"does not fire in the next forty years; its year is {parsed.year.text}"
    return BadRule("expression", reason, position=parsed.year.position)
