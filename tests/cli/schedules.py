"""Schedules that are created and read by the command line."""

from typing import Any

from tests.cli.test_commands import data

HOURLY = ("--every", "1h", "--handler", "echo")


def made(live: Any, *words: str, stdin: str | None = None) -> Any:
    return data(live("schedules", "create", *words, "--json", stdin=stdin))


def shown(live: Any, schedule_id: str) -> Any:
    return data(live("schedules", "show", schedule_id, "--json"))


def part(whole: Any, names: Any) -> Any:
    return {name: whole[name] for name in names}
