"""Large payloads and results in the executor: the payload is read before the target runs, and the
result is stored before the outcome is recorded."""

import logging
from dataclasses import replace

from duetime.core.codec import from_json
from duetime.core.errors import Corrupt, Snooze, Unavailable
from duetime.core.large_texts import Reference, pack_object, read_object, reference_to
from duetime.core.ports import ObjectStore
from duetime.core.task import Task
from duetime.executor.targets import TargetFailed

RETRY_DELAY = 5.0  # seconds, after the object store did not answer
RESULT_TRIES = 3  # writes of a result; the client of S3 repeats each by itself, too

log = logging.getLogger(__name__)


def with_payload(objects: ObjectStore | None, task: Task, reference: Reference) -> Task:
    """Returns the task with its large payload. Raises TargetFailed if the payload is missing or
    cannot be read here."""
    if objects is None:
        message = "payload: there is no object store here"
        raise TargetFailed("PayloadUnavailable", message)
    payload = from_json(_read(objects, task, reference))
    return replace(task, spec=replace(task.spec, payload=payload, payload_object=None))


def _read(objects: ObjectStore, task: Task, reference: Reference) -> str:
    """Raises Snooze if the object store does not answer: the target was not called, so the attempt
    does not count."""
    try:
        return read_object(objects, task.id, reference, "payload")
    except Unavailable as error:
        raise Snooze(RETRY_DELAY, f"payload: the object could not be read: {error}") from None
    except Corrupt as error:
        raise TargetFailed("PayloadMissing", f"payload: {error}", permanent=True) from None
    except Exception as error:  # such as a missing permission
        message = f"payload: the object could not be read: {error}"
        raise TargetFailed("PayloadUnavailable", message) from error


def store_result(objects: ObjectStore, task: Task, text: str) -> str:
    """Stores a large result and returns its reference. An attempt whose result cannot be stored
    has failed: its work is done, and the next attempt does it again."""
    reference, content = reference_to(text), pack_object(text)
    for attempt in range(1, RESULT_TRIES + 1):
        try:
            objects.put(task.id, reference.name, content)
            break
        except Exception as error:
            fields = {"step": "execute", "task_id": task.id, "attempt": task.attempt}
            log.warning("result not stored: %s", error, extra=fields)
            if attempt == RESULT_TRIES:
                message = f"the result of {reference.size:,} bytes could not be stored: {error}"
                raise TargetFailed("ResultNotStored", message) from error
    return str(reference)
