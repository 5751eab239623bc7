"""`duetime cron`, without a server."""

import json
import subprocess
import sys
from typing import Any

import pytest

from duetime.cli.exit_codes import ExitCode
from duetime.cli.output import EXCERPT_WIDTH, caret_lines

BERLIN = ("--tz", "Europe/Berlin")


def test_an_expression_in_words_and_its_next_times(duetime: Any) -> None:
    result = duetime("cron", "0 9 * * 1-5", *BERLIN, "--after", "2026-11-13", "--count", "2")
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    words, empty, *times = result.stdout.splitlines()
    assert (words, empty) == ("at 09:00, Monday to Friday, Europe/Berlin", "")
    assert [time[:30] for time in times] == [
        "Fri 2026-11-13 09:00:00 +01:00",
        "Mon 2026-11-16 09:00:00 +01:00",
    ]
    assert all(" ago" in time or " in " in time for time in times)


def test_json_is_that_of_a_preview(duetime: Any) -> None:
    words = ("--after", "2027-03-27T12:00:00+01:00", "--count", "1", "--json")
    result = duetime("cron", "30 2 * * *", *BERLIN, *words)
    note = "02:30 does not exist in Europe/Berlin on 2027-03-28; runs at 03:00"
    assert json.loads(result.stdout) == {
        "description": "at 02:30 every day, Europe/Berlin",
        "fire_times": ["2027-03-28T01:00:00.000Z"],
        "daylight_saving": [{"at": "2027-03-28T01:00:00.000Z", "kind": "shifted", "note": note}],
    }


@pytest.mark.parametrize(
    ("day", "option", "line"),
    [
        ("2027-03-28", (), "Sun 2027-03-28 03:00:00 +02:00"),
        ("2027-03-28", ("--gap", "skip"), "Mon 2027-03-29 02:30:00 +02:00"),
        ("2027-10-31", (), "Sun 2027-10-31 02:30:00 +02:00"),
        ("2027-10-31", ("--overlap", "last"), "Sun 2027-10-31 02:30:00 +01:00"),
    ],
)
def test_gap_and_overlap_options_decide_about_daylight_saving(
    duetime: Any, day: str, option: tuple[str, ...], line: str
) -> None:
    words = ("--after", day, "--count", "1", *option)
    shown = duetime("cron", "30 2 * * *", *BERLIN, *words).stdout.splitlines()[2:]
    assert shown[-1].startswith(line)
    assert sum("02:30 does not exist" in row or "02:30 comes twice" in row for row in shown) == 1


def test_skipped_local_time_has_its_row(duetime: Any) -> None:
    words = ("--after", "2027-03-28", "--count", "1", "--gap", "skip")
    first = duetime("cron", "30 2 * * *", *BERLIN, *words).stdout.splitlines()[2]
    assert first.startswith("Sun 2027-03-28 03:00:00 +02:00  not run")
    assert first.endswith("02:30 does not exist in Europe/Berlin on 2027-03-28; left out")


@pytest.mark.parametrize(
    ("expression", "reason", "caret"),
    [
        ("0 25 * * *", "hour: 25 is not from 0 to 23", 2),
        ("@dayly", "@dayly is not one of @hourly", 0),
        ("0 9 30 2 *", "never fires", 4),
        ("0 9 * * 1-5 0 2027", "has seven fields", 14),
        ("0 9 * *", "has 4 fields", 7),
        ("CRON_TZ=Europe/Berlin 0 25 * * *", "hour: 25 is not from 0 to 23", 24),
        ("CRON_TZ=Europe/Berln 0 9 * * *", "'Europe/Berln' is not a time zone", 8),
        ("cron(0 25 * * ? *)", "hour: 25 is not from 0 to 23", 7),
        ("cron(15 10 ? * 6L 2019-2022)", "does not fire in the next forty years", 18),
        ("rate(1 minutes)", "write rate(1 minute)", 7),
        ("@every 5m", "@every is not cron; write a rule of type rate", 0),
        ("*/90 * * * *", "minute: */90: a step of 90 leads beyond", 0),
    ],
)
def test_error_points_at_its_position(
    duetime: Any, expression: str, reason: str, caret: int
) -> None:
    result = duetime("cron", expression)
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert f"Invalid value for EXPRESSION: {reason}" in result.stderr
    lines = [line.strip("│ \n") for line in result.stderr.splitlines()]
    at = lines.index(expression)
    shown, pointing = result.stderr.splitlines()[at : at + 2]
    assert pointing.index("^") - shown.index(expression) == caret


def test_error_without_a_position_has_no_caret(duetime: Any) -> None:
    result = duetime("cron", "0 " * 600)
    assert result.exit_code == ExitCode.USAGE
    assert "is longer than 1,000 characters" in result.stderr
    assert "^" not in result.stderr


@pytest.mark.parametrize(
    ("words", "option", "reason"),
    [
        (("--tz", "Berlin"), "--tz", "did you mean Europe/Berlin?"),
        (("--seconds", "middle"), "--seconds", ""),
        (("--seconds", "first"), "--seconds", "is for expressions of six fields"),
        (("--days", "all"), "--days", ""),
        (("--after", "noon"), "--after", "is not a time"),
        (("--after", "0001-01-01"), "--after", "must be in the years"),
        (("--after", "9999-12-31"), "--after", "must be in the years"),
        (("--count", "0"), "--count", ""),
        (("--gap", "odd"), "--gap", ""),
        (("--overlap", "odd"), "--overlap", ""),
    ],
)
def test_a_bad_option_is_named(
    duetime: Any, words: tuple[str, ...], option: str, reason: str
) -> None:
    result = duetime("cron", "0 9 * * *", *words)
    assert result.exit_code == ExitCode.USAGE
    assert f"Invalid value for {option}" in result.stderr.replace("'", "")
    assert reason in result.stderr


def test_time_without_an_offset_is_in_the_time_zone(duetime: Any) -> None:
    words = ("--tz", "Asia/Tokyo", "--after", "2027-06-01T00:30", "--count", "1")
    assert "Tue 2027-06-01 01:00:00 +09:00" in duetime("cron", "0 1 * * *", *words).stdout
    offset = ("--tz", "Asia/Tokyo", "--after", "2027-06-01T00:30+00:00", "--count", "1")
    assert "Wed 2027-06-02 01:00:00 +09:00" in duetime("cron", "0 1 * * *", *offset).stdout


def without_frame(text: str) -> str:
    """The words of an error, as if the box around them had no edge."""
    return " ".join(line.strip("│ ") for line in text.splitlines())


def test_six_fields_need_seconds_and_the_error_shows_both_readings(duetime: Any) -> None:
    result = duetime("cron", "0 0 9 * * *")
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert (
        "Invalid value for --seconds: is required with six fields; with seconds first: at 09:00"
        " every day; with seconds last: every second of minute 0 of hour 0 on day 9 of the month"
    ) in without_frame(result.stderr)


@pytest.mark.parametrize(
    ("words", "description", "fires"),
    [
        (("0 0 9 * * *", "--seconds", "first"), "at 09:00 every day", "Wed 2027-06-02 09:00:00"),
        (
            ("0 9 * * * 30", "--seconds", "last"),
            "at 09:00:30 every day",
            "Wed 2027-06-02 09:00:30",
        ),
        (
            ("0 0 13 * fri", "--days", "both"),
            "at 00:00 on day 13 of the month, but only on Friday",
            "Fri 2027-08-13 00:00:00",
        ),
        (
            ("CRON_TZ=Asia/Tokyo 0 9 * * *",),
            "at 09:00 every day, Asia/Tokyo",
            "Wed 2027-06-02 09:00:00 +09:00",
        ),
        (
            ("cron(0 18 ? * MON-FRI 2027)", "--tz", "Europe/Berlin"),
            "at 18:00, Monday to Friday, in 2027, Europe/Berlin (gap: skip)",
            "Tue 2027-06-01 18:00:00 +02:00",
        ),
        (("rate(5 minutes)",), "every 5 minutes", "Tue 2027-06-01 12:05:00 +00:00"),
        (
            ("rate(5 minutes)", "--tz", "Asia/Tokyo"),
            "every 5 minutes",
            "Tue 2027-06-01 12:05:00 +09:00",
        ),
    ],
)
def test_expressions_of_other_schedulers_are_accepted(
    duetime: Any, words: tuple[str, ...], description: str, fires: str
) -> None:
    result = duetime("cron", *words, "--after", "2027-06-01T12:00", "--count", "1")
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    first_line, _, first = result.stdout.splitlines()
    assert first_line == description
    assert first.startswith(fires)


def test_expression_whose_years_end_has_fewer_fire_times(duetime: Any) -> None:
    words = ("cron(0 9 1 * ? 2027)", "--after", "2027-10-15", "--count", "10")
    assert len(duetime("cron", *words).stdout.splitlines()) == 2 + 2


@pytest.mark.parametrize("year", ["1971", "9990"])
def test_fire_times_far_in_the_future(duetime: Any, year: str) -> None:
    result = duetime("cron", "0 9 29 2 *", *BERLIN, "--after", f"{year}-01-01", "--count", "1")
    assert result.exit_code == ExitCode.OK


def test_cron_loads_no_client() -> None:
    code = (
        "import sys; sys.argv = ['duetime', 'cron', '0 9 * * *', '--count', '1']\n"
        "from duetime.cli import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print(sorted({'httpx', 'duetime.client', 'botocore', 'uvicorn'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[0] == "at 09:00 every day"
    assert ran.stdout.splitlines()[-1] == "[]"


def caret(text: str, position: int) -> str:
    """Returns the text from the caret on."""
    shown, pointing = caret_lines(text, position)
    return shown[pointing.index("^") :]


def test_caret_is_under_its_position() -> None:
    assert caret_lines("0 25 * * *", 3) == ["  0 25 * * *", "    ^"]
    assert caret("a\tb\nc", 5) == "c"
    assert caret_lines("日 5", 3) == ["  日 5", "     ^"], "a wide character takes two columns"
    assert caret_lines("ab", 9) == ["  ab", "    ^"], "the end is as far as it goes"


@pytest.mark.parametrize("position", [1, 25, 31, 150, 290, 300])
def test_long_text_is_cut_around_the_caret(position: int) -> None:
    text = "".join(chr(0x4100 + n) if n == position - 1 else "x" for n in range(300))
    shown, pointing = caret_lines(text, position)
    assert shown.count(text[position - 1]) == 1
    assert len(shown.strip(" …")) == EXCERPT_WIDTH
    assert shown[pointing.index("^")] == text[position - 1]
