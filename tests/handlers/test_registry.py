"""Loading handlers, and the errors when that fails."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from duetime.handlers import registry
from duetime.handlers.registry import BadHandlers, HandlersNotFound
from duetime.local import runner
from duetime.local.console import TerminalNotices
from duetime.local.options import LocalOptions

Write = Callable[[str, str], Path]


def a_handler(name: str) -> str:
    return f"from duetime import task\n\n@task({name!r})\ndef run(payload, ctx):\n    pass\n"


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_handlers_load_from_a_folder_a_file_and_a_module(write: Write) -> None:
    write("folder/one_of_a_folder.py", a_handler("a"))
    write("folder/__init__.py", "raise RuntimeError")
    write("a_file.py", a_handler("b"))
    write("a_package/__init__.py", "")
    write("a_package/a_module.py", a_handler("c"))
    assert registry.load("folder") == {"a"}
    assert registry.load("a_file.py") == {"b"}
    assert registry.load("a_package.a_module") == {"c"}
    assert registry.names() == {"a", "b", "c"}


def test_decorator_marks_a_handler_as_isolated(write: Write) -> None:
    write("alone.py", a_handler("a").replace("'a'", "'a', isolated=True") + a_handler("b"))
    registry.load("alone.py")
    found = [registry.find(name) for name in ("a", "b", "missing")]
    assert [one and one.isolated for one in found] == [True, False, None]


def test_neighbours_import_each_other_and_register_once(write: Write) -> None:
    write("folder/first_one.py", "import second_one\n" + a_handler("a"))
    write("folder/second_one.py", a_handler("b"))
    assert registry.load("folder") == {"a", "b"}
    assert registry.load("folder") == frozenset()


@pytest.mark.parametrize("taken", ["json.py", "sys.py", "antigravity.py", "shop_tasks.py"])
def test_file_named_like_another_module_is_refused(write: Write, taken: str) -> None:
    write("first/shop_tasks.py", a_handler("a"))
    registry.load("first")
    write(f"second/{taken}", a_handler("b"))
    with pytest.raises(BadHandlers, match=f"second/{taken}: '.*' is the name of another module"):
        registry.load("second")


def test_folder_of_handlers_shadows_no_installed_module(write: Write) -> None:
    write("folder/pricing_rules.py", a_handler("a"))
    registry.load("folder")
    assert sys.path[-1] == str(Path("folder").resolve())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ndef f(:\n", 2, "SyntaxError: invalid syntax"),
        ("\nimport no_such_module\n", 2, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise RuntimeError('two\\nlines')", 1, "RuntimeError: two lines"),
        ("import sys\nsys.exit(3)", 2, "SystemExit: 3"),
        ("import json\njson.dumps(", 2, "SyntaxError: '(' was never closed"),
        (
            "from duetime import task\n@task('a')\ndef f(p, c): ...\n@task('a')\ndef g(p, c): ...",
            4,
            "ValueError: handler 'a' is registered twice: broken_one.f (FILE:2) and broken_one.g"
            " (FILE:4)",
        ),
    ],
)
def test_handlers_that_cannot_be_imported_are_refused_with_their_line(
    write: Write, text: str, line: int, words: str
) -> None:
    file = write("folder/broken_one.py", text)
    for source in ("folder", "folder/broken_one.py"):
        with pytest.raises(BadHandlers) as caught:
            registry.load(source)
        expected = f"handlers: {source}: {file}:{line}: {words.replace('FILE', str(file))}"
        assert str(caught.value) == expected
        registry._handlers.clear()


def test_error_of_a_library_names_the_line_of_the_handlers_that_called_it(write: Write) -> None:
    write("site-packages/a_library.py", "def fail():\n    int('two')\n")
    sys.path.insert(0, str(Path("site-packages").resolve()))
    helper = write("folder/a_helper.py", "import json\n\nprices = json.loads('{')\n")
    write("folder/b_tasks.py", "import a_helper\n")
    third = write("other.py", "import a_library\na_library.fail()\n")
    for source in ("folder", "folder/b_tasks.py"):
        with pytest.raises(BadHandlers, match=f"^handlers: {source}: {helper}:3: JSONDecodeError"):
            registry.load(source)
    with pytest.raises(BadHandlers, match=f"^handlers: other.py: {third}:2: ValueError: invalid"):
        registry.load("other.py")


def test_error_with_no_frame_of_the_handlers_names_the_library(write: Write) -> None:
    library = write("site-packages/a_library.py", "int('two')\n")
    sys.path.insert(0, str(Path("site-packages").resolve()))
    with pytest.raises(BadHandlers, match=f"^handlers: a_library: {library}:1: ValueError"):
        registry.load("a_library")


def test_handler_that_is_no_function_can_be_registered_twice_without_a_line(write: Write) -> None:
    write(
        "objects.py",
        "from duetime import task\nfrom functools import partial\n"
        "task('a')(partial(print, 1))\n\n@task('a')\ndef f(p, c): ...\n",
    )
    with pytest.raises(BadHandlers, match=r"twice: \S+ and objects\.f \(.*objects\.py:5\)$"):
        registry.load("objects.py")


def test_module_that_cannot_be_imported_is_refused(write: Write) -> None:
    file = write("broken_package/__init__.py", "import no_such_module")
    with pytest.raises(BadHandlers, match=f"handlers: broken_package.tasks: {file}:1: Module"):
        registry.load("broken_package.tasks")


@pytest.mark.parametrize(
    "source",
    ["./nowhere", "nowhere.py", "nowhere", "no.where", "json.nowhere", "a..b", ".a", "a-b"],
)
def test_missing_source_is_refused(source: str) -> None:
    with pytest.raises(HandlersNotFound) as caught:
        registry.load(source)
    assert str(caught.value) == f"handlers: there is no folder, file or module {source!r}"


@pytest.mark.parametrize("source", ["", " "])
def test_empty_source_does_not_mean_this_folder(write: Write, source: str) -> None:
    write("stray_one.py", a_handler("a"))
    with pytest.raises(HandlersNotFound, match="no folder, file or module is named"):
        registry.load(source)


def test_file_that_is_not_py_is_refused(write: Write) -> None:
    write("README.md", "# Hello")
    with pytest.raises(BadHandlers, match=r"handlers: README\.md is not a \.py file"):
        registry.load("README.md")


def on_a_terminal(options: LocalOptions) -> TerminalNotices:
    return TerminalNotices(Console(stderr=True), options)


def test_runner_reports_bad_handlers_on_one_line(
    write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "notices_for", on_a_terminal)
    file = write("[red]/broken_two.py", "raise RuntimeError('[bold]no')")
    assert runner.run(LocalOptions(memory=True, handlers=("[red]",))) == 1
    printed = capsys.readouterr().err
    assert printed == f"error: handlers: [red]: {file}:1: RuntimeError: [bold]no\n"


def test_runner_reports_a_source_without_handlers(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("folder/no_handler.py", "")
    options = LocalOptions(handlers=("folder",))
    runner._load_handlers(options, on_a_terminal(options))
    assert capsys.readouterr().err == "warning: handlers: folder registers no new handler\n"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda a, *more: None, "a payload has no values for *more"),
        (lambda a, /, b: None, "a must have a name: remove the /"),
        (lambda self, a: None, "it is a method; register a function"),
        (lambda a, b, ctx: None, "ctx must come first, or second of two"),
        (lambda payload, ctx, *, more: None, "more would get no value"),
    ],
)
def test_function_that_cannot_be_a_handler_is_refused_where_it_is_registered(function, reason):
    with pytest.raises(TypeError) as caught:
        registry.task("shop.restock")(function)
    shapes = "(payload, ctx), (ctx, *, a, b) or (a, b)"
    assert str(caught.value) == f"handler 'shop.restock' must take {shapes}: {reason}"


def test_decorator_without_a_name_is_refused():
    with pytest.raises(TypeError, match="a handler needs a name"):
        registry.task(lambda payload, ctx: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"priority": "urgent"}, "priority: must be one of high, medium, low, not 'urgent'"),
        ({"timeout": 0.5}, "timeout: must be from 1 to 604800 seconds, not 0.5"),
        ({"timeout": -1}, "timeout: a duration must be finite and not negative, not -1"),
        ({"retry": 3}, 'retry: must be a dict such as {"max_attempts": 3}'),
        ({"retry": {"max_attempts": 0}}, "retry.max_attempts: must be from 1 to 100, not 0"),
        ({"retry": {"max_attempts": True}}, "retry.max_attempts: must be a whole number, not True"),
        ({"limits": "stripe"}, "limits: must be a list"),
        ({"limits": ["stripe"]}, "limits.0: must be an object"),
        (
            {"limits": [{"name": "a:b"}]},
            "limits.0.name: must be 1 to 64 letters, digits and ._- only",
        ),
        ({"limits": [{"name": "a"}] * 3}, "limits: must have at most 2 entries"),
        (
            {"fairness_key": "a b"},
            "fairness_key: must be 1 to 128 letters, digits and ._:- only",
        ),
        ({"tags": {"team": 1}}, 'tags: must be a dict of short texts such as {"team": "growth"}'),
    ],
)
def test_default_that_the_api_would_refuse_is_refused_where_it_is_given(given, reason):
    with pytest.raises(ValueError, match=r"^handler 'shop\.restock': ") as caught:
        registry.task("shop.restock", **given)
    assert str(caught.value) == f"handler 'shop.restock': {reason}"
