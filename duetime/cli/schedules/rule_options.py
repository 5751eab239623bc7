"""The options that say when a schedule fires, and the rules made from them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime.cli.parse import duration, moment, refuse
from duetime.cli.schedules import options
from duetime.cli.task_options import given

Json = dict[str, Any]

_RATE = re.compile(r"\s*rate\(", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleOptions:
    cron: options.Cron = None
    tz: options.Tz = None
    seconds: options.SecondsOption = None
    days: options.Days = None
    gap: options.GapOption = None
    dst_overlap: options.DstOverlapOption = None
    every: options.Every = None
    anchor: options.Anchor = None
    delay: options.Delay = None
    exclude_date: options.ExcludeDate = None
    exclude_cron: options.ExcludeCron = None

    def fields(self, current: Mapping[str, Any] | None = None) -> Json:
        """Returns `rule` or `rules`, and `exclude`, without those that no option gives.

        A new rule takes the time zone of the rules of `current`, the schedule as it is now, unless
        an option names another."""
        rules = self._new(current or {}) or self._adjusted(current or {})
        exclude = self._excluded(current or {})
        self._check(rules or rules_of(current or {}), exclude)
        return {**_named(rules), **given(exclude=exclude)}

    def _new(self, current: Mapping[str, Any]) -> list[Json]:
        like = next((rule for rule in rules_of(current) if rule["type"] == "cron"), {})
        kept: Json = {n: like[n] for n in ("timezone", "days", "dst") if n in like}
        made = [self._set(_cron(expression, kept)) for expression in self.cron or []]
        if self.every is not None:
            every, anchor = duration("--every", self.every), moment("--anchor", self.anchor)
            made.append({"type": "rate", "every": every, **given(anchor=anchor)})
        if self.delay is not None:
            made.append({"type": "delay", "delay": duration("--delay", self.delay)})
        return made

    def _adjusted(self, current: Mapping[str, Any]) -> list[Json]:
        """Returns the current rules, changed by the options (in another time zone, for example),
        or none if no option changes them."""
        given_options = (self.tz, self.seconds, self.days, self.gap, self.dst_overlap, self.anchor)
        if not any(given_options):
            return []
        return [self._set(rule) for rule in rules_of(current)]

    def _set(self, rule: Json) -> Json:
        if rule["type"] == "rate":
            return {**rule, **given(anchor=moment("--anchor", self.anchor))}
        if rule["type"] != "cron":
            return rule
        overlap = self.dst_overlap and self.dst_overlap.value
        dst = {**rule.get("dst", {}), **given(gap=self.gap and self.gap.value, overlap=overlap)}
        return {**self._with_syntax(rule), **given(dst=dst or None)}

    def _with_syntax(self, part: Json) -> Json:
        """Returns a rule or an exclusion with the zone, days and seconds of the options."""
        zone = None if _is_rate(part) else self.tz
        if part["type"] != "cron":
            return {**part, **given(timezone=zone)}
        days = self.days and self.days.value
        return {**part, **given(timezone=zone, days=days, seconds=self._seconds(part))}

    def _seconds(self, cron: Json) -> str | None:
        """Refuses a missing --seconds here, so that the error names the option."""
        from duetime.core.recurrence.cron_syntax import has_six_fields, parse
        from duetime.core.recurrence.rules import BadRule

        if not has_six_fields(cron["expression"]):
            return None
        if self.seconds is not None or "seconds" in cron:
            return self.seconds and self.seconds.value
        try:
            parse(cron["expression"])
        except BadRule as bad:
            if bad.field == "seconds":
                refuse("--seconds", bad.reason)
        return None

    def _excluded(self, current: Mapping[str, Any]) -> list[Json] | None:
        excluded = current.get("exclude") or []
        zone: Json = given(timezone=self.tz or _zone([*excluded, *rules_of(current)]))
        made: list[Json] = []
        if self.exclude_date:
            made.append({"type": "dates", "dates": self.exclude_date, **zone})
        made += [
            self._with_syntax(_cron(expression, zone)) for expression in self.exclude_cron or []
        ]
        return made or self._adjusted_exclusions(excluded)

    def _adjusted_exclusions(self, excluded: Sequence[Json]) -> list[Json] | None:
        """Returns the current exclusions, changed by the options. With --cron, the options for
        expressions apply to the new rule, and only the zone to the exclusions."""
        if not self.cron and (self.tz or self.seconds or self.days):
            return [self._with_syntax(exclusion) for exclusion in excluded] or None
        return [{**exclusion, "timezone": self.tz} for exclusion in excluded if self.tz] or None

    def _check(self, rules: Sequence[Json], exclude: Sequence[Json] | None) -> None:
        types = {rule["type"] for rule in rules}
        crons = [part for part in (*rules, *(exclude or ())) if part["type"] == "cron"]
        if self.tz and "cron" not in types and not exclude:
            refuse("--tz", "goes with --cron, --exclude-date or --exclude-cron")
        if self.seconds and not any("seconds" in cron for cron in crons):
            refuse("--seconds", "goes with --cron or --exclude-cron of six fields")
        if self.days and not crons:
            refuse("--days", "goes with --cron or --exclude-cron")
        for option, value in (("--gap", self.gap), ("--dst-overlap", self.dst_overlap)):
            if value and "cron" not in types:
                refuse(option, "goes with --cron")
        if self.anchor and "rate" not in types:
            refuse("--anchor", "goes with --every")


def _cron(expression: str, kept: Json) -> Json:
    """A time zone in the expression itself wins over the one in `kept`."""
    from duetime.core.recurrence.cron_syntax import zone_of

    rule: Json = {"type": "cron", "expression": expression}
    if _is_rate(rule):
        return rule
    return {**rule, **kept, **given(timezone=zone_of(expression))}


def _is_rate(part: Json) -> bool:
    """Whether a cron rule is EventBridge's rate(…), which has no time zone."""
    return part["type"] == "cron" and _RATE.match(part["expression"]) is not None


def rules_of(schedule: Mapping[str, Any]) -> list[Json]:
    return [schedule["rule"]] if schedule.get("rule") else schedule.get("rules") or []


def _zone(parts: Sequence[Json]) -> str | None:
    return next((part["timezone"] for part in parts if "timezone" in part), None)


def _named(rules: Sequence[Json]) -> Json:
    match rules:
        case []:
            return {}
        case [rule]:
            return {"rule": rule}
        case _:
            return {"rules": list(rules)}
