"""The parameters of a handler: which of them take the payload, and which takes the context.

(payload, ctx)          the payload as one value
(payload)               the same
(ctx, *, a, b=…)        the members of the payload, which is an object
(a, b=…)                the same; `duetime.context()` returns the context
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from inspect import Parameter
from typing import Any

from duetime.core.errors import BadPayload, BadResult
from duetime.handlers.context import Context
from duetime.handlers.conversion import Conversion, Misfit

CONTEXT_NAMES = ("ctx", "context")
SHAPES = "(payload, ctx), (ctx, *, a, b) or (a, b)"
LEVELS = 200  # of nesting that a payload may have
BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

Call = Callable[[], Any]


class Parameters:
    """The parameters of one handler, and the conversion of each to JSON and back."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        """Raises TypeError for a function that cannot be a handler."""
        self._name = name
        self._function = function
        signature = inspect.signature(function)
        self._returns = signature.return_annotation
        given = list(signature.parameters.values())
        positional = [parameter for parameter in given if parameter.kind in BY_POSITION]
        self._context_first = bool(positional) and _is_context(positional[0])
        self._context_second = _takes_both(given, positional)
        self._whole = self._context_second or [p.name for p in given] == ["payload"]
        self._named = given[1:] if self._context_first else given
        self._check(given, positional)

    def _check(self, given: Sequence[Parameter], positional: Sequence[Parameter]) -> None:
        if self._context_second:
            required = [p for p in given if p not in positional and _is_required(p)]
            if required:
                raise self._refusal(f"{required[0].name} would get no value")
            return
        for parameter in self._named:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                raise self._refusal(f"a payload has no values for *{parameter.name}")
            if parameter.kind is Parameter.POSITIONAL_ONLY and not self._whole:
                raise self._refusal(f"{parameter.name} must have a name: remove the /")
            if parameter.name in ("self", "cls"):
                raise self._refusal("it is a method; register a function")
            if _is_context(parameter):
                raise self._refusal(f"{parameter.name} must come first, or second of two")

    def _refusal(self, reason: str) -> TypeError:
        return TypeError(f"handler {self._name!r} must take {SHAPES}: {reason}")

    def has(self, name: str) -> bool:
        """Whether the payload has a member of this name by a parameter of its own."""
        return not self._whole and any(parameter.name == name for parameter in self._named)

    def payload(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Returns the JSON of the payload that a call submits. Raises BadPayload if the call does
        not fit the parameters."""
        if self._whole:
            return self._payload_json(self._only(args, kwargs))
        return self.object(self._by_name(args, kwargs))

    def item(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Returns the payload that a call gives, as `template` takes it. Raises BadPayload if the
        call does not fit the parameters; their values are not checked here."""
        if self._whole:
            return self._only(args, kwargs)
        values = self._by_name(args, kwargs)
        self._check_names(values)
        return values

    def payload_of(self, item: Any) -> Any:
        """Returns the JSON of a payload: one value, or the mapping of the parameters."""
        if self._whole:
            return self._payload_json(item)
        return self.object(self._mapping(item))

    def template(self, item: Any, compiled: Callable[[Any], tuple[Any, bool]]) -> Any:
        """Returns the JSON of a payload of which parts are known only later. `compiled` returns the
        JSON of a value, and whether it has such parts: such a value is not checked."""
        json, later = compiled(item)
        if self._whole:
            return json if later else self._payload_json(item)
        if later and not isinstance(item, Mapping):
            return json
        values = self._mapping(item)
        self._check_names(values)
        return {name: self._part(name, value, compiled) for name, value in values.items()}

    def _part(self, name: str, value: Any, compiled: Callable[[Any], tuple[Any, bool]]) -> Any:
        json, later = compiled(value)
        return json if later else self._sent(name, value, name)

    def object(self, values: Mapping[str, Any]) -> dict[str, Any]:
        self._check_names(values)
        return self._members(values)

    def schema(self) -> dict[str, Any] | None:
        """Returns the JSON Schema of the payload; None if everything fits."""
        from duetime.handlers.payload_schemas import object_schema

        if self._whole:
            return self._conversion(self._named[0].name).schema() or None
        members = {p.name: self._conversion(p.name).schema() for p in self._named}
        others = members.pop(self._extra) if self._extra else None
        return object_schema(members, self._required, others)

    def matches(self, payload: Any, values: Mapping[str, Any]) -> bool:
        """Whether a stored payload has these values; a parameter that it leaves out has its
        default."""
        if self._whole:
            from duetime.core.json_values import to_json_value

            wanted = to_json_value(dict(values), levels=LEVELS)
            return isinstance(payload, Mapping) and wanted.items() <= payload.items()
        self._check_known(values)
        given = payload or {}
        left_out = [p for p in self._named if p.name in values and p.name not in given]
        defaults = {p.name: p.default for p in left_out if p.default is not Parameter.empty}
        return self._members(values).items() <= {**self._members(defaults), **given}.items()

    def _members(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._sent(name, value, name) for name, value in values.items()}

    def call(self, payload: Any, ctx: Context) -> Call:
        """Returns the call of the function with a stored payload. Raises BadPayload if the payload
        does not fit the parameters."""
        function = self._function
        if self._whole:
            value = self._read(self._named[0].name, payload)
            return (
                partial(function, value, ctx) if self._context_second else partial(function, value)
            )
        values = {name: self._read(name, json) for name, json in self._given(payload).items()}
        return (
            partial(function, ctx, **values) if self._context_first else partial(function, **values)
        )

    def check(self, payload: Any) -> None:
        """Raises BadPayload if the payload of a schedule does not fit the parameters. What a
        template becomes is unknown before the run."""
        if isinstance(payload, str) and _is_template(payload):
            return
        for name, json in self._given(payload).items():
            if not _is_template(json):
                self._read(name, json)

    def _given(self, payload: Any) -> Mapping[str, Any]:
        """Returns the JSON for each parameter that a stored payload has a value for."""
        if self._whole:
            return {self._named[0].name: payload}
        given = self._mapping({} if payload is None else payload)
        self._check_names(given)
        return given

    def _read(self, name: str, json: Any) -> Any:
        try:
            return self._conversion(name).from_json(json)
        except Misfit as misfit:
            raise _bad_payload("" if self._whole else name, misfit) from None

    def result_json(self, result: Any) -> Any:
        """Returns what is stored of a result. Raises BadResult if it is not of the type that the
        function says it returns."""
        return _or_bad_result(self._result.to_json, result)

    def result(self, stored: Any) -> Any:
        """Returns a stored result as the type that the function returns."""
        return _or_bad_result(self._result.from_json, stored)

    def _payload_json(self, value: Any) -> Any:
        return self._sent(self._named[0].name, value, "")

    def _sent(self, name: str, value: Any, field: str) -> Any:
        try:
            return self._conversion(name).to_json(value, naive_times=False)
        except Misfit as misfit:
            raise _bad_payload(field, misfit) from None

    def _only(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        name = self._named[0].name
        if len(args) == 1 and not kwargs:
            return args[0]
        if not args and list(kwargs) == [name]:
            return kwargs[name]
        if not args and not kwargs and not _is_required(self._named[0]):
            return self._named[0].default
        raise BadPayload("", f"handler {self._name!r} takes one value: its payload")

    def _by_name(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        positional = [p.name for p in self._named if p.kind in BY_POSITION]
        if len(args) > len(positional):
            raise BadPayload("", f"handler {self._name!r} takes {len(positional)} by position")
        given = dict(zip(positional, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise BadPayload(min(twice), "is given twice")
        return {**given, **kwargs}

    def _mapping(self, given: Any) -> Mapping[str, Any]:
        if not isinstance(given, Mapping):
            reason = f"must be an object with the parameters of handler {self._name!r}"
            raise BadPayload("", f"the payload {reason}")
        return given

    def _check_known(self, given: Mapping[str, Any]) -> None:
        if self._extra is None and not given.keys() <= self._known:
            unknown = next(name for name in given if name not in self._known)
            raise BadPayload(str(unknown), f"is not a parameter of handler {self._name!r}")

    def _check_names(self, given: Mapping[str, Any]) -> None:
        self._check_known(given)
        for name in self._required:
            if name not in given:
                raise BadPayload(name, f"is required by handler {self._name!r}")

    def _conversion(self, name: str) -> Conversion:
        return self._conversions.get(name) or self._conversions[self._extra or name]

    @cached_property
    def _conversions(self) -> dict[str, Conversion]:
        return {p.name: self._converting(p.name, p.annotation) for p in self._named}

    @cached_property
    def _result(self) -> Conversion:
        return self._converting("return", self._returns)

    def _converting(self, name: str, annotation: Any) -> Conversion:
        namespace = getattr(inspect.unwrap(self._function), "__globals__", {})
        return Conversion(annotation, f"handler {self._name!r}: {name}", namespace)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(p.name for p in self._named if p.kind is not Parameter.VAR_KEYWORD)

    @cached_property
    def _required(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self._named if _is_required(parameter))

    @cached_property
    def _extra(self) -> str | None:
        """The name of `**kwargs`, which takes every other member of the payload."""
        return next((p.name for p in self._named if p.kind is Parameter.VAR_KEYWORD), None)


def _bad_payload(name: str, misfit: Misfit) -> BadPayload:
    return BadPayload(".".join(part for part in (name, misfit.path) if part), misfit.reason)


def _is_template(json: Any) -> bool:
    from duetime.core.template import names_in

    return any(names_in(json))


def _or_bad_result(convert: Callable[[Any], Any], result: Any) -> Any:
    try:
        return convert(result)
    except Misfit as error:
        where = f"result.{error.path}" if error.path else "result"
        raise BadResult(f"{where}: {error.reason}") from None


def _takes_both(given: Sequence[Parameter], positional: Sequence[Parameter]) -> bool:
    """Whether a function is called with the payload and the context."""
    if not positional:
        return any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in given)
    if len(positional) != 2 or _is_context(positional[0]):
        return False
    return _is_context(positional[1]) or positional[1].name.startswith("_")


def _is_context(parameter: Parameter) -> bool:
    """The annotation may be text, or a name for the type checker alone."""
    annotation = parameter.annotation
    if isinstance(annotation, str):
        return annotation in ("Context", "duetime.Context") or parameter.name in CONTEXT_NAMES
    if isinstance(annotation, type) and issubclass(annotation, Context):
        return True
    return parameter.name in CONTEXT_NAMES


def _is_required(parameter: Parameter) -> bool:
    variable = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return parameter.default is Parameter.empty and parameter.kind not in variable
