import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from duetime.cli import parse


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("0.25", 0.25),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5_400),
        ("2d", 172_800),
        ("1d2h3m4.5s", 93_784.5),
        ("1H", 3_600),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse.duration("--in", text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "5x", "-5", "1h 30m", "30m1h", "nan", "inf", "1e3", "٣", "9" * 400]
)
def test_bad_duration_names_the_option(text: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        parse.duration("--in", text)
    assert caught.value.param_hint == "--in"


def test_missing_value_is_none() -> None:
    assert parse.duration("--in", None) is None
    assert parse.moment("--at", None) is None


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("2026-11-16T09:00:00+01:00", "2026-11-16T09:00:00+01:00"),
        ("2026-11-16T09:00:00Z", "2026-11-16T09:00:00+00:00"),
        ("2026-11-16 09:00Z", "2026-11-16T09:00:00+00:00"),
    ],
)
def test_a_time_is_sent_as_rfc_3339(text: str, sent: str) -> None:
    assert parse.moment("--at", text) == sent


AT = datetime(2026, 11, 16, 9, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("2026-11-16T09:00:00+01:00", "2026-11-16T09:00:00+01:00"),
        ("1h", "2026-11-16T08:00:00+00:00"),
        ("1h30m", "2026-11-16T07:30:00+00:00"),
        ("90", "2026-11-16T08:58:30+00:00"),
        ("0", "2026-11-16T09:00:00+00:00"),
        ("999999d", "1970-01-01T00:00:00+00:00"),
        (None, None),
    ],
)
def test_past_moment_is_a_time_or_a_duration(text: str | None, sent: str | None) -> None:
    assert parse.past_moment("--since", text, AT) == sent


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "yesterday",
            "neither a time such as 2026-11-16T09:00:00\\+01:00 nor a duration such as 1h",
        ),
        ("", "neither a time"),
        ("-1h", "neither a time"),
        ("2026-11-16", "has no offset"),
        ("2026-11-16T09:00", "has no offset"),
        ("2026-13-16T09:00Z", "is not a time"),
        ("9" * 400, "a finite number of seconds"),
    ],
)
def test_bad_past_moment_says_why(text: str, words: str) -> None:
    with pytest.raises(typer.BadParameter, match=words):
        parse.past_moment("--since", text, AT)


@pytest.mark.parametrize(
    ("text", "words"), [("tomorrow", "not a time"), ("2026-11-16T09:00:00", "has no offset")]
)
def test_time_without_an_offset_is_refused(text: str, words: str) -> None:
    with pytest.raises(typer.BadParameter, match=words):
        parse.moment("--at", text)


def test_pairs_are_read() -> None:
    assert parse.pairs("--tag", ["a=1", "b=x=y"], "=", "k=v") == {"a": "1", "b": "x=y"}
    assert parse.pairs("--header", ["A: b:c"], ":", "K: V") == {"A": "b:c"}


@pytest.mark.parametrize("texts", [["a"], ["=1"], ["a=1", "a=2"]])
def test_a_bad_pair_is_refused(texts: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        parse.pairs("--tag", texts, "=", "k=v")


def test_tag_is_written_with_an_equals_sign_or_as_in_a_filter() -> None:
    found = parse.tag_pairs(["team=growth", "tier:1", "a:b=c:d"])
    assert found == {"team": "growth", "tier": "1", "a:b": "c:d"}
    with pytest.raises(typer.BadParameter):
        parse.tag_pairs(["team"])


def test_json_argument_is_text_file_or_stdin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.json").write_text('{"from": "file"}')
    monkeypatch.setattr("sys.stdin", io.StringIO("[1]"))
    assert parse.json_argument("--payload", "null") is None
    assert parse.json_argument("--payload", '"@"') == "@"
    assert parse.json_argument("--payload", f"@{tmp_path / 'p.json'}") == {"from": "file"}
    assert parse.json_argument("--payload", "-") == [1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{a", "is not JSON"),
        ("NaN", "not a number"),
        ("[1e999]", "1e999 is not a number"),
        ("@/no/such/file", "cannot read"),
    ],
)
def test_bad_json_argument_says_why(text: str, words: str) -> None:
    with pytest.raises(typer.BadParameter, match=words):
        parse.json_argument("--payload", text)


def test_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(b"\xff\xfe")
    with pytest.raises(typer.BadParameter, match="not UTF-8"):
        parse.json_argument("--payload", f"@{tmp_path / 'p.json'}")


@pytest.mark.parametrize(
    ("body", "expected"),
    [({"target": {}}, {"target": {}}), ([{"a": 1}], [{"a": 1}]), ({"tasks": [{}]}, [{}])],
)
def test_tasks_come_alone_in_a_list_or_as_a_batch(
    tmp_path: Path, body: object, expected: object
) -> None:
    (tmp_path / "t.json").write_text(json.dumps(body))
    assert parse.task_file("--from", str(tmp_path / "t.json")) == expected


@pytest.mark.parametrize("body", [1, [], [1], {"tasks": "x"}])
def test_a_file_without_tasks_is_refused(tmp_path: Path, body: object) -> None:
    (tmp_path / "t.json").write_text(json.dumps(body))
    with pytest.raises(typer.BadParameter, match="holds n"):
        parse.task_file("--from", str(tmp_path / "t.json"))
