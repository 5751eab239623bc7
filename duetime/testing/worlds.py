"""The world of a test: what `world()` opens."""

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from random import Random
from types import ModuleType, TracebackType
from typing import Any, Literal, Self

from duetime.client.async_client import AsyncClient
from duetime.client.client import Client
from duetime.client.current import use_in_test
from duetime.client.schedule_types import SyncPlan
from duetime.core.secrets import read_secret
from duetime.core.times import YEAR, Millis, seconds, to_datetime
from duetime.engine.clock import SystemClock
from duetime.handlers.defaults import to_seconds
from duetime.handlers.handler import Delay, Handler
from duetime.testing.clients import AsyncWorldClient, WorldClient
from duetime.testing.clock import OrderedIds, VirtualClock, moment
from duetime.testing.driver import Driver
from duetime.testing.faults import DiesAt
from duetime.testing.http_routes import HttpRoutes
from duetime.testing.observed import Observed
from duetime.testing.problems import Problems
from duetime.testing.roles import Roles
from duetime.testing.server import serving
from duetime.testing.targets import TargetFunction, WorldTargets

Mode = Literal["manual", "inline"]

START = "2027-01-04T09:00:00+00:00"  # a Monday
MAX_RUNS = 100_000
LONGEST_DRAIN: Millis = 10 * YEAR


class World(Observed):
    """A whole Duetime in one thread, which handlers submit to while it is open. Make one with
    `world()`, or use the fixture `duetime_world`.

    Attributes:
        client: A `Client` of this world; `async_client` is its twin for `async` code.
        http: The routes that answer `http` tasks.
        targets: Functions for other types of targets: `w.targets["sqs"] = send`. Each gets the
            target and the payload of a task, and returns its result."""

    def __init__(
        self,
        *,
        start: datetime | str,
        seed: int,
        mode: Mode,
        serve: bool,
        secrets: Mapping[str, Mapping[str, Any]],
        pools: Collection[str],
        max_runs: int,
    ) -> None:
        if mode not in ("manual", "inline"):
            raise ValueError(f"mode: must be manual or inline, not {mode!r}")
        self._clock = VirtualClock(SystemClock().now() if start == "now" else moment(start))
        chance = OrderedIds(Random(seed))
        self._problems = Problems()
        self._serve = serve
        self._url: str | None = None
        self._closing = ExitStack()
        known = {name: read_secret(name, secret) for name, secret in secrets.items()}
        self.http = HttpRoutes()
        targets = WorldTargets(self._clock, self.http, known, self._problems)
        self.targets: dict[str, TargetFunction] = targets.declared
        self._roles = Roles(
            self._clock, chance, targets, secrets=known, pools=pools, max_runs=max_runs
        )
        inline = mode == "inline"
        self._driver = Driver(self._roles, chance, self._problems, inline=inline)
        self.client: Client = WorldClient(self._driver, self._roles.api)
        self.async_client: AsyncClient = AsyncWorldClient(self._driver, self._roles.api)

    def __enter__(self) -> Self:
        self._closing.callback(self._roles.close)
        # The asynchronous client comes first: `asubmit` takes the first that there is.
        self._closing.enter_context(use_in_test(self.async_client, self.client))
        if self._serve:
            self._url = self._closing.enter_context(serving(self._roles.api))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()
        if reason is None:
            self._problems.check()

    # time

    @property
    def now(self) -> datetime:
        """The time of the world, in UTC."""
        return to_datetime(self._clock.now())

    @property
    def url(self) -> str:
        """The address of the API, for other processes and browsers. Needs `serve=True`."""
        if self._url is None:
            raise RuntimeError("the world has no port: open it with world(serve=True)")
        return self._url

    def advance(self, by: Delay) -> None:
        """Lets time pass, seconds, "90s", "24h" or a timedelta, and runs what comes due."""
        self._driver.run("advance", self._clock.now() + seconds(to_seconds(by)))

    def drain(self) -> None:
        """Runs every task that is due, to its end: jumps over the backoffs of its retries.

        Tasks that are due later stay. Runs of schedules that come due on the way are run, but not
        waited for."""
        since, roles = self._clock.now(), self._roles
        if not self._driver.run("drain", since + LONGEST_DRAIN, lambda: not roles.due(since)):
            raise RuntimeError("tasks are still due after ten years: does one snooze for ever?")

    def set(self, when: datetime | str) -> None:
        """Sets the clock. Nothing runs on the way: what came due meanwhile is late, as after an
        outage, and runs with the next `advance` or `drain`.

        An earlier time can be set as long as nothing is stored."""
        self._driver.refuse_inside_handler("set")
        at, now = moment(when), self._clock.now()
        if self._is_empty():
            self._roles.start_at(at)
        elif at < now:
            raise ValueError(
                f"the clock shows {self.now.isoformat()} and cannot go back to {when}: tasks or"
                " schedules are stored. Set it before the first of them."
            )
        else:
            self._clock.set(at)

    # schedules

    def sync(self, handlers: ModuleType | str | Path) -> SyncPlan:
        """Stores the schedules that handlers declare, as `duetime sync` does, and returns what it
        did. `handlers` is a module, a file, a folder or the name of a module.

        Raises BadHandlers with the file and line of what cannot be read."""
        from duetime.handlers import manifest

        found = manifest.read(_source(handlers))
        return self.client.schedules.sync(found.schedules, app=found.app)

    # faults

    def kill_executor(
        self, *, during: Handler[..., Any] | str | None = None, at: DiesAt = "end"
    ) -> None:
        """Lets the executor die in the next attempt, or the next one of a handler. Its outcome is
        lost; the lease ends, and the scanner retries the task.

        `at="end"`: all of the handler's code has run. `at="start"`: none of it has."""
        if at not in ("start", "end"):
            raise ValueError(f"at: must be start or end, not {at!r}")
        self._roles.kills.planned.append((self._name(during), at))

    def lose_message(self, count: int = 1) -> None:
        """Loses the next message to an executor, or the next few. The scanner sends it again."""
        _check_count(count)
        self._roles.lanes.to_lose += count

    def purge_lanes(self) -> int:
        """Deletes every message that waits for an executor, and returns how many there were."""
        return self._roles.lanes.purge()

    def skip_ticks(self, count: int) -> None:
        """Leaves out the next ticks of the scanner, which has one every minute."""
        _check_count(count)
        self._roles.skip_ticks(count)

    def _is_empty(self) -> bool:
        return not self._roles.created and self._roles.store.first_wake() is None


def _check_count(count: int) -> None:
    if count < 1:
        raise ValueError(f"count: must be at least 1, not {count}")


def _source(handlers: ModuleType | str | Path) -> str | Path:
    if not isinstance(handlers, ModuleType):
        return handlers
    file = Path(str(handlers.__file__))
    return file.parent if file.name == "__init__.py" else file


def world(
    *,
    start: datetime | str = START,
    seed: int = 0,
    mode: Mode = "manual",
    serve: bool = False,
    secrets: Mapping[str, Mapping[str, Any]] | None = None,
    pools: Collection[str] = (),
    max_runs: int = MAX_RUNS,
) -> World:
    """Opens a world for a `with` block.

    Args:
        start: The time at its start, with a time zone; "now" is that of the machine.
        seed: Of its randomness: the same seed gives the same ids and the same jitter.
        mode: "manual" runs tasks in `advance`, `drain` and `wait`. "inline" runs a task that is due
            before `submit` returns, and `submit` raises what its handler raises.
        serve: Whether the API has a port on 127.0.0.1: `World.url`.
        secrets: The secrets that tasks may name: `{"stripe": {"value": "…", "hosts": ["…"]}}`.
        pools: The pools that there are. The world runs their tasks, too.
        max_runs: How many attempts one `advance`, `drain` or `wait` may start."""
    return World(
        start=start,
        seed=seed,
        mode=mode,
        serve=serve,
        secrets=secrets or {},
        pools=pools,
        max_runs=max_runs,
    )
