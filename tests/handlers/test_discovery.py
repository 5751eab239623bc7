"""The names of handlers, read from their source code."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from duetime.handlers.discovery import handlers_in
from duetime.handlers.manifest import defaults_in, load, manifest_of
from duetime.handlers.registry import BadHandlers, HandlersNotFound

EXAMPLES = Path(__file__).parents[2] / "examples" / "handlers"

Write = Callable[[str, str], Path]


def names_in(folder: Path) -> list[str]:
    return [one.name for one in handlers_in(folder)]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    "source",
    [
        "from duetime import task\n@task('a')\ndef f(p, c): ...",
        "from duetime import Context, task\n@task('a', isolated=True)\nasync def f(p, c): ...",
        "from duetime import task as t\n@t('a')\ndef f(p, c): ...",
        "from duetime import *\n@task('a')\ndef f(p, c): ...",
        "import duetime\n@duetime.task('a')\ndef f(p, c): ...",
        "import duetime as d\n@d.task(name='a')\ndef f(p, c): ...",
        "import duetime.client\n@duetime.task('a')\ndef f(p, c): ...",
        "from duetime import task\ntask('a')(lambda p, c: None)",
        "from duetime import task\n@other\n@task(isolated=True, name='a')\ndef f(p, c): ...",
        "if True:\n    from duetime import task\n    @task('a')\n    def f(p, c): ...",
        "from duetime import task\nraise RuntimeError\n@task('a')\ndef f(p, c): ...",
        "import duetime\nimport no_such_library\n@duetime.task(('a'))\ndef f(p, c): ...",
        "from duetime import task\n@task('' 'a')\ndef f(p, c): ...",
        "# -*- coding: latin-1 -*-\nfrom duetime import task\n@task('a')\ndef f(p, c): ...",
    ],
)
def test_name_is_found_for_every_form_of_registration(write: Write, source: str):
    folder = write("handlers/shop.py", source).parent

    assert names_in(folder) == ["a"]


@pytest.mark.parametrize(
    "source",
    [
        "from elsewhere import task\ntask(1)",
        "from .duetime import task\ntask(1)",
        "import invoke as duetime\nduetime.task(1)",
        "import duetime.client as client\nclient.task(1)",
        "from duetime import Context\nContext.task(1)",
        "import duetime\nduetime.tasks(1)\nother.duetime.task(1)",
        "# from duetime import task\n'@task(\"b\")'",
    ],
)
def test_other_decorators_are_ignored(write: Write, source: str):
    write("handlers/ours.py", "from duetime import task\ntask('a')(print)")
    folder = write("handlers/theirs.py", source).parent

    assert names_in(folder) == ["a"]


def test_names_of_all_files_come_sorted(write: Write):
    for name, file in {"b": "a.py", "c": "deep/er/x.py", "a": "deep/__init__.py"}.items():
        write(f"handlers/{file}", f"from duetime import task\n@task({name!r})\ndef f(p, c): ...")
    for never_imported in ("__init__.py", "__main__.py"):
        write(f"handlers/{never_imported}", "from duetime import task\ntask('no')(print)")
    folder = write("handlers/notes.txt", "task('no')").parent

    assert names_in(folder) == ["a", "b", "c"]


A_HANDLER = "from duetime import task\n@task('a')\ndef f(p, c): ..."
NOT_PYTHON = "def f(:"


@pytest.mark.parametrize(
    "file",
    [
        ".venv/lib/python3.13/site-packages/library/x.py",
        "venv/lib/x.py",
        ".hidden/__init__.py",
        "__pycache__/x.py",
        "site-packages/library/__init__.py",
        "package/.cache/x.py",
        "scripts/x.py",
    ],
)
def test_file_that_a_runner_does_not_load_is_not_read(write: Write, file: str):
    write("handlers/package/__init__.py", "")
    write(f"handlers/{file}", NOT_PYTHON)
    folder = write("handlers/shop.py", A_HANDLER).parent

    assert names_in(folder) == ["a"]


@pytest.mark.parametrize(
    "statement",
    [
        "import jobs.daily",
        "from jobs import daily",
        "from jobs.daily import f",
        "from . import jobs",
        "def later():\n    import jobs.daily",
        "import package",
    ],
)
def test_folder_without_init_is_read_if_a_file_imports_it(write: Write, statement: str):
    write("handlers/package/__init__.py", "import jobs.daily")
    write("handlers/jobs/daily.py", A_HANDLER)
    folder = write("handlers/shop.py", statement).parent

    assert names_in(folder) == ["a"]


@pytest.mark.parametrize(
    "call",
    [
        *(
            "task(NAME)",
            "task(name=NAME)",
            "task(f'a')",
            "task('a' + 'b')",
            "task(7)",
            "task(b'a')",
        ),
        *("task()", "task(isolated=True)", "task(*names)", "task(**given)", "task('a', name=NAME)"),
    ],
)
def test_name_must_be_a_string_literal(write: Write, call: str):
    file = write("handlers/shop.py", f"from duetime import task\n\n@{call}\ndef f(p, c): ...")

    with pytest.raises(BadHandlers) as caught:
        names_in(file.parent)
    assert str(caught.value) == (
        f"handlers: {file}:3: the name of a handler must be a string literal,"
        " so that the API can read it"
    )


@pytest.mark.parametrize("made", ["def f(p, c): ...", "async def f(p, c): ...", "class F: ..."])
def test_decorator_without_a_name_is_refused(write: Write, made: str):
    file = write("handlers/shop.py", f"import duetime\n@duetime.task\n{made}")

    with pytest.raises(BadHandlers) as caught:
        names_in(file.parent)
    assert str(caught.value) == f'handlers: {file}:2: a handler needs a name: @task("…")'


def test_name_that_one_file_registers_twice_is_refused(write: Write):
    source = "from duetime import task\n@task('a')\ndef f(p, c): ...\n@task('a')\ndef g(p, c): ..."
    file = write("handlers/shop.py", source)

    with pytest.raises(BadHandlers) as caught:
        names_in(file.parent)
    assert str(caught.value) == (
        f"handlers: {file}:4: handler 'a' is registered at {file}:2 already"
    )


def test_name_that_two_files_register_is_refused(write: Write):
    source = "from duetime import task\n@task('a')\ndef f(p, c): ..."
    first, second = (write(f"handlers/{name}.py", source) for name in ("one", "two"))

    with pytest.raises(BadHandlers) as caught:
        names_in(first.parent)
    assert str(caught.value) == (
        f"handlers: {second}:2: handler 'a' is registered at {first}:2 already"
    )


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (b"x = 1\ndef f(:\n", 2, "SyntaxError: invalid syntax"),
        (b"# -*- coding: nonsense -*-", 1, "SyntaxError: unknown encoding: nonsense"),
    ],
)
def test_file_that_is_not_python_is_refused(write: Write, source: bytes, line: int, words: str):
    file = write("handlers/shop.py", "")
    file.write_bytes(source)

    with pytest.raises(BadHandlers) as caught:
        names_in(file.parent)
    assert str(caught.value).startswith(f"handlers: {file}:{line}: {words}")


def test_folder_without_a_handler_is_refused(write: Write, tmp_path: Path):
    folder = write("handlers/shop.py", "from duetime import task").parent

    with pytest.raises(BadHandlers) as caught:
        names_in(folder)
    assert str(caught.value) == f"handlers: {folder} registers no handler"

    with pytest.raises(HandlersNotFound) as missing:
        names_in(tmp_path / "nowhere")
    assert str(missing.value) == f"handlers: there is no folder '{tmp_path / 'nowhere'}'"


def test_names_from_the_source_are_those_that_an_import_registers():
    """In a new process, because a module that another test has imported registers nothing again."""
    code = (
        "import sys; from duetime.handlers import registry;"
        "print(*sorted(registry.load(sys.argv[1])))"
    )
    asked = [sys.executable, "-c", code, str(EXAMPLES)]
    loaded = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()

    assert len(loaded) > 5
    assert names_in(EXAMPLES) == loaded


def test_manifest_that_is_written_is_the_one_that_is_read(write: Write):
    source = (
        "\n@task('b', priority='low', timeout='2m', retry={'max_attempts': 3},"
        " limits=[{'name': 'stripe', 'key': 'k'}], fairness_key='f')\ndef f(p, ctx): ..."
    )
    write("handlers/deep/shop.py", "from duetime import task" + source)
    folder = write("handlers/a.py", f"import deep.shop\n{A_HANDLER}").parent
    manifest = manifest_of(handlers_in(folder), folder, app="shop").json()
    defaults = {"priority": "low", "timeout": 120.0, "retry": {"max_attempts": 3}}
    defaults |= {"limits": [{"name": "stripe", "key": "k", "on_full": "queue"}]}
    defaults |= {"fairness_key": "f"}

    assert manifest["handlers"]["b"] == {"defaults": defaults, "source": "deep/shop.py:2"}
    assert defaults_in(load(write("handlers.json", json.dumps(manifest)))) == {
        "a": {},
        "b": defaults,
    }


def test_list_of_names_that_an_earlier_release_wrote_is_read(write: Write):
    assert defaults_in(load(write("handlers.json", '["a", "größe"]'))) == {"a": {}, "größe": {}}
    assert defaults_in(load(write("handlers.json", "[]"))) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ": Expecting value: line 1 column 1 (char 0)"),
        ('{"a": 1}', " is not a manifest of handlers"),
        ('{"handlers": {"a": 1}}', " is not a manifest of handlers"),
        ('["a", 1]', " is not a manifest of handlers"),
        ('"a"', " is not a manifest of handlers"),
    ],
)
def test_file_without_a_manifest_is_refused(write: Write, text: str, reason: str):
    file = write("handlers.json", text)

    with pytest.raises(BadHandlers) as caught:
        load(file)
    assert str(caught.value) == f"handlers: {file}{reason}"


def test_missing_manifest_is_refused(tmp_path: Path):
    with pytest.raises(HandlersNotFound, match=r"^handlers: there is no file '.*handlers\.json'$"):
        load(tmp_path / "handlers.json")


@pytest.mark.parametrize(
    ("arguments", "line", "reason"),
    [
        ("priority=LOW", 2, "priority must be a literal, so that the API can read it"),
        ("\n    timeout=60 * 5", 3, "timeout must be a literal, so that the API can read it"),
        ("retry=dict(max_attempts=3)", 2, "retry must be a literal, so that the API can read it"),
        ("priority='urgent'", 2, "priority: must be one of high, medium, low, not 'urgent'"),
        ("timeout='soon'", 2, "timeout: 'soon' is not a duration such as 90, 90s, 5m, 1h30m or 2d"),
        ("retry={'tries': 3}", 2, "retry.tries: is not one of max_attempts, base_delay"),
    ],
)
def test_default_that_cannot_be_read_is_refused_with_its_line(
    write: Write, arguments: str, line: int, reason: str
):
    file = write(
        "handlers/shop.py", f"from duetime import task\n@task('a', {arguments})\ndef f(): ..."
    )

    with pytest.raises(BadHandlers) as caught:
        handlers_in(file.parent)
    assert str(caught.value).startswith(f"handlers: {file}:{line}: {reason}")


@pytest.mark.parametrize(
    ("function", "typed"),
    [
        ("def f(payload, ctx): ...", False),
        ("def f(payload: Any, ctx: duetime.Context) -> 'dict[str, Any]': ...", False),
        ("def f(ctx: Context, *, a: list[str] | None = None) -> None: ...", False),
        ("async def f(a: dict[str, list[int]], b: t.Any = 1) -> float: ...", False),
        ("def f(order: Order, ctx: Context): ...", True),
        ("def f(a: str) -> datetime: ...", True),
        ("def f(a: 'Order'): ...", True),
        ("def f(a: dict[int, str]): ...", True),
        ("def f(a: list[UUID]): ...", True),
        ("def f(a: 'no type'): ...", True),
        ("def f(**more: date): ...", True),
    ],
)
def test_annotation_that_needs_pydantic_is_found(write: Write, function: str, typed: bool):
    file = write("handlers/shop.py", f"import duetime\n@duetime.task('a')\n{function}")

    assert [one.typed for one in handlers_in(file.parent)] == [typed]


def test_function_that_is_registered_by_a_call_may_need_pydantic(write: Write):
    file = write("handlers/shop.py", "import duetime\nduetime.task('a')(elsewhere.f)")

    assert [one.typed for one in handlers_in(file.parent)] == [True]


def test_discovery_needs_neither_boto3_nor_pydantic():
    code = (
        "import sys, duetime.handlers.discovery;"
        "sys.exit(bool({'boto3', 'pydantic', 'httpx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
