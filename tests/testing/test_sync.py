"""`World.sync`: schedules that handlers declare, in a world."""

import importlib
import sys
from pathlib import Path

import pytest

from duetime.handlers import registry
from duetime.handlers.registry import BadHandlers
from duetime.testing import World

DECLARED = """
from duetime import every, task


@task("declared.tick", schedule=every("10m", payload={"n": 1}))
def tick(n: int) -> int:
    return n
"""


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_handlers", {})
    file = tmp_path / "declared_handlers.py"
    file.write_text(DECLARED)
    monkeypatch.delitem(sys.modules, "declared_handlers", raising=False)
    return file


def test_declared_schedule_runs_and_a_second_sync_changes_nothing(w: World, declared: Path):
    module = importlib.import_module("declared_handlers")
    assert [step["action"] for step in w.sync(module)["schedules"]] == ["create"]
    w.advance("30m")
    assert [run.result for run in w.runs("declared.tick")] == [1, 1, 1]
    for same in (module, "declared_handlers", declared):
        assert [step["action"] for step in w.sync(same)["schedules"]] == ["same"]


def test_schedule_that_cannot_be_read_names_its_line(w: World, declared: Path):
    declared.write_text(DECLARED.replace('"10m"', 'f"{10}m"'))
    with pytest.raises(BadHandlers, match=r"declared_handlers\.py:5"):
        w.sync(declared)
    assert list(w.client.schedules.list()) == []
