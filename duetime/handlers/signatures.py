"""The parameters of a handler as its source code has them, and the check of a schedule's payload.

Annotations of JSON's own types are known there, so their values are checked. Those of other types
are checked where the handler is imported.
"""

import ast
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Any

from duetime.core.errors import BadPayload
from duetime.handlers.annotations import Function, NotJsonType, expression, json_type
from duetime.handlers.bound_names import BoundNames
from duetime.handlers.context import Context
from duetime.handlers.parameters import BY_POSITION, Parameters


class _Unknown:
    """Stands for an annotation that the source does not explain."""


def check_payload(name: str, function: Function, bound: BoundNames, payload: Any) -> None:
    """Raises BadPayload if the payload of a schedule does not fit the parameters of its handler,
    and TypeError for a function that cannot be a handler."""
    faults: list[BadPayload | TypeError] = []
    for parameters in _readings([*_parameters(function.args, bound)]):
        try:
            Parameters(name, _with_signature(parameters)).check(payload)
        except (BadPayload, TypeError) as fault:
            faults.append(fault)
        else:
            return
    raise faults[0]


def payload_schema(name: str, function: Function, bound: BoundNames) -> dict[str, Any] | None:
    """Returns the JSON Schema of the payload; everything fits an annotation of another type than
    JSON's own. None if everything fits, or for a function that cannot be a handler."""
    for parameters in _readings([*_parameters(function.args, bound)]):
        try:
            return Parameters(name, _with_signature(parameters)).schema()
        except TypeError:
            continue
    return None


def _readings(parameters: list[Parameter]) -> Iterator[list[Parameter]]:
    """An annotation may be another name of Context, which the source alone does not tell. Yields
    the parameters without such a context, and then with one where it can be."""
    known = [_annotated(p, Parameter.empty) if _is_unknown(p) else p for p in parameters]
    yield known
    for at, parameter in enumerate(parameters[:2]):
        if _is_unknown(parameter) and parameter.kind in BY_POSITION:
            yield [*known[:at], _annotated(parameter, Context), *known[at + 1 :]]


def _is_unknown(parameter: Parameter) -> bool:
    return parameter.annotation is _Unknown


def _annotated(parameter: Parameter, annotation: Any) -> Parameter:
    return parameter.replace(annotation=annotation)


def _parameters(given: ast.arguments, bound: BoundNames) -> Iterator[Parameter]:
    positional = [*given.posonlyargs, *given.args]
    required = len(positional) - len(given.defaults)
    for at, one in enumerate(positional):
        first = at < len(given.posonlyargs)
        kind = Parameter.POSITIONAL_ONLY if first else Parameter.POSITIONAL_OR_KEYWORD
        yield _parameter(one, kind, bound, optional=at >= required)
    if given.vararg:
        yield _parameter(given.vararg, Parameter.VAR_POSITIONAL, bound)
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(one, Parameter.KEYWORD_ONLY, bound, optional=default is not None)
    if given.kwarg:
        yield _parameter(given.kwarg, Parameter.VAR_KEYWORD, bound)


def _parameter(one: ast.arg, kind: Any, bound: BoundNames, *, optional: bool = False) -> Parameter:
    default = None if optional else Parameter.empty
    return Parameter(one.arg, kind, default=default, annotation=_type(one.annotation, bound))


def _type(annotation: ast.expr | None, bound: BoundNames) -> Any:
    match annotation:
        case None:
            return Parameter.empty
        case ast.Constant(value=str(text)):
            return _type(expression(text), bound)
        case _ if bound.meaning(annotation) == "Context":
            return Context
        case ast.Name(id="Context") | ast.Attribute(attr="Context"):
            return _Unknown
    try:
        return json_type(annotation)
    except NotJsonType:
        return _Unknown if _may_be_context(annotation, bound) else Parameter.empty


def _may_be_context(annotation: ast.expr, bound: BoundNames) -> bool:
    match annotation:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name)):
            return name not in bound.standard
    return False


def _with_signature(parameters: list[Parameter]) -> Callable[..., Any]:
    def handler() -> None: ...

    handler.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return handler
