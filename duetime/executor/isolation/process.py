"""The executor's side of an isolated handler: it runs in a fork of a template, which is used again.

The pipe has a descriptor of its own, so the handler's stdout and stderr stay as they are.
"""

import errno
import logging
from typing import Any

from duetime.core.errors import Snooze, Stopped
from duetime.core.results import Encoded
from duetime.core.task import Task
from duetime.executor.failures import FailedElsewhere
from duetime.executor.handler_processes.protocol import task_bytes
from duetime.executor.isolation.answers import answer
from duetime.executor.isolation.protocol import (
    PROCESS_RETRY_DELAY,
    EndedIdle,
    Failed,
    RunRequest,
    StopNotice,
    Succeeded,
)
from duetime.executor.isolation.supervised_process import how_it_ended
from duetime.executor.isolation.template import ChildGone, Fork, Template, as_bytes
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.handlers.handler import Handler

log = logging.getLogger(__name__)

SENT_AHEAD = 32 * 1024  # bytes of a request: so many never wait for the process that receives them
OUT_OF_RESOURCES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


def run_in_child(handler: Handler[..., Any], task: Task, control: RunControl) -> Any:
    attempt = IsolatedAttempt(_request(handler, task, control), control)
    outcome = None
    while outcome is None:
        template = _take_template(attempt)
        try:
            outcome = _run(template, attempt)
        finally:
            TEMPLATES.give_back(template, computed=outcome.computed if outcome else None)
    if isinstance(outcome, Failed):
        raise FailedElsewhere(outcome.failure)
    return None if outcome.result is None else Encoded(outcome.result)


class IsolatedAttempt:
    """`fork` is the process that has the request already."""

    def __init__(self, request: RunRequest, control: RunControl) -> None:
        self.request = request
        self.control = control
        self.data = as_bytes(request)
        self.fork: Fork | None = None

    def begin(self, template: Template) -> None:
        """Sends the request to the process that the template keeps. The thread that was done with
        the process does this, before the thread of this attempt wakes."""
        if not self.request.keep or len(self.data) > SENT_AHEAD or self.control.interrupt.triggered:
            return
        fork, template.kept = template.kept, None
        if fork is not None:
            self.fork = fork
            fork.send_bytes(self.data)


def _take_template(attempt: IsolatedAttempt) -> Template:
    """Raises Snooze if the machine is out of processes, which costs the task no attempt."""
    try:
        return TEMPLATES.take(attempt.begin)
    except OSError as error:
        if error.errno not in OUT_OF_RESOURCES:
            raise
        raise Snooze(PROCESS_RETRY_DELAY, f"no child could be started: {error}") from None


def _run(template: Template, attempt: IsolatedAttempt) -> Succeeded | Failed | None:
    """Returns the outcome, once what the attempt has started has ended, and its process, unless
    that is kept for the next attempt. None if the attempt has not begun here."""
    control = attempt.control
    fork, attempt.fork = attempt.fork, None
    try:
        with control.interrupt.stopping_with(template.kill):
            if fork is None:
                fork = template.take_fork(fresh=not attempt.request.keep)
                if fork is None:
                    return None
                fork.send_bytes(attempt.data)
            outcome = _serve(fork, control)
            _keep_or_end(template, fork, outcome, control)
        return outcome
    except ChildGone:
        if control.interrupt.triggered:
            raise Stopped from None
        reason = how_it_ended(fork.exit_code() if fork else template.process.wait(1))
        raise TargetFailed("ChildDied", reason) from None
    finally:
        if fork is not None and fork is not template.kept:
            fork.close()


def _keep_or_end(
    template: Template, fork: Fork, outcome: Succeeded | Failed | None, control: RunControl
) -> None:
    """The process of an attempt that was asked to stop is not used again."""
    if outcome is None or not outcome.kept:
        fork.exit_code()
    elif control.reason is None:
        template.kept = fork
    else:
        fork.dismiss()


def _request(handler: Handler[..., Any], task: Task, control: RunControl) -> RunRequest:
    return RunRequest(
        task=task_bytes(task, handler.__module__, control.trace),
        started_at=task.current.started_at if task.current else 0,
        previous=control.context.previous,
        keep=handler.isolated != "fresh",
    )


def _serve(fork: Fork, control: RunControl) -> Succeeded | Failed | None:
    """Returns None if the fork, which was kept, has ended before it got the request. Raises
    ChildGone."""
    sent = None
    while True:
        if control.reason != sent:
            sent = control.reason
            fork.send(StopNotice(reason=sent))
        match fork.receive():
            case Succeeded() | Failed() as outcome:
                return outcome
            case EndedIdle():
                return None
            case None:
                continue
            case question:
                fork.send(StopNotice(reason=control.reason, answer=answer(control, question)))
