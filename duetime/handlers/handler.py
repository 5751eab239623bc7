"""A handler: a function that can be called here and submitted as a task."""

import functools
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime, timedelta
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from duetime.core.value import value
from duetime.handlers.context import Context
from duetime.handlers.defaults import Defaults, to_seconds
from duetime.handlers.parameters import Call, Parameters

if TYPE_CHECKING:
    from duetime.handlers.options import TaskOptions
    from duetime.handlers.schedules import DeclaredSchedule
    from duetime.handlers.submission import Problem, Submission

P = ParamSpec("P")  # of a submission
R = TypeVar("R")  # the result of the task
C = ParamSpec("C")  # of a call of the function
V = TypeVar("V")  # what the function returns: the result, or a coroutine
T = TypeVar("T")

Delay = float | str | timedelta  # seconds, "90s", "1h30m"
Fields = dict[str, Any]  # of a task, as submitted


class Submittable(Generic[P, R]):
    """What `submit` is called on: a handler, or a handler with options.

    Each method raises BadPayload if the call does not fit the handler's parameters; nothing is sent
    then. The methods that begin with `a` are for `async` code."""

    def __init__(self, parameters: Parameters, fields: Fields) -> None:
        self._parameters = parameters
        self._fields = fields

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> "Submission[R]":
        """Submits a task that is due now."""
        return self._send(self._task(args, kwargs))

    def submit_in(self, delay: Delay, /, *args: P.args, **kwargs: P.kwargs) -> "Submission[R]":
        """Submits a task that is due after a delay: seconds, "90s", "24h" or a timedelta."""
        return self._send(self._task(args, kwargs) | {"delay": to_seconds(delay)})

    def submit_at(self, when: datetime, /, *args: P.args, **kwargs: P.kwargs) -> "Submission[R]":
        """Submits a task that is due at a time, which needs a time zone."""
        return self._send(self._task(args, kwargs) | {"run_at": _moment(when)})

    def submit_many(self, payloads: Iterable[Any], /) -> "list[Submission[R] | Problem]":
        """Submits a task for each payload, 100 with each request: the value of the payload, or a
        dict of the parameters. Returns a submission or the problem of each, in order.

        If one payload does not fit, nothing is sent."""
        from duetime.handlers import submission

        return submission.send_many(self._tasks(payloads), self._parameters)

    async def asubmit(self, *args: P.args, **kwargs: P.kwargs) -> "Submission[R]":
        return await self._asend(self._task(args, kwargs))

    async def asubmit_in(
        self, delay: Delay, /, *args: P.args, **kwargs: P.kwargs
    ) -> "Submission[R]":
        return await self._asend(self._task(args, kwargs) | {"delay": to_seconds(delay)})

    async def asubmit_at(
        self, when: datetime, /, *args: P.args, **kwargs: P.kwargs
    ) -> "Submission[R]":
        return await self._asend(self._task(args, kwargs) | {"run_at": _moment(when)})

    async def asubmit_many(self, payloads: Iterable[Any], /) -> "list[Submission[R] | Problem]":
        from duetime.handlers import submission

        return await submission.asend_many(self._tasks(payloads), self._parameters)

    def payload(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Returns the JSON payload that `submit` would send."""
        return self._parameters.payload(args, kwargs)

    def template(self, payload: Any, compiled: Callable[[Any], tuple[Any, bool]]) -> Any:
        """Returns the JSON of the payload of a workflow's step, which may have references: see
        Parameters.template. Raises BadPayload if the rest does not fit the parameters."""
        return self._parameters.template(payload, compiled)

    def submission(self, task_id: str, /) -> "Submission[R]":
        """Returns the submission of a task that was submitted earlier, perhaps elsewhere."""
        from duetime.handlers.submission import Submission

        return Submission(task_id, self._parameters)

    def _task(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Fields:
        return {**self._fields, "payload": self._parameters.payload(args, kwargs)}

    def _tasks(self, payloads: Iterable[Any]) -> list[Fields]:
        from duetime.handlers.options import check_for_many

        check_for_many(self._fields)
        return [{**self._fields, "payload": self._parameters.payload_of(p)} for p in payloads]

    def _send(self, task: Fields) -> "Submission[R]":
        from duetime.handlers import submission  # the executor needs it only for children

        return submission.send(task, self._parameters)

    async def _asend(self, task: Fields) -> "Submission[R]":
        from duetime.handlers import submission

        return await submission.asend(task, self._parameters)


class Prepared(Submittable[P, R]):
    """A handler with options for its next submissions."""

    def options(self, **options: Unpack["TaskOptions"]) -> "Prepared[P, R]":
        """Returns a copy with more options; a later one wins."""
        return prepared(self, options)


class Handler(Submittable[P, R]):
    """A function that `task` has registered. A call runs the function here and now; `submit` runs
    it as a task.

    Attributes:
        name: The name that tasks use.
        isolated: Whether it runs in a process of its own; "fresh" for a new one for each attempt.
        defaults: The fields that its tasks have unless the caller gives others.
        schedules: The schedules that are declared with it."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        isolated: bool | Literal["fresh"],
        defaults: Defaults,
        schedules: "tuple[DeclaredSchedule, ...]" = (),
    ) -> None:
        target = {"type": "python", "handler": name}
        super().__init__(Parameters(name, function), {"target": target})
        functools.update_wrapper(cast(Callable[..., Any], self), function)
        self._function = function
        self.name = name
        self.isolated = isolated
        self.defaults = defaults
        self.schedules = schedules

    def options(self, **options: Unpack["TaskOptions"]) -> Prepared[P, R]:
        """Returns an object with the same `submit` methods, which uses these options:
        `restock.options(priority="high", key="order-17").submit(items=["tea"])`."""
        return prepared(self, options)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> "StepCall":
        """Returns what a step of a workflow runs: `w.step("load", load.call(rows=first.result))`.
        Type checkers check the values as those of `submit`, and so does the step; a reference fits
        every parameter. Raises BadPayload if the call does not fit the parameters."""
        return StepCall(handler=self, payload=self._parameters.item(args, kwargs))

    def bind(self, payload: Any, ctx: Context) -> Call:
        """Returns the call of the function for a stored payload. Raises BadPayload if the payload
        does not fit the parameters."""
        return self._parameters.call(payload, ctx)

    def check(self, payload: Any) -> None:
        """Raises BadPayload if the payload of a schedule does not fit the parameters, and TypeError
        for an annotation that cannot be read."""
        self._parameters.check(payload)

    @functools.cached_property
    def payload_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of its payload; None if everything fits, or if an annotation cannot be
        read."""
        try:
            return self._parameters.schema()
        except TypeError:
            return None

    def result_json(self, result: Any) -> Any:
        """Returns a result as it is stored. Raises BadResult if it does not fit the annotation."""
        return self._parameters.result_json(result)

    def result_of(self, stored: Any) -> Any:
        """Returns a stored result as the type that the function returns."""
        return self._parameters.result(stored)

    def matches(self, payload: Any, values: Mapping[str, Any]) -> bool:
        """Whether a stored payload has these values of parameters. Raises BadPayload for a value
        that no payload can have."""
        return self._parameters.matches(payload, values)

    @property
    def qualname(self) -> str:
        return str(getattr(self._function, "__qualname__", self.name))

    def __reduce__(self) -> str:
        """Pickles the handler by its place in its module, as a function is."""
        return self.qualname

    def __repr__(self) -> str:
        return f"<handler {self.name!r}>"


@value(frozen=True, kw_only=True, slots=True)
class StepCall:
    """A handler, and the payload that a step of a workflow gives it."""

    handler: Handler[..., Any]
    payload: Any


class CallableHandler(Handler[P, R], Generic[P, R, C, V]):
    """A handler as the type checker sees it: `C` and `V` are the function's own parameters and what
    it returns."""

    def __call__(self, *args: C.args, **kwargs: C.kwargs) -> V:
        result: V = self._function(*args, **kwargs)
        return result


class Register:
    """What `task` returns: it registers a function, and returns its handler.

    The overloads are the shapes of a handler (duetime.handlers.parameters), each plain and `async`.
    A type checker takes the first that fits."""

    def __init__(self, register: "Callable[[Callable[..., Any]], Handler[..., Any]]") -> None:
        self._register = register

    # The second overlaps with the third for a function of (Context, Context), which is no handler.
    @overload
    def __call__(
        self, function: Callable[[T, Context], Coroutine[Any, Any, R]], /
    ) -> CallableHandler[[T], R, [T, Context], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[[T, Context], R], /
    ) -> CallableHandler[[T], R, [T, Context], R]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> CallableHandler[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, P], R], /
    ) -> CallableHandler[P, R, Concatenate[Context, P], R]: ...
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> CallableHandler[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> CallableHandler[P, R, P, R]: ...
    def __call__(self, function: Callable[..., Any], /) -> Any:
        return self._register(function)


def prepared(base: Submittable[P, R], options: Any) -> Prepared[P, R]:
    from duetime.handlers.options import fields_of

    return Prepared(base._parameters, {**base._fields, **fields_of(options)})


def with_step(base: Submittable[P, R], step: str) -> Prepared[P, R]:
    """Raises TypeError for a handler with a parameter of this name: whose value is it?"""
    if base._parameters.has("step"):
        reason = 'has a parameter `step`: use handler.options(step="…").submit(…)'
        raise TypeError(f"the handler {reason}")
    return prepared(base, {"step": step})


def _moment(when: datetime) -> str:
    if not isinstance(when, datetime):
        raise TypeError(f"{when!r} is not a datetime")
    if when.utcoffset() is None:
        raise ValueError("submit_at: the datetime needs a time zone; give it a tzinfo")
    return when.isoformat()
