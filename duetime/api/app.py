"""The whole API: it routes requests and turns every failure into a problem response."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from duetime.api import lazy_routes
from duetime.api.access import refusal
from duetime.api.capabilities import Capabilities, HandlerNames, SecretNames
from duetime.api.content_encoding import deflated, inflated
from duetime.api.crowded_minutes import MARK, CrowdedMinutes
from duetime.api.dead_letters import DeadLetters
from duetime.api.health import HealthProbe, store_health
from duetime.api.http import Problem, Request, Response, Router, unavailable
from duetime.api.reasons import log_action, reason_of
from duetime.api.tasks import Batches, Tasks
from duetime.core.allowed_targets import ALL_TARGETS, AllowedTargets
from duetime.core.errors import Unavailable
from duetime.core.ports import CursorStore, Ports
from duetime.core.task import LONGEST_TIMEOUT
from duetime.core.time_limits import TimeLimits
from duetime.core.times import SECOND, Millis, rfc3339
from duetime.engine.submission import Submission, TaskRequest

if TYPE_CHECKING:
    from duetime.api.handlers import Describe
    from duetime.api.lanes import LaneActivities
    from duetime.api.live import LiveAccess
    from duetime.api.stats import ReadVitals
    from duetime.api.workers import WorkerCalls
    from duetime.core.stats.slo import Objectives
    from duetime.core.worker_calls import LeaseRequest
    from duetime.core.workers import WorkerStore
    from duetime.engine.quotas import QuotaGate

log = logging.getLogger(__name__)

CALLBACKS = "/v1/callbacks"
LIVE = "live"  # a part of Duetime that a deployment may lack

T = TypeVar("T")


class Api:
    """`longest_timeout` is the longest timeout, in seconds, of a task without a pool; `targets` are
    the targets that the executors may call. `health` reads the health; the default checks that the
    store can be read. `secrets` returns the names of the secrets that tasks may use; by default
    there are none. `quotas` limits submissions. From `crowded_minute` tasks of one minute on, a
    submission gets a hint to use jitter; 0 turns it off. `lanes` returns what is known of the lanes
    beside the number of their messages. `callbacks` accepts the callbacks of steps, which every
    holder of their token may send. `vitals` returns how far behind the roles are; the default knows
    what `health` does. `metrics_url` is where the metrics are that the store does not have. `live`
    is where live updates are, if there are any. `described` describes the handlers; without it,
    only their names and defaults are known. `stage` is the name of the deployment. `cursors` say
    how far the scanner is. `objectives` are those for drift. `workers` has the workers that are
    alive. `worker_calls` carries out the calls of HTTP workers, if there can be any. `batches`
    submits batches in another way, as far as it can."""

    def __init__(
        self,
        ports: Ports,
        *,
        handlers: HandlerNames,
        version: str,
        longest_timeout: int = LONGEST_TIMEOUT,
        targets: AllowedTargets = ALL_TARGETS,
        health: HealthProbe | None = None,
        secrets: SecretNames = frozenset,
        quotas: "QuotaGate | None" = None,
        crowded_minute: int = MARK,
        lanes: "LaneActivities | None" = None,
        callbacks: bool = False,
        vitals: "ReadVitals | None" = None,
        metrics_url: str | None = None,
        live: "LiveAccess | None" = None,
        described: "Describe | None" = None,
        stage: str | None = None,
        cursors: CursorStore | None = None,
        objectives: "Objectives | None" = None,
        workers: "WorkerStore | None" = None,
        worker_calls: "WorkerCalls | None" = None,
        batches: Batches | None = None,
    ) -> None:
        self._clock = ports.clock
        self._version = version
        self._read_health = health or store_health(ports.store)
        self._router = Router()
        submission = Submission(ports, quotas)
        capabilities = Capabilities(
            handlers,
            TimeLimits(longest_timeout, ports.pools),
            secrets,
            ports.limits,
            targets,
            ports.runs,
        )
        self._submission = submission
        crowded = CrowdedMinutes(ports, crowded_minute)
        self._tasks = Tasks(ports, submission, capabilities, crowded, workers, batches)
        self._tasks.add_to(self._router)
        DeadLetters(ports).add_to(self._router)
        self._router.add_lazily(
            "/v1/schedules", lazy_routes.schedules(ports, submission, capabilities)
        )
        self._router.add_lazily("/v1/limits", lazy_routes.limits(ports))
        self._router.add_lazily("/v1/workflows", lazy_routes.workflows(ports, capabilities))
        self._router.add_lazily("/v1/runs", lazy_routes.runs(ports, capabilities, quotas))
        self._router.add_lazily(CALLBACKS, lazy_routes.callbacks(ports, callbacks))
        self._router.add_lazily("/v1/purge", lazy_routes.purge(ports))
        self._router.add_lazily("/v1/lanes", lazy_routes.lanes(ports, lanes))
        self._router.add_lazily("/v1/stats", self._stats(ports, vitals, metrics_url))
        self._router.add_lazily("/v1/slo", lazy_routes.slo(ports, objectives, metrics_url))
        self._router.add("GET", "/v1/health", self._health)
        me = lazy_routes.me(ports.clock, version, stage, [] if live is None else [LIVE])
        self._router.add_lazily("/v1/me", me)
        self._router.add_lazily("/v1/stuck", lazy_routes.stuck(ports, cursors, workers))
        self._router.add_lazily("/v1/handlers", lazy_routes.handlers(described, handlers))
        self._workers = lazy_routes.workers(ports, workers, worker_calls, submission, capabilities)
        self._router.add_lazily("/v1/workers", lambda router: self._workers().add_to(router))
        self._router.add_lazily("/v1/forecast", lazy_routes.forecast(ports))
        self._router.add_lazily("/v1/quota", lazy_routes.quota(quotas))
        self._router.add_lazily("/v1/live", lazy_routes.live(ports, live))
        self._router.add_lazily("/v1/openapi.json", lazy_routes.openapi)
        self._router.add_lazily("/docs", lazy_routes.docs)

    def call(self, request: Request) -> Response:
        return _finished(request, self._answer(request))

    def _answer(self, request: Request) -> Response:
        return self._or_problem(request, lambda: _encoded(self._router.call(_admitted(request))))

    def submit_together(self, requests: Sequence[Request]) -> list[Response]:
        """Answers requests for `POST /v1/tasks` as `call` does, with one write for all of them."""
        answers: dict[int, Response] = {}
        wanted: dict[int, TaskRequest] = {}
        for place, request in enumerate(requests):
            read = self._or_problem(request, partial(self._read_submission, request))
            if isinstance(read, Response):
                answers[place] = read
            else:
                wanted[place] = read
        submitted = self._or_problem(requests[0], partial(self._submit, list(wanted.values())))
        if isinstance(submitted, Response):  # a failure of the whole write
            submitted = [submitted] * len(wanted)
        answers |= zip(wanted, submitted, strict=True)
        return [_finished(request, answers[place]) for place, request in enumerate(requests)]

    def read_lease(self, request: Request) -> "LeaseRequest | Response":
        """Returns what a worker asks for with `POST /v1/workers/lease`, or the answer to a request
        that is refused."""
        return self._or_problem(request, lambda: self._workers().read_lease(_admitted(request)))

    def lease(self, request: Request, wanted: "LeaseRequest", arrived: Millis) -> Response:
        """Answers such a request, which came at `arrived` by the monotonic clock."""
        return self._or_problem(request, lambda: _encoded(self._workers().leases(wanted, arrived)))

    def _read_submission(self, request: Request) -> TaskRequest:
        return self._tasks.read_submission(_admitted(request))

    def _submit(self, wanted: Sequence[TaskRequest]) -> list[Response]:
        submitted = self._submission.submit(wanted)
        return [_encoded(self._tasks.answer(each)) for each in submitted]

    def _or_problem(self, request: Request, action: Callable[[], T]) -> T | Response:
        try:
            return action()
        except Problem as problem:
            return problem.response()
        except Unavailable as error:
            log.warning("store unavailable: %s", error, extra=_fields(request))
            read_only = request.method in ("GET", "HEAD")
            return unavailable(str(error), read_only=read_only).response()
        except Exception:
            log.exception("request failed", extra=_fields(request))
            detail = "The request is not at fault. The log of the API has the details."
            return Problem(500, "internal", "Something went wrong on our side", detail).response()

    def routes(self) -> list[str]:
        """Returns every route, such as `GET /v1/tasks`."""
        return self._router.routes()

    def _stats(
        self, ports: Ports, vitals: "ReadVitals | None", url: str | None
    ) -> Callable[[Router], None]:
        def add_to(router: Router) -> None:
            from duetime.api.stats import StatsRoute, Vitals

            def known() -> Vitals:
                age = self._read_health().tick_age
                return Vitals(tick_age_seconds=None if age is None else age / SECOND)

            route = StatsRoute(
                store=ports.stats, clock=ports.clock, vitals=vitals or known, url=url
            )
            route.add_to(router)

        return add_to

    def _health(self, _request: Request, _parameters: Mapping[str, str]) -> Response:
        health = self._read_health()
        time = rfc3339(self._clock.now())
        report = {"version": self._version, "time": time, **health.json()}
        problem = health.problem()
        if problem is None:
            return Response(status=200, body={"status": "ok", **report})
        log.warning("health check failed: %s", problem.body["detail"], extra={"step": "health"})
        problem.body |= report
        return problem.response()


def _admitted(request: Request) -> Request:
    """Returns the request with its body inflated; raises Problem if its caller may not send it."""
    if refused := refusal(request, request.caller):
        raise refused
    reason_of(request)
    return inflated(request)


def _finished(request: Request, response: Response) -> Response:
    log_action(request, response, _logged_path(request.path))
    return deflated(request, response)


def _encoded(response: Response) -> Response:
    """Encodes the body now, where a failure can still become a problem."""
    response.encoded()
    return response


def _fields(request: Request) -> dict[str, str]:
    return {"step": "request", "method": request.method, "path": _logged_path(request.path)}


def _logged_path(path: str) -> str:
    """Leaves out the token of a callback: a reader of the log could end the wait with it."""
    return CALLBACKS if path.startswith(CALLBACKS) else path
