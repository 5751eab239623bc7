"""The runner syncs the schedules of its handlers, and says what has become of them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from duetime.api.http import Response
from duetime.api.manifest_sync import NotSynced
from duetime.core.schedules.ports import ScheduleListing
from duetime.handlers import registry
from duetime.handlers.registry import BadHandlers
from duetime.local.console import LoggedNotices, TerminalNotices
from duetime.local.declared_schedules import DeclaredSchedules
from duetime.local.options import LocalOptions
from duetime.local.reload import Reloader
from duetime.local.reload_watch import poll, sync_schedules
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import Service
from tests.factories import SteppedClock

HEAD = "from duetime import every, task\n"
SILENT = {"type": "urn:duetime:problem:unavailable", "detail": "The store could not be read."}
ONE = HEAD + "@task('reports.daily', schedule=every(600))\ndef f(p, ctx): ...\n"


@pytest.fixture
def service() -> Iterator[Service]:
    with closing(SqliteTaskStore(None)) as store:
        yield Service(store, SteppedClock())


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "shop").mkdir()

    def written(text: str) -> Path:
        file = tmp_path / "shop/declared_in_shop.py"
        file.write_text(text)
        return file

    yield written
    sys.modules.pop("declared_in_shop", None)


def names(service: Service) -> dict[str | None, str]:
    page = service.ports.schedules.page(ScheduleListing())
    return {schedule.plan.name: schedule.status.value for schedule in page.schedules}


def test_schedules_are_synced_and_reported_in_short(
    service: Service, write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    write(ONE)
    registry.load("shop")
    declared = DeclaredSchedules(["shop"], service.api.call)
    notices = TerminalNotices(Console(stderr=True, width=80), LocalOptions())

    sync_schedules(declared, notices)
    sync_schedules(declared, LoggedNotices())

    assert capsys.readouterr().err.splitlines()[0] == "Schedules in code: 1 created"
    assert declared.sync() == "1 unchanged"
    assert names(service) == {"reports.daily": "active"}


def test_handlers_without_schedules_are_not_mentioned(
    service: Service, write: Callable[[str], Path]
):
    write(HEAD + "@task('reports.daily')\ndef f(p, ctx): ...\n")
    registry.load("shop")

    assert DeclaredSchedules(["shop"], service.api.call).sync() is None


def test_computed_schedule_stops_the_start_with_file_and_line(
    service: Service, write: Callable[[str], Path]
):
    file = write(ONE.replace("600", "60 * 10"))
    registry.load("shop")

    with pytest.raises(BadHandlers) as caught:
        DeclaredSchedules(["shop"], service.api.call).sync()
    assert str(caught.value).startswith(f"handlers: {file}:2: the argument of a schedule")
    assert names(service) == {}


def test_payload_that_does_not_fit_its_handler_stops_the_start(
    service: Service, write: Callable[[str], Path]
):
    file = write(
        f"from datetime import date\n{ONE}".replace("f(p, ctx)", "f(day: date)").replace(
            "600", "600, payload={'day': 'soon'}"
        )
    )
    registry.load("shop")

    with pytest.raises(BadHandlers, match=rf"{file}:3: payload\.day: input should be a valid date"):
        DeclaredSchedules(["shop"], service.api.call).sync()
    assert names(service) == {}


def test_schedule_that_the_api_refuses_stops_the_start(
    service: Service, write: Callable[[str], Path]
):
    write(ONE.replace("600", "600, ends_at='2020-01-01T00:00:00Z'"))
    registry.load("shop")

    with pytest.raises(NotSynced, match=r"declared_in_shop\.py:2: must be in the future"):
        DeclaredSchedules(["shop"], service.api.call).sync()
    assert names(service) == {}


def test_reload_syncs_changed_schedules(
    service: Service, write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    write(ONE)
    reloader = Reloader(["shop"])
    reloader.load()
    (write(ONE).parents[1] / "pyproject.toml").write_text('[tool.duetime]\napp = "office"\n')
    declared = DeclaredSchedules(["shop"], service.api.call, "http://127.0.0.1:9000")
    notices = TerminalNotices(Console(stderr=True, width=200), LocalOptions())
    sync_schedules(declared, notices)
    said = []
    for text in (ONE.replace("600", "900"), ONE.replace("600", "60 * 9"), HEAD):
        write(text)
        for _ in range(3):
            poll(reloader, notices, declared)
        said += capsys.readouterr().err.splitlines()

    assert said[1:3] == ["Handlers reloaded", "Schedules in code: 1 changed"]
    assert said[3] == "Handlers reloaded"
    assert said[4].startswith("warning: schedules not synced: handlers: ")
    assert said[4].endswith("the stored ones stay in use")
    assert said[5] == "Handlers reloaded; removed: reports.daily"
    assert said[6:] == [
        "warning: schedules: App office declares no schedule, and has 1 from code. To pause them,"
        " run: duetime sync --app office --retire --url http://127.0.0.1:9000"
    ]
    assert names(service) == {"reports.daily": "active"}


def test_schedule_that_left_the_code_is_reported_once(
    service: Service, write: Callable[[str], Path]
):
    write(ONE.replace("every(600)", "[every(600, name='often'), every(900, name='seldom')]"))
    reloader = Reloader(["shop"])
    reloader.load()
    declared = DeclaredSchedules(["shop"], service.api.call)
    assert declared.sync() == "2 created"

    write(ONE.replace("600", "600, name='often'"))
    reloader.poll()
    reloader.poll()

    assert declared.sync() == "1 unchanged, 1 paused: no longer in the code"
    assert declared.sync() == "1 unchanged"
    assert names(service) == {"often": "active", "seldom": "paused"}


def test_refusal_without_schedules_that_is_no_empty_manifest_stops_the_start(
    service: Service, write: Callable[[str], Path]
):
    write(HEAD)
    declared = DeclaredSchedules(["shop"], lambda _: Response(status=503, body=SILENT))

    with pytest.raises(NotSynced, match="The store could not be read"):
        sync_schedules(declared, LoggedNotices())
