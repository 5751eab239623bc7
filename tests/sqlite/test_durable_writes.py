"""Which writes of the stores wait for the disk."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duetime.core.step_ref import StepRef
from duetime.core.steps.cancel import cancel
from duetime.core.steps.follow_up import follow_up_done
from duetime.core.wakes import Wake, WakeKind
from duetime.core.workflows.run import RunStatus
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, a_run, a_spec, a_task, an_id

STEP = StepRef(run_id=an_id(), step="a")


class Written:
    """A store, and whether each of its writes was durable."""

    def __init__(self, path: Path) -> None:
        self.store = SqliteTaskStore(path)
        self.durable: list[bool] = []
        write = self.store._database.write

        def noted(action: Callable[..., Any], *, durable: bool = True) -> Any:
            self.durable.append(durable)
            return write(action, durable=durable)

        self.store._database.write = noted  # type: ignore[method-assign]


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    written = Written(tmp_path / "duetime.db")
    yield written
    written.store.close()


def test_tasks_of_steps_are_not_durable_by_themselves(written: Written):
    step = a_task(spec=a_spec(step=STEP))
    written.store.put([step])
    written.store.put([step, a_task(id=an_id())])

    assert written.durable == [False, True]


def test_follow_up_that_is_done_is_not_durable_by_itself(written: Written):
    wake = Wake(kind=WakeKind.WATCH, lane=a_task().lane, at=NOW, task_id=an_id(), bucket="b")
    live, ended = a_task(id=an_id()), a_task(spec=a_spec(step=STEP), wake=wake)
    written.store.apply([follow_up_done(ended)])
    written.store.apply([follow_up_done(ended), cancel(live, now=NOW)])

    assert written.durable == [False, True]


def test_progress_of_a_run_is_not_durable_by_itself(written: Written):
    written.store.runs().put([a_run(revision=2)])

    assert written.durable == [False]


@pytest.mark.parametrize(
    "fields",
    [
        {"revision": 1},
        {"status": RunStatus.CANCELLING},
        {"status": RunStatus.SUCCEEDED},
        {"attempt": 2},
    ],
    ids=["created", "cancelled", "ended", "retried"],
)
def test_what_a_client_asks_of_a_run_and_its_end_are_durable(
    written: Written, fields: dict[str, Any]
):
    run = replace(a_run(revision=2), **fields)
    written.store.runs().put([run, a_run(revision=2)])

    assert written.durable == [True]
