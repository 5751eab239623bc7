"""The whole API: routes in, responses out, every failure a problem."""

import logging
from collections.abc import Callable, Mapping

from lambdas.api.dead_letters import DeadLetters
from lambdas.api.http import Problem, Request, Response, Router, unavailable
from lambdas.api.submission import Submission
from lambdas.api.tasks import HandlerNames, Tasks
from lambdas.core.errors import Unavailable
from lambdas.core.ports import Ports
from lambdas.core.times import rfc3339

log = logging.getLogger(__name__)


class Api:
    def __init__(self, ports: Ports, *, handlers: HandlerNames, version: str) -> None:
        self._clock = ports.clock
        self._version = version
        self._router = Router()
        submission = Submission(ports)
        Tasks(ports, submission, handlers).add_to(self._router)
        DeadLetters(ports).add_to(self._router)
        self._router.add_later("/v1/schedules", _schedules(ports, submission, handlers))
        self._router.add("GET", "/v1/health", self._health)

    def call(self, request: Request) -> Response:
        try:
            return self._router.call(request)
        except Problem as problem:
            return problem.response()
        except Unavailable as error:
            log.warning("the store is not available: %s", error, extra={"path": request.path})
            return unavailable().response()
        except Exception:
            log.exception("a request failed", extra={"path": request.path})
            detail = "The fault is not in the request; the log of the API has the details."
            return Problem(500, "internal", "Something went wrong on our side", detail).response()

    def _health(self, _request: Request, _parameters: Mapping[str, str]) -> Response:
        time = rfc3339(self._clock.now())
        return Response(status=200, body={"status": "ok", "version": self._version, "time": time})


def _schedules(
    ports: Ports, submission: Submission, handlers: HandlerNames
) -> Callable[[Router], None]:
    def add_to(router: Router) -> None:
        from lambdas.api.schedules.routes import add_routes

        add_routes(router, ports, submission, handlers)

    return add_to
