"""Schedules beside a handler: what `cron`, `every` and `after` make, and how they are read."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duetime import after, every, task
from duetime.handlers import manifest, registry
from duetime.handlers.app_names import app_name
from duetime.handlers.registry import BadHandlers, HandlersNotFound

Write = Callable[[str, str], Path]
IMPORTS = "from duetime import after, cron, every, task\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return written


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No handler is registered; what the test registers is forgotten."""
    monkeypatch.setattr(registry, "_handlers", {})


def read(write: Write, declaration: str) -> list[Any]:
    file = write(
        "shop/handlers/a.py", f"{IMPORTS}\n@task('a.b', schedule={declaration})\ndef f(p, ctx): ..."
    )
    return list(manifest.read(file.parent).schedules)


def test_options_become_the_body_of_a_schedule(write: Write):
    declaration = """cron("0 9 * * 1-5", tz="Europe/Berlin", dst={"gap": "skip"}, name="daily",
        payload={"full": True}, overlap="queue", misfire={"policy": "run_all", "grace": "5m"},
        starts_at="2027-01-01T00:00:00Z", ends_at="2028-01-01T00:00:00+01:00", max_runs=9,
        jitter="1m", pause_on_failure=3, namespace="growth", priority="low", timeout="2m",
        retry={"max_attempts": 3}, tags={"team": "growth"},
        exclude=[{"type": "dates", "dates": ["2027-12-25"]}])"""

    [schedule] = read(write, declaration)

    assert schedule == {
        "name": "daily",
        "rule": {
            "type": "cron",
            "expression": "0 9 * * 1-5",
            "timezone": "Europe/Berlin",
            "dst": {"gap": "skip"},
        },
        "overlap": "queue",
        "misfire": {"policy": "run_all", "grace": 300.0},
        "starts_at": "2027-01-01T00:00:00Z",
        "ends_at": "2028-01-01T00:00:00+01:00",
        "max_runs": 9,
        "jitter": 60.0,
        "pause_on_failure": 3,
        "exclude": [{"type": "dates", "dates": ["2027-12-25"]}],
        "task": {
            "target": {"type": "python", "handler": "a.b"},
            "payload": {"full": True},
            "namespace": "growth",
            "priority": "low",
            "timeout": 120.0,
            "retry": {"max_attempts": 3},
            "tags": {"team": "growth"},
        },
        "source": "a.py:3",
    }


def test_several_schedules_have_their_own_names_and_lines(write: Write):
    found = read(
        write,
        '[\n    every("10m", name="fast", anchor="2027-01-01T00:00:00Z"),\n'
        '    after(300, name="b"),\n]',
    )

    assert [(s["name"], s["source"]) for s in found] == [("fast", "a.py:4"), ("b", "a.py:5")]
    rate = {"type": "rate", "every": 600.0, "anchor": "2027-01-01T00:00:00Z"}
    assert [s["rule"] for s in found] == [rate, {"type": "delay", "delay": 300.0}]


def test_schedule_without_a_name_has_that_of_its_handler(write: Write):
    [schedule] = read(write, 'cron("@daily", misfire="skip")')

    assert (schedule["name"], schedule["misfire"]) == ("a.b", {"policy": "skip"})


def test_handler_keeps_its_schedules(handlers: None):
    @task("a.scheduled", schedule=[every("10m", name="x"), after(5, name="y")])
    def scheduled(payload: Any, ctx: Any) -> None: ...

    @task("a.plain")
    def plain(payload: Any, ctx: Any) -> None: ...

    assert [one.rule["type"] for one in scheduled.schedules] == ["rate", "delay"]
    assert plain.schedules == ()


@pytest.mark.parametrize(
    ("declaration", "line", "reason"),
    [
        ("cron(EXPRESSION)", 3, "the argument of a schedule must be a literal"),
        ('cron("@daily",\n    tz=ZONE)', 4, "tz must be a literal"),
        ('every("10m", payload={"at": now()})', 3, "payload must be a literal"),
        ('cron("@daily", **options)', 3, "what ** means must be a literal"),
        ("SCHEDULE", 3, "schedule must be cron(…), every(…) or after(…), or a list of them"),
        ("[every(60), SCHEDULE]", 3, "schedule must be cron(…), every(…) or after(…)"),
        ("[every(n) for n in (1, 2)]", 3, "schedule must be cron(…)"),
        ('cron("0 99 * * *")', 3, "expression: hour: 99 is not from 0 to 23"),
        ('cron("@daily", tz="Europe/Atlantis")', 3, "timezone: "),
        (
            'cron("@daily", colour="red")',
            3,
            "there is no option 'colour' of a schedule; known: name",
        ),
        ("cron()", 3, "cron() missing 1 required positional argument"),
        ("cron(7)", 3, 'cron: needs an expression such as "0 9 * * 1-5", not 7'),
        ('every("soon")', 3, "every: 'soon' is not a duration"),
        ("after(-1)", 3, "after: a duration must be finite and not negative"),
        ("[every(60), after(60)]", 3, "schedule: there are two without a name; give each a name"),
        ('[every(60, name="a"), every(9, name="a")]', 3, "schedule: there are two named 'a'"),
        (
            'cron("@daily", overlap="never")',
            3,
            "overlap: must be one of allow, skip, queue, cancel",
        ),
        ('cron("@daily", misfire="never")', 3, "misfire: must be one of run_once, run_all, skip"),
        ('cron("@daily", misfire={"late": 1})', 3, "misfire.late: is not one of policy, grace"),
        ('cron("@daily", dst={"hole": "skip"})', 3, "dst.hole: is not one of gap, overlap"),
        ('cron("@daily", ends_at="2027-01-01")', 3, "ends_at: must be an RFC 3339 time such as"),
        (
            'cron("@daily", max_runs=0)',
            3,
            "max_runs: must be a whole number from 1 to 1000000000, not 0",
        ),
        ('cron("@daily", name="")', 3, "name: must be text of 1 to 256 characters"),
        ('cron("@daily", payload=b"x")', 3, "payload: "),
        ('every("0s")', 3, "every: must be from 1 to 31536000 seconds, not 0"),
        ("after(0.5)", 3, "after: must be from 1 to 31536000 seconds, not 0.5"),
        ("every(60, anchor='2099-01-01T00:00:00Z')", 3, "anchor: must be at most 10 years ahead"),
        ("every(60, starts_at='2099-01-01T00:00:00Z')", 3, "starts_at: must be at most 10 years"),
        (
            "every(60, starts_at='2028-01-01T00:00:00Z', ends_at='2028-01-01T00:00:00Z')",
            3,
            "ends_at: must be after starts_at",
        ),
        ("every(60, jitter='2h')", 3, "jitter: must be from 0 to 3600 seconds, not 7200"),
        ("every(60, pause_on_failure=101)", 3, "pause_on_failure: must be a whole number from 1"),
        ("every(60, misfire={'grace': '2d'})", 3, "misfire.grace: must be from 0 to 86400"),
        ("every(60, misfire={'per_minute': '5m'})", 3, "misfire.per_minute: must be a number"),
        ("every(60, namespace='a b')", 3, "namespace: must be 1 to 128 letters, digits"),
        ("every(60, payload='{{then}}')", 3, "payload: there is no name 'then'; known: scheduled"),
        ("every(60, tags={'a': '{{previous.status}}'})", 3, "tags.a: previous.status is known"),
        ("every(60, exclude={'type': 'dates'})", 3, "exclude: must be a list of at most 50"),
        ("every(60, exclude=[{'type': 'days'}])", 3, "exclude.0: must be a dict whose type is"),
        ("every(60, exclude=[{'type': 'dates'}])", 3, "exclude.0.dates: is required"),
        (
            "every(60, exclude=[{'type': 'dates', 'dates': ['2027-13-01']}])",
            3,
            "exclude.0.dates: ",
        ),
        (
            "every(60, exclude=[{'type': 'cron', 'expression': '99 * * * *'}])",
            3,
            "exclude.0.expression: minute: 99 is not from 0 to 59",
        ),
        (
            "every(60, exclude=[{'type': 'cron', 'expression': '* * * * *'}])",
            3,
            "exclude: leaves out",
        ),
        (
            "after(60, exclude=[{'type': 'dates', 'dates': ['2027-12-25']}])",
            3,
            "exclude: does not go with after(…)",
        ),
        ('cron("@daily", priority="urgent")', 3, "priority: must be one of high, medium, low"),
    ],
)
def test_bad_declaration_is_refused_with_its_file_and_line(
    write: Write, declaration: str, line: int, reason: str, tmp_path: Path
):
    with pytest.raises(BadHandlers) as caught:
        read(write, declaration)

    file = tmp_path / "shop/handlers/a.py"
    assert str(caught.value).startswith(f"handlers: {file}:{line}: {reason}")


def test_names_may_be_imported_in_any_way(write: Write):
    text = """
import duetime
from duetime import cron as at, task as job

@job("a", schedule=at("@daily"))
def f(p, ctx): ...

@duetime.task("b", schedule=duetime.every(60))
def g(p, ctx): ...
"""
    file = write("handlers/a.py", text)

    assert [s["name"] for s in manifest.read(file.parent).schedules] == ["a", "b"]


@pytest.mark.parametrize("source", ["handlers", "handlers/a.py", "pack", "pack.inner", "single"])
def test_manifest_of_a_folder_a_file_or_a_module(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
):
    text = f"import no_such_library\n{IMPORTS}\n@task('a', schedule=every(60))\ndef f(p, ctx): ..."
    for name in ("handlers/a.py", "pack/inner.py", "single.py"):
        write(name, text)
    write("pack/__init__.py", "")
    monkeypatch.chdir(tmp_path)

    found = manifest.read(source, app="shop")

    assert list(found.handlers) == ["a"]
    assert found.schedules[0]["source"].endswith(":4")
    assert "no_such_library" not in sys.modules
    assert manifest.load(write("m.json", json.dumps(found.json()))) == found


def test_source_that_does_not_exist_is_refused(tmp_path: Path):
    for source in (tmp_path / "nothing", "no.such.module", ""):
        with pytest.raises(HandlersNotFound):
            manifest.read(source or "nothing.at.all")


def test_app_is_named_by_the_nearest_project(write: Write, tmp_path: Path):
    folder = write("my shop/handlers/a.py", "").parent
    assert app_name(folder) == "my-shop"
    assert app_name(folder / "a.py") == "handlers"

    write("pyproject.toml", '[project]\nname = "office"\n')
    assert app_name(folder) == "office"
    write("my shop/pyproject.toml", '[project]\nname = "x"\n[tool.duetime]\napp = "shop.eu"\n')
    assert app_name(folder) == "shop.eu"


@pytest.mark.parametrize(
    "text", ['[tool.duetime]\napp = "a b"\n', "[tool.duetime]\napp = 7\n", "["]
)
def test_project_that_cannot_be_read_is_refused(write: Write, tmp_path: Path, text: str):
    write("pyproject.toml", text)

    with pytest.raises(BadHandlers, match=r"pyproject\.toml: "):
        app_name(write("handlers/a.py", "").parent)


def load(write: Write, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = write(f"handlers/{name}.py", f"{IMPORTS}\n{text}\n")
    registry.load(str(file))
    return file


def test_registered_handlers_have_the_manifest_of_their_source(
    write: Write, handlers: None, monkeypatch: pytest.MonkeyPatch
):
    text = "for name in ('one', 'two'):\n    task(name)(lambda payload, ctx: None)\n"
    text += "@task('reg.a', schedule=every('10m', payload={'n': 1}))\ndef f(p, ctx): ..."
    file = load(write, monkeypatch, "registered_fine", text)

    found = manifest.registered([file.parent], app="shop")

    assert [(s["name"], s["source"]) for s in found.schedules] == [
        ("reg.a", "registered_fine.py:5")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "MINUTES = 10\n@task('reg.b', schedule=every(MINUTES * 60))\ndef f(p, ctx): ...",
        "options = {'schedule': every(60)}\n@task('reg.b', **options)\ndef f(p, ctx): ...",
    ],
)
def test_registered_handler_with_a_computed_schedule_is_refused(
    write: Write, handlers: None, monkeypatch: pytest.MonkeyPatch, text: str
):
    file = load(write, monkeypatch, f"registered_bad{len(text)}", text)

    with pytest.raises(BadHandlers) as caught:
        manifest.registered([file.parent], app="shop")
    assert str(caught.value).startswith(f"handlers: {file}:4: ")
