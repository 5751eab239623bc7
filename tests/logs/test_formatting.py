"""Log formats: what a line contains, and that any record can be formatted."""

import json
import logging
import sys
from typing import Any

import pytest

from duetime.logs.formatting import JsonLines, TerminalLines, TextLines

AT = 1_794_819_600.1239  # 2026-11-16T09:00:00Z


def a_record(
    message: str = "low on tea", *args: Any, level: int = logging.WARNING, **extra: Any
) -> logging.LogRecord:
    made = logging.getLogger("shop").makeRecord(
        "shop", level, "shop.py", 7, message, args, None, extra=extra
    )
    made.created = AT
    return made


def failing() -> logging.LogRecord:
    try:
        raise ValueError("no\ntea")
    except ValueError:
        made = a_record()
        made.exc_info = sys.exc_info()
        return made


class Circle:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def deep() -> list[Any]:
    inner: list[Any] = []
    for _ in range(100_000):
        inner = [inner]
    return inner


def as_json(record: logging.LogRecord) -> dict[str, Any]:
    line = JsonLines().format(record)
    assert "\n" not in line

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return dict(json.loads(line, parse_constant=refuse))


def test_a_plain_line_has_time_level_logger_message_and_fields():
    line = TextLines().format(a_record("low on %s", "tea", task_id="01K", attempt=2, step="x"))
    assert line == "2026-11-16T09:00:00.123Z WARNING shop low on tea task_id=01K attempt=2 step=x"


def test_a_json_line_has_time_level_logger_message_and_every_field():
    fields = {"task_id": "01K", "attempt": 2, "reason": None, "items": ["tea", {"salt": 1.5}]}
    assert as_json(a_record("low on %s", "tea", **fields)) == {
        "time": "2026-11-16T09:00:00.123Z",
        "level": "WARNING",
        "logger": "shop",
        "message": "low on tea",
        **fields,
    }


def test_a_line_of_a_terminal_has_time_level_message_logger_and_fields():
    line = TerminalLines().format(a_record(task_id="01K"))
    assert line[8:] == "  WARNING    low on tea  shop task_id=01K"


@pytest.mark.parametrize("formatter", [TextLines(), TerminalLines(), JsonLines()])
def test_a_record_without_an_exception_is_one_line_however_long(formatter: logging.Formatter):
    line = formatter.format(a_record("x\n" * 5_000 + "\x1b[2J", text="a\nb " * 100))
    assert "\n" not in line
    assert "\x1b[2J" not in line


def test_the_exception_follows_a_plain_line_and_is_text_in_json():
    first, *trace = TextLines().format(failing()).split("\n")
    assert first.endswith("WARNING shop low on tea")
    assert (trace[0], trace[-2:]) == (
        "Traceback (most recent call last):",
        ["ValueError: no", "tea"],
    )
    exception = as_json(failing())["exception"]
    assert exception.startswith("Traceback (most recent call last):\n")
    assert exception.endswith("ValueError: no\ntea")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("tea", "tea"),
        ("", '""'),
        ("two words", '"two words"'),
        ("a=b", '"a=b"'),
        ('a"b', r'"a\"b"'),
        ("a\nb", r'"a\nb"'),
        (1, "1"),
        (True, "true"),
        (1.5, "1.5"),
        (["a", 1], '["a", 1]'),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_the_value_of_a_field_is_quoted_where_it_must_be(value: Any, shown: str):
    assert TextLines().format(a_record(x=value)).endswith(f" low on tea x={shown}")


def test_a_plain_line_leaves_out_fields_without_a_value():
    assert TextLines().format(a_record(x=None)).endswith(" low on tea")


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), object(), Circle(), {1: object()}, {"a", "b"}, b"\xff", deep()],
    ids=["nan", "inf", "object", "no_str", "keys", "set", "bytes", "deep"],
)
@pytest.mark.parametrize("formatter", [TextLines(), TerminalLines()])
def test_any_value_can_be_logged(formatter: logging.Formatter, value: Any):
    assert "low on tea" in formatter.format(a_record(x=value, step="scan"))
    line = as_json(a_record(x=value, step="scan"))
    assert (line["message"], line["step"]) == ("low on tea", "scan")
    assert "x" in line


def test_recursive_value_is_shown_as_text():
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert as_json(a_record(x=loop, step="scan"))["x"] == "{'self': {...}}"


def test_arguments_that_do_not_fit_are_shown_beside_the_message():
    assert as_json(a_record("%d of %d", "tea"))["message"] == "%d of %d ('tea',)"
    assert TextLines().format(a_record("%s")).endswith(" WARNING shop %s")


def test_extra_field_does_not_replace_a_standard_field():
    line = as_json(a_record(level=logging.ERROR, time="noon", logger="mine"))
    assert (line["time"], line["level"], line["logger"]) == (
        "2026-11-16T09:00:00.123Z",
        "ERROR",
        "shop",
    )


def test_only_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[33mWARNING  \x1b[0m" in TerminalLines().format(a_record())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in TerminalLines().format(a_record())
