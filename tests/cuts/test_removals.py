"""Cuts of a removal: the remover dies before, during and after each call to the store and to the
archive. Another remover then goes on, and no task is gone that is not in the archive."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.aws import clients
from duetime.core.archive import ArchiveQuery, ArchiveSearch
from duetime.core.codec import to_json
from duetime.core.lifecycle import Outcome, Status
from duetime.core.ports import Ports
from duetime.core.task import Attempt, Task
from duetime.core.times import DAY
from duetime.local.folder_archive import FolderArchive, read_folder
from duetime.local.moto_backend import fair_moto
from duetime.local.retention import RetentionSweep
from duetime.sqlite.lane_queue import MemoryLaneQueue
from tests.backends import Stores, dynamo_stores, sqlite_stores
from tests.cuts.cut_points import Cut, CutPort, Cutter, Point, possible_cuts
from tests.factories import NOW, WAKE_POLICY, SeededRandom, a_spec, a_task, an_id

KEPT = 30 * DAY
FINAL = [Status.SUCCEEDED, Status.CANCELLED, Status.EXPIRED]
STAYING = [Status.DEAD, Status.PENDING, Status.RUNNING, Status.RETRYING]

Remover = Callable[[Ports], None]


def an_attempt(number: int) -> Attempt:
    end: Any = {"finished_at": NOW, "outcome": Outcome.SUCCEEDED}
    return Attempt(number=number, started_at=NOW, drift_ms=0, **end)


def a_stored_task(stores: Stores, status: Status) -> Task:
    """A task with a long payload and three attempts, of which the first has a row of its own."""
    task = replace(
        a_task(spec=a_spec(payload="p" * 3_000)),
        status=status,
        wake=None,
        updated_at=NOW,
        attempt=3,
        previous=an_attempt(2),
        current=an_attempt(3),
    )
    stores.tasks.put([task])
    stores.tasks.keep_attempt(task.id, an_attempt(1))
    return task


@dataclass
class Scene:
    """Tasks that may leave, tasks that must stay, and where the first ones go."""

    stores: Stores
    folder: Path
    cutter: Cutter

    def __post_init__(self) -> None:
        self.leaving = [a_stored_task(self.stores, status) for status in FINAL]
        self.staying = [a_stored_task(self.stores, status) for status in STAYING]
        self.stores.clock.advance(KEPT)

    def act(self, remove: Remover) -> None:
        """Lets a remover act in a new process."""
        self.cutter.next_actor("remover")
        try:
            remove(self._ports())
        except Cut:
            return

    def check(self, *, done: bool) -> None:
        stored = self.stores.tasks.get([task.id for task in self.leaving + self.staying])
        assert set(stored) >= {task.id for task in self.staying}, "a task left that must stay"
        gone = {task.id for task in self.leaving if task.id not in stored}
        records = {record["id"]: record for record in self._records()}
        assert gone <= set(records), "a task is gone, and not archived"
        for task_id in gone:
            assert [a["number"] for a in records[task_id]["attempts"]] == [1, 2, 3]
            assert records[task_id]["payload"] == "p" * 3_000
        if done:
            assert gone == {task.id for task in self.leaving} == set(records)

    def _records(self) -> list[dict[str, Any]]:
        """Returns the records as a search shows them: each at most once."""
        search = ArchiveSearch(ArchiveQuery())
        found = list(search.records(read_folder(self.folder, None)))
        assert len({record["id"] for record in found}) == len(found)
        return found

    def _ports(self) -> Ports:
        clock = self.stores.clock
        archive: Any = CutPort(FolderArchive(self.folder, clock), self.cutter)
        store: Any = CutPort(self.stores.tasks, self.cutter)
        return Ports(
            store=store,
            schedules=self.stores.schedules,
            limits=self.stores.limits,
            lanes=MemoryLaneQueue(clock),
            wake_policy=WAKE_POLICY,
            clock=clock,
            chance=SeededRandom(),
            archive=archive,
        )


def sweep(ports: Ports) -> None:
    RetentionSweep(ports, KEPT)()


def purge(ports: Ports) -> None:
    request = Request(
        method="POST",
        path="/v1/purge",
        headers={"content-type": "application/json"},
        body=to_json({"older_than": KEPT // 1_000}).encode(),
    )
    assert Api(ports, handlers=set, version="0").call(request).status == 200


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.mark.parametrize("remove", [sweep, purge], ids=lambda remove: remove.__name__)
@pytest.mark.parametrize("backend", ["sqlite", pytest.param("moto", marks=pytest.mark.long)])
def test_removal_goes_on_wherever_it_is_cut(
    remove: Remover,
    backend: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    subtests: pytest.Subtests,
):
    @contextmanager
    def opened() -> Iterator[tuple[Stores, Path]]:
        place = tmp_path / an_id()
        if backend == "sqlite":
            with sqlite_stores(place / "duetime.db") as stores:
                yield stores, place / "archive"
        else:
            with dynamo_stores(request.getfixturevalue("dynamodb")) as stores:
                yield stores, place / "archive"

    def play(cut: Point | None = None) -> list[Point]:
        with opened() as (stores, folder):
            scene = Scene(stores, folder, Cutter(cut))
            scene.act(remove)
            scene.check(done=cut is None)
            cuts = possible_cuts(scene.cutter.calls, halves=True)
            with scene.cutter.paused():
                scene.act(remove)
                scene.act(sweep)  # reads the runs of schedules, too
            scene.check(done=True)
            return cuts

    cuts = play()
    assert {cut.call.verb for cut in cuts} == {"ended", "attempts", "write", "remove"}
    for cut in cuts:
        with subtests.test(f"{remove.__name__}, {backend}, {cut}"):
            play(cut)
