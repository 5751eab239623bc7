"""The routes that are imported by the first request for one of them: most requests, and so most
cold starts, need few.

Each function returns what adds the routes of one resource.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from duetime.api.capabilities import Capabilities, HandlerNames
from duetime.api.http import Router
from duetime.core.ports import Clock, CursorStore, Ports
from duetime.engine.submission import Submission

if TYPE_CHECKING:
    from duetime.api.handlers import Describe
    from duetime.api.lanes import LaneActivities
    from duetime.api.live import LiveAccess
    from duetime.api.workers import WorkerCalls, Workers
    from duetime.core.stats.slo import Objectives
    from duetime.core.workers import WorkerStore
    from duetime.engine.quotas import QuotaGate

AddRoutes = Callable[[Router], None]


def schedules(ports: Ports, submission: Submission, capabilities: Capabilities) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.schedules.resource import add_routes

        add_routes(router, ports, submission, capabilities)

    return add_to


def limits(ports: Ports) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.limits import Limits

        Limits(ports).add_to(router)

    return add_to


def workflows(ports: Ports, capabilities: Capabilities) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.workflows import Workflows

        Workflows(ports, capabilities).add_to(router)

    return add_to


def runs(ports: Ports, capabilities: Capabilities, quotas: "QuotaGate | None") -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.runs import Runs

        Runs(ports, capabilities, quotas).add_to(router)

    return add_to


def callbacks(ports: Ports, enabled: bool) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.callbacks import Callbacks

        Callbacks(ports, enabled).add_to(router)

    return add_to


def purge(ports: Ports) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.purge import Purge

        Purge(ports).add_to(router)

    return add_to


def lanes(ports: Ports, activities: "LaneActivities | None") -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.lanes import Lanes, unknown

        Lanes(ports, activities or unknown).add_to(router)

    return add_to


def me(clock: Clock, version: str, stage: str | None, features: Sequence[str]) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.me import Me

        Me(clock=clock, version=version, stage=stage, features=features).add_to(router)

    return add_to


def stuck(ports: Ports, cursors: CursorStore | None, workers: "WorkerStore | None") -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.stuck import StuckTasks

        StuckTasks(ports, cursors, workers).add_to(router)

    return add_to


def handlers(described: "Describe | None", names: HandlerNames) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.handlers import Handlers, by_name

        Handlers(described or by_name(names)).add_to(router)

    return add_to


def workers(
    ports: Ports,
    store: "WorkerStore | None",
    calls: "WorkerCalls | None",
    submission: Submission,
    capabilities: Capabilities,
) -> "Callable[[], Workers]":
    """Returns what makes the resource: the server of the runner calls it, too."""

    def make() -> "Workers":
        from duetime.api.workers import Workers

        return Workers(
            ports=ports,
            store=store,
            calls=calls,
            submission=submission,
            capabilities=capabilities,
        )

    return make


def openapi(router: Router) -> None:
    from duetime.api.openapi.resource import document

    router.add("GET", "/v1/openapi.json", document)


def forecast(ports: Ports) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.forecast import ForecastRoute

        ForecastRoute(ports).add_to(router)

    return add_to


def slo(ports: Ports, objectives: "Objectives | None", url: str | None) -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.slo import SloRoute
        from duetime.core.stats.slo import DEFAULTS

        route = SloRoute(
            store=ports.stats, clock=ports.clock, objectives=objectives or DEFAULTS, url=url
        )
        route.add_to(router)

    return add_to


def quota(gate: "QuotaGate | None") -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.quotas import QuotaRoute

        QuotaRoute(gate).add_to(router)

    return add_to


def live(ports: Ports, access: "LiveAccess | None") -> AddRoutes:
    def add_to(router: Router) -> None:
        from duetime.api.live import LiveRoute

        LiveRoute(ports, access).add_to(router)

    return add_to


def docs(router: Router) -> None:
    from duetime.api.openapi.resource import page

    router.add("GET", "/docs", page)
