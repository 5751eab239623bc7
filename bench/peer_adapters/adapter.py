"""One peer as the benchmark sees it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from bench.peer_adapters import installs

APPS = Path(__file__).parent / "apps"
Environment = dict[str, str]
Server = Callable[[Path], AbstractContextManager[Environment]]


def no_server(_: Path) -> AbstractContextManager[Environment]:
    return nullcontext({})


def nothing_missing() -> None:
    """For what is always installed."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What the benchmark has to know about a peer.

    Attributes:
        name: On the command line.
        what: In the tables.
        works: The worker of the throughput and of the drift: processes and slots.
        submits: How its client submits many tasks.
        stored: When an outcome counts, and what then is on disk.
        package: Its name in package.json or requirements.txt.
        missing: Returns why this peer cannot be measured here, if so.
        server: Runs its server in a folder; yields what worker and client find in their
            environment.
        prepare: A command that runs once, before the worker.
        worker: The command of the worker; `slots` is how many tasks it is to run at once, None as
            many as suits it best.
        processes: How many of these workers run; the kill has one.
        client: The command of the client, to which the work is added.
        ended: Returns how many outcomes are stored.
        share: The share of the tasks that a slow peer gets, so that it does not hold up the run.
        differs_in_storage: Whether another peer differs in nothing but how its server stores; such
            a peer takes part in the throughput alone.
        environment: Of worker and client, beside what the server gives them."""

    name: str
    what: str
    works: str
    submits: str
    stored: str
    package: str = ""
    missing: Callable[[], str | None] = nothing_missing
    server: Server = no_server
    prepare: Sequence[str] = ()
    worker: Callable[[Environment, int | None], Sequence[str]]
    client: Sequence[str]
    ended: Callable[[Environment], int]
    processes: int = 1
    share: float = 1
    differs_in_storage: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        return installs.version(self.package) if self.package else ""
