"""The end of a traceback, as it is kept with an attempt."""

import traceback
from types import TracebackType

from lambdas.core.task import storable

LIMIT = 1_500  # characters
LINE_LIMIT = 300
FRAMES = 12  # more would not fit; and a deep recursion is cheap
RELATED = 30  # causes, contexts and members of groups; whoever has more is told of alone
MACHINERY = ("lambdas", "asyncio")  # what stands between the executor and a handler
CUT = "…"


def told_trace(error: BaseException) -> str | None:
    """None for what was raised before any code of a handler's ran."""
    trace = _from_handler(error.__traceback__)
    if trace is None:
        return None
    end = _end(trace)
    text = _formatted(error, end)
    return storable(_tail(text if end is trace else f"{CUT}\n{text}"), LIMIT)


def _from_handler(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and _is_machinery(trace):
        trace = trace.tb_next
    return trace


def _is_machinery(trace: TracebackType) -> bool:
    package = trace.tb_frame.f_globals.get("__package__")
    return isinstance(package, str) and package.partition(".")[0] in MACHINERY


def _end(trace: TracebackType) -> TracebackType:
    """Its last frames. To have Python find them costs two milliseconds in a deep recursion."""
    ahead: TracebackType | None = trace
    for _ in range(FRAMES):
        ahead = ahead and ahead.tb_next
    while ahead is not None and trace.tb_next is not None:
        trace, ahead = trace.tb_next, ahead.tb_next
    return trace


def _formatted(error: BaseException, trace: TracebackType) -> str:
    try:
        if _has_many_related(error):
            return _alone(error, trace)
        summary = traceback.TracebackException(type(error), error, trace, limit=-FRAMES)
        return "".join(summary.format())
    except Exception:  # noqa: BLE001 - it is a handler's own class
        return _alone(error, trace)


def _alone(error: BaseException, trace: TracebackType) -> str:
    return "".join(traceback.format_tb(trace, FRAMES)) + type(error).__name__


def _has_many_related(error: BaseException) -> bool:
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead and len(seen) <= RELATED:
        one = ahead.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        ahead += (one.__cause__, one.__context__)
        if isinstance(one, BaseExceptionGroup):
            ahead += one.exceptions
    return len(seen) > RELATED


def _tail(text: str) -> str:
    """Whole lines, from the end, as many as fit; a line that is too long is cut."""
    kept: list[str] = []
    room = LIMIT - len(CUT)
    for line in reversed(text.rstrip().splitlines()):
        short = line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + CUT
        room -= len(short) + 1
        if room < 0:
            kept.append(CUT)
            break
        kept.append(short)
    return "\n".join(reversed(kept))
