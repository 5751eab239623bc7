"""A declared schedule's payload must fit its handler, in the source and once imported."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from duetime.handlers import manifest, registry
from duetime.handlers.registry import BadHandlers

Load = Callable[[str], Path]
IMPORTS = """import datetime as dt
import functools
from dataclasses import dataclass
from datetime import date
import duetime
from duetime import Context, every, task
from duetime import Context as Attempt
from enum import Enum as Choice

class Mine(Context): ...

@dataclass
class Order:
    id: int

def plain(function):
    return lambda *args: function(*args)

"""
LINE = IMPORTS.count("\n") + 1


@pytest.fixture
def write(tmp_path: Path, request: pytest.FixtureRequest) -> Load:
    def written(text: str) -> Path:
        file = tmp_path / "handlers" / f"payloads_{abs(hash(request.node.name))}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(IMPORTS + text)
        return file

    return written


@pytest.fixture
def imported(write: Load, monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(sys, "path", list(sys.path))

    def imported(text: str) -> Path:
        file = write(text)
        registry.load(str(file))
        return file

    return imported


def declared(parameters: str, payload: str) -> str:
    given = f", payload={payload}" if payload else ""
    return f'@task("a.b", schedule=every(60{given}))\ndef f({parameters}): ...\n'


FITTING = [
    ("full: bool", '{"full": True}'),
    ("full: bool = False", ""),
    ("ctx, *, full=False, **others", '{"nope": 1}'),
    ("payload, ctx", '{"nope": 1}'),
    ("payload, ctx", ""),
    ("payload", "[1, 2]"),
    ("anything, _ctx", "7"),
    ("*args", '{"nope": 1}'),
    ("", ""),
    ("c: Context", ""),
    ("c: 'duetime.Context'", ""),
    ("c: Attempt, *, n: int", '{"n": 1}'),
    ("given: dict, c: Attempt", '{"nope": 1}'),
    ("c: duetime.Context, n: int | None", '{"n": None}'),
    ("c: Mine", ""),
    ("given, c: Mine", '{"nope": 1}'),
    ("day: date, full: bool", '{"day": "2027-01-04", "full": True}'),
    ("order: Order", '{"order": {"id": 7}}'),
    ("at: dt.datetime", '{"at": "{{scheduled_for}}"}'),
    ("n: int", '{"n": "{{previous.result}}"}'),
    ("n: int", '"{{previous.result}}"'),
    ("ids: list[int], by: dict[str, str]", '{"ids": [1], "by": {"a": "b"}}'),
]


@pytest.mark.parametrize(("parameters", "payload"), FITTING)
def test_payload_that_fits_is_accepted(imported: Load, parameters: str, payload: str):
    file = imported(declared(parameters, payload))

    assert len(manifest.read(file).schedules) == 1
    assert len(manifest.registered([file.parent], app="shop").schedules) == 1


MISFITS = [
    ("full: bool", '{"nope": 1}', "payload.nope: is not a parameter of handler 'a.b'"),
    ("full: bool", "", "payload.full: is required by handler 'a.b'"),
    ("full: bool", '{"full": "yes"}', "payload.full: must be true or false"),
    ("ctx, *, full, n=1", '{"n": 1}', "payload.full: is required by handler 'a.b'"),
    ("ctx: Context", '{"n": 1}', "payload.n: is not a parameter of handler 'a.b'"),
    ("c: Attempt, n: int", '{"c": 1, "n": 1}', "payload.c: is not a parameter"),
    ("", '{"n": 1}', "payload.n: is not a parameter of handler 'a.b'"),
    ("items: list[str]", '{"items": ["tea", 3]}', "payload.items.1: must be text"),
    ("items: 'list[str] | None'", '{"items": 3}', "payload.items: must be a list or null"),
    ("payload: dict", "", "payload: must be an object"),
    ("payload: list, ctx", '{"a": 1}', "payload: must be a list"),
    ("full: bool", "[True]", "payload: the payload must be an object with the parameters"),
    ("day: date", "", "payload.day: is required by handler 'a.b'"),
    ("day: dt.date", "", "payload.day: is required by handler 'a.b'"),
    ("kind: Choice", '{"kid": 1}', "payload.kid: is not a parameter of handler 'a.b'"),
    ("order: Order, n: int", '{"nope": 1}', "payload.nope: is not a parameter of handler 'a.b'"),
    ("a: int, b: int, c: int", '{"a": 1, "b": 2}', "payload.c: is required by handler 'a.b'"),
]


@pytest.mark.parametrize(("parameters", "payload", "reason"), MISFITS)
def test_payload_that_does_not_fit_is_refused_with_file_and_line(
    write: Load, parameters: str, payload: str, reason: str
):
    file = write(declared(parameters, payload))

    with pytest.raises(BadHandlers) as caught:
        manifest.read(file)
    assert str(caught.value).startswith(f"handlers: {file}:{LINE}: {reason}")


def test_line_is_that_of_the_schedule(write: Load):
    text = """@task("a.b", schedule=[
    every(60, name="x", payload={"n": 1}),
    every(60, name="y", payload={"m": 1}),
])
def f(n: int): ..."""
    file = write(text)

    with pytest.raises(BadHandlers, match=rf":{LINE + 2}: payload\.m: is not a parameter"):
        manifest.read(file)


def test_parameters_that_another_decorator_may_change_are_not_checked_in_the_source(
    imported: Load,
):
    text = '@task("a.b", schedule=every(60, payload={"n": 1}))\n@plain\ndef f(a, b, c): ...'
    file = imported(text)

    assert len(manifest.read(file).schedules) == 1
    assert len(manifest.registered([file.parent], app="shop").schedules) == 1


def test_handler_of_two_names_is_checked_under_both(write: Load):
    text = '@task("a.b", schedule=every(60, payload={"n": 1}))\n@task("a.c")\ndef f(m): ...'

    with pytest.raises(BadHandlers, match=r"payload\.n: is not a parameter of handler 'a\.b'"):
        manifest.read(write(text))


def test_function_that_cannot_be_a_handler_is_refused(write: Load):
    with pytest.raises(BadHandlers, match=rf":{LINE}: handler 'a\.b' must take .*: it is a method"):
        manifest.read(write(declared("self, full", "")))


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        (declared("day: date", '{"day": "soon"}'), r"payload\.day: input should be a valid date"),
        (declared("order: Order", '{"order": {"id": "x"}}'), r"payload\.order\.id: input should"),
        (
            '@task("a.b", schedule=every(60))\n@functools.wraps(plain)\ndef f(n): ...',
            r"payload\.function: is required by handler 'a\.b'",
        ),
        (declared("n: 'Missing'", '{"n": 1}'), "handler 'a.b': n: the annotation cannot be read"),
    ],
)
def test_runner_checks_what_the_source_does_not_tell(imported: Load, declaration: str, reason: str):
    file = imported(declaration)

    assert len(manifest.read(file).schedules) == 1
    with pytest.raises(BadHandlers, match=rf"{file}:{LINE}: {reason}"):
        manifest.registered([file.parent], app="shop")
