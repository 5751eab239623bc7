"""Large payloads and results: whatever dies before or after any call, no stored task refers to an
object that is missing."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.core.codec import to_json
from duetime.core.large_texts import large_texts_of, references_of
from duetime.core.lifecycle import Status
from duetime.core.listings import Listing
from duetime.core.results import SIZE_LIMIT
from duetime.core.task import Task
from duetime.core.times import MINUTE
from duetime.core.unique import Unique
from duetime.engine.large_payloads import LargePayload
from duetime.engine.submission import Submission, Submitted, TaskRequest
from duetime.executor.run_control import RunControl
from duetime.local.moto_backend import fair_moto
from duetime.sqlite.object_store import MemoryObjectStore
from tests.cuts.backends import Aws, Backend, open_backend
from tests.cuts.cut_points import Cutter, Point, distinct_cuts, possible_cuts
from tests.cuts.scenario_player import ScenarioPlayer
from tests.factories import a_spec

T = TypeVar("T")

PAYLOAD, OTHER = "p" * 300_000, "q" * 300_000
RESULT = "r" * SIZE_LIMIT


class LargePlayer(ScenarioPlayer):
    """Checks all tasks after every act, also after one that was cut."""

    def __init__(self, backend: Backend, cutter: Cutter) -> None:
        super().__init__(backend, cutter, frozenset())
        self.objects: MemoryObjectStore = MemoryObjectStore()
        if backend.restarts:  # a runner that starts sweeps
            backend.world.store.port._objects = self.objects

    def submit_large(self, unique: Unique | None) -> None:
        large = LargePayload(PAYLOAD)
        now = self.world.clock.now()
        spec = replace(
            a_spec(run_at=now + MINUTE, idempotency_key="key", unique=unique), **large.fields
        )
        wanted = [TaskRequest(spec=spec, body_hash="body", large_payload=large)]
        [done] = self._retry_if_cut("submit", lambda ports: Submission(ports).submit(wanted))
        assert isinstance(done, Submitted)
        self.ids = [done.task.id]

    def check(self) -> None:
        with self.cutter.paused():
            for task in self.world.store.page(Listing()).tasks:
                large_texts_of(self.objects, task)

    def _try(self, actor: str, action: Callable[[], T]) -> T | None:
        done = super()._try(actor, action)
        self.check()
        return done

    def _run(self, task: Task, control: RunControl) -> str:
        super()._run(task, control)
        return RESULT


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(dynamodb, sqs, table="large-cuts", prefix="large-cuts")
        yield Aws(dynamodb, sqs, "large-cuts", urls)


@pytest.fixture(params=["sqlite", "restarted", pytest.param("moto", marks=pytest.mark.long)])
def where(request: pytest.FixtureRequest) -> tuple[str, Aws | None]:
    return request.param, request.getfixturevalue("aws") if request.param == "moto" else None


def play(
    where: tuple[str, Aws | None], cut: Point | None, *, changes: bool, unique: Unique | None
) -> list[Point]:
    with open_backend(*where) as backend:
        player = LargePlayer(backend, Cutter(cut))
        player.submit_large(unique)
        if changes:
            player.change(payload=OTHER)
        player.run()
        [task] = player.tasks()
        assert task.status is Status.SUCCEEDED
        wanted = OTHER if changes else PAYLOAD
        assert {effect.payload for effect in player.effects} == {wanted}
        assert set(references_of(task)) == {"payload", "result"}
        texts = {"payload": to_json(wanted), "result": to_json(RESULT)}
        assert large_texts_of(player.objects, task) == texts
        return possible_cuts(player.cutter.calls, halves=False)


@pytest.mark.parametrize(
    ("changes", "unique"),
    [(False, None), (True, None), (False, Unique(key="k"))],
    ids=["submitted", "changed", "unique"],
)
def test_no_task_is_without_its_object_wherever_an_actor_is_cut(
    where: tuple[str, Aws | None], changes: bool, unique: Any, subtests: pytest.Subtests
):
    cuts = play(where, None, changes=changes, unique=unique)
    of_objects = [cut for cut in cuts if cut.call.verb == "put"]
    assert len(of_objects) >= 6, "the object and the task of a submission, and the result"
    for cut in distinct_cuts(cuts):
        with subtests.test(f"{where[0]}, {cut}"):
            play(where, cut, changes=changes, unique=unique)
