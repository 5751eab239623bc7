"""The whole API: it routes requests and turns every failure into a problem response."""

import logging
from collections.abc import Callable, Mapping

from duetime.api.content_encoding import deflated, inflated
from duetime.api.dead_letters import DeadLetters
from duetime.api.health import HealthProbe, store_health
from duetime.api.http import Problem, Request, Response, Router, unavailable
from duetime.api.submission import Submission
from duetime.api.tasks import Capabilities, HandlerNames, Tasks
from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.task import LONGEST_TIMEOUT
from duetime.core.times import rfc3339

log = logging.getLogger(__name__)


class Api:
    """`longest_timeout` is the longest timeout, in seconds, that the executors support. `health`
    reads the health; the default checks that the store can be read."""

    def __init__(
        self,
        ports: Ports,
        *,
        handlers: HandlerNames,
        version: str,
        longest_timeout: int = LONGEST_TIMEOUT,
        health: HealthProbe | None = None,
    ) -> None:
        self._clock = ports.clock
        self._version = version
        self._read_health = health or store_health(ports.store)
        self._router = Router()
        submission = Submission(ports)
        capabilities = Capabilities(handlers, longest_timeout)
        Tasks(ports, submission, capabilities).add_to(self._router)
        DeadLetters(ports).add_to(self._router)
        self._router.add_lazily("/v1/schedules", _schedules(ports, submission, capabilities))
        self._router.add("GET", "/v1/health", self._health)

    def call(self, request: Request) -> Response:
        return deflated(request, self._answer(request))

    def _answer(self, request: Request) -> Response:
        try:
            response = self._router.call(inflated(request))
            response.encoded()
            return response
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


def _fields(request: Request) -> dict[str, str]:
    return {"step": "request", "method": request.method, "path": request.path}


def _schedules(
    ports: Ports, submission: Submission, capabilities: Capabilities
) -> Callable[[Router], None]:
    def add_to(router: Router) -> None:
        from duetime.api.schedules.resource import add_routes

        add_routes(router, ports, submission, capabilities)

    return add_to
