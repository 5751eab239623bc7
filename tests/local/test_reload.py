"""Reloading handlers: real files, and the polls of the runner one by one."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from duetime.executor.run_control import RunControl
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry, sources
from duetime.handlers.registry import BadHandlers
from duetime.local.console import TerminalNotices
from duetime.local.options import LocalOptions
from duetime.local.reload import NotReloaded, Reloaded, Reloader
from duetime.local.reload_watch import poll
from tests.factories import a_running_task, a_spec

PATIENCE = 60.0  # seconds; a wait that long is a failure
Write = Callable[[str, str], Path]


def a_handler(name: str, result: str = "'old'", *, isolated: bool = False, more: str = "") -> str:
    return (
        f"from duetime import task\n{more}\n@task({name!r}, isolated={isolated})\n"
        f"def run_{name.replace('.', '_')}(payload, ctx):\n    return {result}\n"
    )


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(sources, "_kept", ())
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
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


def loaded(*given: str) -> Reloader:
    reloader = Reloader(given)
    reloader.load()
    return reloader


def polled(reloader: Reloader) -> Reloaded | None:
    """The second poll that sees a change loads it."""
    assert reloader.poll() is None
    return reloader.poll()


def result_of(name: str) -> Any:
    spec = a_spec(target={"type": "python", "handler": name})
    task = a_running_task(spec=spec)
    result = run_handler(task, RunControl(task, lambda progress: None))
    return getattr(result, "text", result)


def test_unchanged_files_are_not_loaded_again(write: Write) -> None:
    write("shop/first_rl.py", a_handler("a"))
    reloader = loaded("shop")
    module = sys.modules["first_rl"]
    assert polled(reloader) is None
    assert sys.modules["first_rl"] is module


def test_changed_file_is_loaded_once_it_is_no_longer_written(write: Write) -> None:
    write("shop/second_rl.py", a_handler("a"))
    reloader = loaded("shop")
    write("shop/second_rl.py", "from duetime import ta")
    assert reloader.poll() is None
    write("shop/second_rl.py", a_handler("a", "'new'"))
    assert reloader.poll() is None
    assert result_of("a") == "old"
    reloaded = reloader.poll()
    assert reloaded == Reloaded(names=frozenset("a"), added=frozenset(), removed=frozenset())
    assert result_of("a") == "new"
    assert polled(reloader) is None


def test_file_of_the_same_size_and_second_is_loaded(write: Write) -> None:
    """Python's bytecode cache would return the old code."""
    for number in range(3):
        write("shop/third_rl.py", a_handler("a", str(number)))
        if number == 0:
            reloader = loaded("shop")
        else:
            assert polled(reloader)
        assert result_of("a") == number


def test_new_and_deleted_files_add_and_remove_names(write: Write) -> None:
    gone = write("shop/fourth_rl.py", a_handler("a"))
    write("shop/fifth_rl.py", a_handler("b"))
    reloader = loaded("shop")
    write("shop/sixth_rl.py", a_handler("c"))
    gone.unlink()
    reloaded = polled(reloader)
    assert reloaded
    assert (reloaded.added, reloaded.removed) == ({"c"}, {"a"})
    assert registry.names() == {"b", "c"}


def test_handler_moves_to_another_file(write: Write) -> None:
    write("shop/seventh_rl.py", a_handler("a"))
    write("shop/eighth_rl.py", a_handler("b"))
    reloader = loaded("shop")
    write("shop/seventh_rl.py", "")
    write("shop/eighth_rl.py", a_handler("a", "'moved'"))
    assert polled(reloader)
    assert (registry.names(), result_of("a")) == ({"a"}, "moved")


def test_module_that_handlers_import_is_loaded_again(write: Write) -> None:
    write("shop/prices_rl/__init__.py", "")
    write("shop/prices_rl/tables.py", "PRICE = 1")
    write("shop/ninth_rl.py", a_handler("a", "PRICE", more="from prices_rl.tables import PRICE\n"))
    reloader = loaded("shop")
    assert result_of("a") == 1
    write("shop/prices_rl/tables.py", "PRICE = 2")
    assert polled(reloader)
    assert result_of("a") == 2


@pytest.mark.parametrize("source", ["alone_rl.py", "package_rl.tasks", "single_rl"])
def test_sources_that_are_files_and_modules_are_watched(write: Write, source: str) -> None:
    write("package_rl/__init__.py", "")
    file = source.removesuffix(".py").replace(".", "/") + ".py"
    write(file, a_handler("a"))
    reloader = loaded(source)
    write(file, a_handler("a", "'new'"))
    assert polled(reloader)
    assert result_of("a") == "new"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ndef f(:\n", 2, "SyntaxError: invalid syntax"),
        ("\nimport not_there_rl\n", 2, "ModuleNotFoundError: No module named 'not_there_rl'"),
        ("raise SystemExit(3)", 1, "SystemExit: 3"),
    ],
)
def test_broken_file_keeps_the_old_handlers_until_it_is_repaired(
    write: Write, text: str, line: int, words: str
) -> None:
    write("shop/rl_parts/part.py", "")  # a package without a file of its own
    write("shop/a_rl.py", a_handler("a", more="import rl_parts.part\n"))
    write("shop/b_rl.py", a_handler("b"))
    reloader = loaded("shop")
    old = [sys.modules[name] for name in ("a_rl", "b_rl", "rl_parts", "rl_parts.part")]

    write("shop/a_rl.py", a_handler("a", "'new'", more="import rl_parts.part\n"))
    file = write("shop/b_rl.py", text)
    with pytest.raises(NotReloaded) as caught:
        polled(reloader)
    assert str(caught.value) == f"{file}:{line}: {words}"
    assert [result_of(name) for name in "ab"] == ["old", "old"]
    assert [sys.modules[m.__name__] for m in old] == old
    assert old[2].part is old[3]  # type: ignore[attr-defined]
    assert polled(reloader) is None, "the same error is reported once"

    write("shop/b_rl.py", a_handler("b", "'new'"))
    assert polled(reloader)
    assert [result_of(name) for name in "ab"] == ["new", "new"]


def test_module_first_imported_after_a_failed_reload_is_loaded_again(write: Write) -> None:
    write("shop/m_rl.py", a_handler("a", "__import__('lazy_rl').X"))
    write("shop/n_rl.py", "")
    reloader = loaded("shop/m_rl.py")
    write("shop/lazy_rl.py", "X = 1")
    write("shop/n_rl.py", "(")
    write("shop/m_rl.py", a_handler("a", more="import n_rl\n"))
    with pytest.raises(NotReloaded):
        polled(reloader)
    assert result_of("a") == 1
    write("shop/m_rl.py", a_handler("a", "__import__('lazy_rl').X"))
    write("shop/lazy_rl.py", "X = 2")
    assert polled(reloader)
    assert result_of("a") == 2


def test_missing_module_repairs_its_importer_when_it_is_written(write: Write) -> None:
    write("shop/c_rl.py", a_handler("a"))
    reloader = loaded("shop")
    write("shop/c_rl.py", a_handler("a", "later_rl.X", more="import later_rl\n"))
    with pytest.raises(NotReloaded):
        polled(reloader)
    write("shop/later_rl.py", "X = 5")
    assert polled(reloader)
    assert result_of("a") == 5


def test_attempt_finishes_with_the_code_it_began_with(write: Write) -> None:
    text = a_handler("a", "helper()", more="import threading\nbegun = threading.Event()\n")
    text += "    \ndef helper(): return 'OLD'\n"
    text = text.replace("    return", "    begun.set(); go_on.wait(60)\n    return")
    text = text.replace("begun =", "go_on = threading.Event()\nbegun =")
    write("shop/d_rl.py", text)
    reloader = loaded("shop")
    old = sys.modules["d_rl"]
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(result_of("a")), daemon=True)
    thread.start()
    assert old.begun.wait(PATIENCE)
    write("shop/d_rl.py", a_handler("a", "'new'"))
    assert polled(reloader)
    assert result_of("a") == "new"
    old.go_on.set()
    thread.join(PATIENCE)
    assert results == ["OLD"]


def test_isolated_handler_runs_the_loaded_code_in_new_children(write: Write) -> None:
    write("shop/rl_values.py", "VALUE = 'old'")
    text = a_handler("a", "VALUE", isolated=True, more="from rl_values import VALUE\n")
    write("shop/e_rl.py", text)
    reloader = loaded("shop")
    assert result_of("a") == '"old"'
    write("shop/rl_values.py", "VALUE = 'new'")
    assert polled(reloader)
    assert result_of("a") == '"new"'
    write("shop/rl_values.py", "VALUE = (")
    with pytest.raises(NotReloaded):
        polled(reloader)
    assert result_of("a") == '"new"', "the file is broken, the loaded code is not"


def test_handler_that_is_no_longer_isolated_runs_in_the_executor(write: Write) -> None:
    write("shop/f_rl.py", a_handler("a", isolated=True))
    reloader = loaded("shop")
    write("shop/f_rl.py", a_handler("a"))
    assert polled(reloader)
    found = registry.find("a")
    assert found
    assert not found.isolated


def test_other_threads_see_the_old_handlers_while_files_are_imported(write: Write) -> None:
    write("shop/g_rl.py", a_handler("a"))
    reloader = loaded("shop")
    look = "import threading\nfrom tests.local.test_reload import record\n"
    look += "t = threading.Thread(target=record)\nt.start()\nt.join()\n"
    write("shop/g_rl.py", a_handler("b").replace("@task", f"{look}@task"))
    RECORDED.clear()
    assert polled(reloader)
    assert [{"a"}] == RECORDED
    assert registry.names() == {"b"}


RECORDED: list[frozenset[str]] = []


def record() -> None:
    RECORDED.append(registry.names())


def test_libraries_and_duetime_are_never_loaded_again(write: Write) -> None:
    write("site-packages/rl_library.py", "")
    sys.path.append("site-packages")
    write("h_rl.py", a_handler("a", more="import rl_library, duetime.core.ids\n"))
    reloader = loaded("h_rl.py")
    kept = [sys.modules[name] for name in ("rl_library", "duetime.core.ids")]
    write("h_rl.py", a_handler("a", "1", more="import rl_library, duetime.core.ids\n"))
    assert polled(reloader)
    assert [sys.modules[m.__name__] for m in kept] == kept


def test_files_of_virtual_environments_and_hidden_folders_are_not_watched(write: Write) -> None:
    write("shop/i_rl.py", a_handler("a"))
    write("shop/env/pyvenv.cfg", "")
    reloader = loaded("shop")
    for folder in ("env/lib", ".hidden", "node_modules", "__pycache__"):
        write(f"shop/{folder}/x.py", "")
    assert polled(reloader) is None


def test_working_directory_may_change(write: Write, tmp_path: Path) -> None:
    write("shop/j_rl.py", a_handler("a", more="import os\nos.chdir('/')\n"))
    reloader = loaded("shop")
    write("shop/j_rl.py", a_handler("a", "'new'"))
    assert polled(reloader)
    assert result_of("a") == "new"


def test_first_load_refuses_broken_handlers(write: Write) -> None:
    write("shop/k_rl.py", "(")
    with pytest.raises(BadHandlers, match=r"k_rl\.py:1"):
        Reloader(["shop"]).load()


def test_notices_say_what_changed_on_one_line(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("shop/l_rl.py", a_handler("a"))
    reloader = loaded("shop")
    notices = TerminalNotices(Console(stderr=True, width=40), LocalOptions())
    file = write("shop/l_rl.py", "\n(")
    for _ in range(3):
        poll(reloader, notices)
    write("shop/l_rl.py", a_handler("b"))
    for _ in range(3):
        poll(reloader, notices)
    broken, repaired = capsys.readouterr().err.splitlines()
    assert broken == (
        f"warning: handlers not reloaded: {file}:2: SyntaxError: '(' was never closed;"
        " the loaded ones stay in use"
    )
    assert repaired == "Handlers reloaded; added: b; removed: a"
