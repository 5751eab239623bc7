"""The fire times of one cron rule, including daylight saving. Times are whole seconds."""

from functools import lru_cache

from duetime.core.recurrence.cron_pattern import DAY_LONG, YEARS_AHEAD, Pattern, firing
from duetime.core.recurrence.cron_syntax import check_zone, parse
from duetime.core.recurrence.rules import BadRule, CronRule, DayMatch, DstGap, DstOverlap, Seconds
from duetime.core.recurrence.timezones import load, stretch

SEARCH_LIMIT = YEARS_AHEAD * 366 * DAY_LONG
MAX_SEARCH_STEPS = 2_000  # several for each year


class Cron:
    """A compiled cron rule."""

    __slots__ = ("gap", "overlap", "pattern", "zone")

    def __init__(self, pattern: Pattern, zone: str, gap: DstGap, overlap: DstOverlap) -> None:
        self.pattern = pattern
        self.zone = zone
        self.gap = gap
        self.overlap = overlap

    def after(self, at: int) -> int | None:
        """Returns the first fire time strictly after this instant; None: not for forty years.

        Each step checks the next local time within one stretch of constant offset. It either
        returns it, or moves to a later local time or to the next stretch.
        """
        now = stretch(self.zone, at)
        local = self.pattern.first(at + 1 + now.offset)
        for _ in range(MAX_SEARCH_STEPS):
            if local is None or local - at > SEARCH_LIMIT:
                return None
            fires = local - now.offset
            if fires < now.end:
                again = self._skipped_until(fires)
                if again is None:
                    return fires
                local = self.pattern.first(again)
                continue
            then = stretch(self.zone, now.end)
            begins = now.end + then.offset
            if self.gap is DstGap.SHIFT and local < begins:
                return now.end
            if local < begins or then.offset < now.offset:
                local = self.pattern.first(begins)
            now = then
        raise BadRule("expression", f"the search does not end after {at}")

    def _skipped_until(self, fires: int) -> int | None:
        """Returns where to continue if this local time exists twice and the other is meant."""
        if self.overlap is DstOverlap.BOTH:
            return None
        now = stretch(self.zone, fires)
        if self.overlap is DstOverlap.FIRST and fires < now.second_pass_until:
            return now.second_pass_until + now.offset
        if self.overlap is DstOverlap.LAST and fires >= now.first_pass_from:
            return now.end + now.offset
        return None


def cron(rule: CronRule) -> Cron:
    return _compile(rule.expression, rule.timezone, rule.gap, rule.overlap, rule.seconds, rule.days)


@lru_cache(maxsize=1_024)
def _compile(
    expression: str,
    zone: str,
    gap: DstGap | None,
    overlap: DstOverlap | None,
    seconds: Seconds | None,
    days: DayMatch,
) -> Cron:
    pattern = firing(expression, seconds, days)
    check_zone(parse(expression, seconds), zone)
    load(zone)
    usual_gap, usual_overlap = default_dst(expression, seconds)
    return Cron(pattern, zone, gap or usual_gap, overlap or usual_overlap)


def default_dst(expression: str, seconds: Seconds | None = None) -> tuple[DstGap, DstOverlap]:
    """Debian cron's rule: an expression whose minute or hour begins with `*` follows elapsed
    time; any other follows the local clock, so that a daily task runs once every day.

    EventBridge skips a local time that does not exist, and its `0/15` is cron's `*/15`.
    """
    parsed = parse(expression, seconds)
    stars = "*" if parsed.year is None else ("*", "0/")
    if parsed.minute.text.startswith(stars) or parsed.hour.text.startswith(stars):
        return DstGap.SKIP, DstOverlap.BOTH
    return (DstGap.SHIFT if parsed.year is None else DstGap.SKIP), DstOverlap.FIRST


def never_fires(rule: CronRule) -> BadRule:
    """Returns why a valid rule has no fire time."""
    parsed = parse(rule.expression, rule.seconds)
    years = firing(rule.expression, rule.seconds, rule.days).years
    if parsed.year is None or years is None:
        return BadRule("expression", "never fires")
    reason = f"does not fire in the next forty years; its year is {parsed.year.text}"
    return BadRule("expression", reason, position=parsed.year.position)
