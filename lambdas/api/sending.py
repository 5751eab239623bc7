"""What the API has stored goes out at once, if it can."""

import logging
from collections.abc import Sequence

from lambdas.core.ports import Ports
from lambdas.core.task import Task
from lambdas.enqueue import enqueue

log = logging.getLogger(__name__)


def send(ports: Ports, tasks: Sequence[Task]) -> None:
    """The tasks stand, whatever becomes of their messages: who is told that the request failed
    would send it again. The watch behind each delivery sends what is not sent here."""
    if not tasks:
        return
    try:
        enqueue(ports, tasks)
    except Exception:
        log.exception("not sent at once", extra={"count": len(tasks), "step": "enqueue"})
