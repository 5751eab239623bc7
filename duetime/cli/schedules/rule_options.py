"""The options that say when a schedule fires, and the rules that they mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime.cli.schedules import options
from duetime.cli.task_options import given
from duetime.cli.values import duration, moment, refuse

Json = dict[str, Any]

_RATE = re.compile(r"\s*rate\(", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleOptions:
    cron: options.Cron = None
    tz: options.Tz = None
    seconds: options.SecondsOption = None
    days: options.Days = None
    gap: options.GapOption = None
    dst_overlap: options.DstOverlap = None
    every: options.Every = None
    anchor: options.Anchor = None
    delay: options.Delay = None
    exclude_date: options.ExcludeDate = None
    exclude_cron: options.ExcludeCron = None

    def fields(self, standing: Mapping[str, Any] | None = None) -> Json:
        """`rule` or `rules`, and `exclude`; what was not said is left out. A rule that replaces
        those that stand is in their zone, unless another is said."""
        rules = self._new(standing or {}) or self._adjusted(standing or {})
        exclude = self._excluded(standing or {})
        self._check(rules or rules_of(standing or {}), exclude)
        return {**_named(rules), **given(exclude=exclude)}

    def _new(self, standing: Mapping[str, Any]) -> list[Json]:
        like = next((rule for rule in rules_of(standing) if rule["type"] == "cron"), {})
        kept: Json = {n: like[n] for n in ("timezone", "days", "dst") if n in like}
        made = [self._set(_cron(expression, kept)) for expression in self.cron or []]
        if self.every is not None:
            every, anchor = duration("--every", self.every), moment("--anchor", self.anchor)
            made.append({"type": "rate", "every": every, **given(anchor=anchor)})
        if self.delay is not None:
            made.append({"type": "delay", "delay": duration("--delay", self.delay)})
        return made

    def _adjusted(self, standing: Mapping[str, Any]) -> list[Json]:
        """The rules that stand, in another zone, say; none if they stay as they are."""
        said = (self.tz, self.seconds, self.days, self.gap, self.dst_overlap, self.anchor)
        return [self._set(rule) for rule in rules_of(standing)] if any(said) else []

    def _set(self, rule: Json) -> Json:
        if rule["type"] == "rate":
            return {**rule, **given(anchor=moment("--anchor", self.anchor))}
        if rule["type"] != "cron":
            return rule
        overlap = self.dst_overlap and self.dst_overlap.value
        dst = {**rule.get("dst", {}), **given(gap=self.gap and self.gap.value, overlap=overlap)}
        return {**self._read(rule), **given(dst=dst or None)}

    def _read(self, part: Json) -> Json:
        """A rule or an exclusion, read as the options say."""
        zone = None if _is_rate(part) else self.tz
        if part["type"] != "cron":
            return {**part, **given(timezone=zone)}
        days = self.days and self.days.value
        return {**part, **given(timezone=zone, days=days, seconds=self._seconds(part))}

    def _seconds(self, cron: Json) -> str | None:
        """Refused here if it is missing, so that it is the option which is named."""
        from lambdas.core.recurrence.language import has_six_fields, parse
        from lambdas.core.recurrence.rules import BadRule

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

    def _excluded(self, standing: Mapping[str, Any]) -> list[Json] | None:
        stands = standing.get("exclude") or []
        zone: Json = given(timezone=self.tz or _zone([*stands, *rules_of(standing)]))
        made: list[Json] = []
        if self.exclude_date:
            made.append({"type": "dates", "dates": self.exclude_date, **zone})
        made += [self._read(_cron(expression, zone)) for expression in self.exclude_cron or []]
        return made or self._adjusted_exclusions(stands)

    def _adjusted_exclusions(self, stands: Sequence[Json]) -> list[Json] | None:
        """In another zone, say. What is said of the expressions is meant for a new rule, if there
        is one."""
        if not self.cron and (self.tz or self.seconds or self.days):
            return [self._read(exclusion) for exclusion in stands] or None
        return [{**exclusion, "timezone": self.tz} for exclusion in stands if self.tz] or None

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
    """The zone of the expression itself, if it says one, and not the one that was kept."""
    from lambdas.core.recurrence.language import zone_of

    rule: Json = {"type": "cron", "expression": expression}
    if _is_rate(rule):
        return rule
    return {**rule, **kept, **given(timezone=zone_of(expression))}


def _is_rate(part: Json) -> bool:
    """EventBridge's rate(…), which knows no zone."""
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
