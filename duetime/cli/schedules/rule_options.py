"""The options that say when a schedule fires, and the rules that they mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime.cli.schedules import options
from duetime.cli.task_options import given
from duetime.cli.values import duration, moment, refuse

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleOptions:
    cron: options.Cron = None
    tz: options.Tz = None
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
        kept: Json = {n: like[n] for n in ("timezone", "dst") if n in like}
        made = [self._set({"type": "cron", "expression": e, **kept}) for e in self.cron or []]
        if self.every is not None:
            every, anchor = duration("--every", self.every), moment("--anchor", self.anchor)
            made.append({"type": "rate", "every": every, **given(anchor=anchor)})
        if self.delay is not None:
            made.append({"type": "delay", "delay": duration("--delay", self.delay)})
        return made

    def _adjusted(self, standing: Mapping[str, Any]) -> list[Json]:
        """The rules that stand, in another zone, say; none if they stay as they are."""
        said = (self.tz, self.gap, self.dst_overlap, self.anchor)
        return [self._set(rule) for rule in rules_of(standing)] if any(said) else []

    def _set(self, rule: Json) -> Json:
        if rule["type"] == "rate":
            return {**rule, **given(anchor=moment("--anchor", self.anchor))}
        if rule["type"] != "cron":
            return rule
        overlap = self.dst_overlap and self.dst_overlap.value
        dst = {**rule.get("dst", {}), **given(gap=self.gap and self.gap.value, overlap=overlap)}
        return {**rule, **given(timezone=self.tz, dst=dst or None)}

    def _excluded(self, standing: Mapping[str, Any]) -> list[Json] | None:
        stands = standing.get("exclude") or []
        said = given(timezone=self.tz or _zone([*stands, *rules_of(standing)]))
        made: list[Json] = []
        if self.exclude_date:
            made.append({"type": "dates", "dates": self.exclude_date, **said})
        made += [{"type": "cron", "expression": e, **said} for e in self.exclude_cron or []]
        if not made and self.tz:
            made = [{**exclusion, **said} for exclusion in stands]
        return made or None

    def _check(self, rules: Sequence[Json], exclude: Sequence[Json] | None) -> None:
        types = {rule["type"] for rule in rules}
        if self.tz and "cron" not in types and not exclude:
            refuse("--tz", "goes with --cron, --exclude-date or --exclude-cron")
        for option, value in (("--gap", self.gap), ("--dst-overlap", self.dst_overlap)):
            if value and "cron" not in types:
                refuse(option, "goes with --cron")
        if self.anchor and "rate" not in types:
            refuse("--anchor", "goes with --every")


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
