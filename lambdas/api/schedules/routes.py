"""Which call goes where."""

from lambdas.api.http import Router
from lambdas.api.schedules.keeping import Keeping
from lambdas.api.schedules.running import Running
from lambdas.api.schedules.telling import Telling
from lambdas.api.schedules.writing import Writing
from lambdas.api.submission import Submission
from lambdas.api.tasks import Accepted
from lambdas.core.ports import Ports

ONE = "/v1/schedules/{id}"


def add_routes(router: Router, ports: Ports, submission: Submission, accepted: Accepted) -> None:
    writing = Writing(ports)
    keeping = Keeping(ports, writing, accepted)
    running = Running(ports, writing, submission)
    telling = Telling(ports, writing)
    router.add("POST", "/v1/schedules", keeping.create)
    router.add("GET", "/v1/schedules", keeping.page)
    router.add("POST", "/v1/schedules/preview", telling.preview)
    router.add("GET", ONE, keeping.get)
    router.add("PUT", ONE, keeping.change)
    router.add("DELETE", ONE, keeping.delete)
    router.add("POST", f"{ONE}/pause", keeping.pause)
    router.add("POST", f"{ONE}/resume", keeping.resume)
    router.add("POST", f"{ONE}/trigger", running.trigger)
    router.add("POST", f"{ONE}/backfill", running.backfill)
    router.add("GET", f"{ONE}/upcoming", telling.upcoming)
    router.add("GET", f"{ONE}/ledger", telling.ledger)
