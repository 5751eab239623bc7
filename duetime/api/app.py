"""The whole API: routes in, responses out, every failure a problem."""

import logging
from collections.abc import Callable, Mapping

from lambdas.api.dead_letters import DeadLetters
from lambdas.api.health import Look, store_answers
from lambdas.api.http import Problem, Request, Response, Router, unavailable
from lambdas.api.submission import Submission
from lambdas.api.tasks import Accepted, HandlerNames, Tasks
from lambdas.core.errors import Unavailable
from lambdas.core.ports import Ports
from lambdas.core.task import LONGEST_TIMEOUT
from lambdas.core.times import rfc3339

log = logging.getLogger(__name__)


class Api:
    """`longest_timeout` is what the executors behind it can do, in seconds. `look` reports the
    health; without one, whether the store can be read."""

    def __init__(
        self,
        ports: Ports,
        *,
        handlers: HandlerNames,
        version: str,
        longest_timeout: int = LONGEST_TIMEOUT,
        look: Look | None = None,
    ) -> None:
        self._clock = ports.clock
        self._version = version
        self._look = look or store_answers(ports.store)
        self._router = Router()
        submission = Submission(ports)
        accepted = Accepted(handlers, longest_timeout)
        Tasks(ports, submission, accepted).add_to(self._router)
        DeadLetters(ports).add_to(self._router)
        self._router.add_later("/v1/schedules", _schedules(ports, submission, accepted))
        self._router.add("GET", "/v1/health", self._health)

    def call(self, request: Request) -> Response:
        try:
            response = self._router.call(request)
            response.encoded()
            return response
        except Problem as problem:
            return problem.response()
        except Unavailable as error:
            log.warning("store not available: %s", error, extra={"path": request.path})
            read_only = request.method in ("GET", "HEAD")
            return unavailable(str(error), read_only=read_only).response()
        except Exception:
            log.exception("a request failed", extra={"path": request.path})
            detail = "The fault is not in the request; the log of the API has the details."
            return Problem(500, "internal", "Something went wrong on our side", detail).response()

    def _health(self, _request: Request, _parameters: Mapping[str, str]) -> Response:
        health = self._look()
        time = rfc3339(self._clock.now())
        told = {"version": self._version, "time": time, **health.told()}
        problem = health.problem()
        if problem is None:
            return Response(status=200, body={"status": "ok", **told})
        log.warning("unhealthy: %s", problem.body["detail"])
        problem.body |= told
        return problem.response()


def _schedules(
    ports: Ports, submission: Submission, accepted: Accepted
) -> Callable[[Router], None]:
    def add_to(router: Router) -> None:
        from lambdas.api.schedules.routes import add_routes

        add_routes(router, ports, submission, accepted)

    return add_to
