"""The executor's answers to what a handler in a child process asks."""

import pickle
from typing import Any

from duetime.core.errors import Unavailable
from duetime.core.task import Progress
from duetime.executor.isolation.protocol import (
    Answer,
    PreviousRequest,
    Question,
    ReadRequest,
    Renewal,
    Request,
    ResultsRequest,
    SubmitRequest,
)
from duetime.executor.run_control import RunControl
from duetime.handlers.context import Context


def answer(control: RunControl, question: Question) -> Answer:
    """Carries out what the handler asks. What that raises is raised in the handler."""
    try:
        return Answer(number=question.number, value=_carried_out(control, question.request))
    except Unavailable as error:
        return Answer(number=question.number, unavailable=str(error))
    except Exception as error:  # noqa: BLE001 - raised where it was asked
        return Answer(number=question.number, error=_picklable(error))


def _carried_out(control: RunControl, request: Request) -> Any:
    match request:
        case Renewal(progress=progress):
            return _renew(control.context, progress)
        case SubmitRequest(tasks=tasks):
            return control.submit(tasks)
        case ReadRequest(task_id=task_id):
            return control.read(task_id)
        case ResultsRequest(step=step, start=start):
            return control.results_page(step, start)
        case PreviousRequest():
            return control.context.previous


def _renew(ctx: Context, progress: Progress | None) -> None:
    if progress is None:
        ctx.heartbeat()
    else:
        ctx.progress(progress.fraction, progress.message)


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - its class may have any constructor
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
