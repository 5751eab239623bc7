"""Annotations that consist of JSON's own types: `list[str]`, `dict[str, int | None]`.

Their values need no conversion, only a check, so a handler that has no other annotations never
loads pydantic, whose import takes a tenth of a second.
"""

from collections.abc import Iterable
from inspect import Parameter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

ANYTHING = (Parameter.empty, Any, object)
PLAIN = (str, int, float, bool, NoneType, list, dict)
NAMES: dict[type, str] = {
    **{str: "text", int: "a whole number", float: "a number", bool: "true or false"},
    **{NoneType: "null", list: "a list", dict: "an object"},
}

Fault = tuple[tuple[str, ...], str]  # where, and what is wanted there


def is_json_type(kind: Any) -> bool:
    """Whether an annotation consists of JSON's own types at every level."""
    if any(kind is one for one in (*ANYTHING, *PLAIN)):
        return True
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin is list or origin in (Union, UnionType):
            return all(is_json_type(argument) for argument in arguments)
        case origin if origin is dict:
            return arguments[0] is str and is_json_type(arguments[1])
    return False


def fault_in(value: Any, kind: Any) -> Fault | None:
    """Returns where a value does not fit an annotation of JSON's own types; None if it fits."""
    usual = kind is Parameter.empty or (type(value) is kind and kind not in (list, dict))
    if usual or any(kind is one for one in ANYTHING):
        return None
    arguments = get_args(kind)
    origin = get_origin(kind) or kind
    if origin in (Union, UnionType):
        return _fault_in_union(value, arguments)
    if not _is_a(value, origin):
        return (), f"must be {NAMES[origin]}"
    if origin is dict and not all(isinstance(key, str) for key in value):
        return (), "must be an object whose keys are text"
    if not arguments:
        return None
    members = value.items() if origin is dict else enumerate(value)
    return _first_fault(members, arguments[-1])


def _first_fault(members: Iterable[tuple[Any, Any]], kind: Any) -> Fault | None:
    if any(kind is one for one in ANYTHING):
        return None
    for name, member in members:
        if fault := fault_in(member, kind):
            path, wanted = fault
            return (str(name), *path), wanted
    return None


def _fault_in_union(value: Any, kinds: tuple[Any, ...]) -> Fault | None:
    """Returns the fault in the alternative that fits best: the one that fails deepest."""
    faults = []
    for kind in kinds:
        fault = fault_in(value, kind)
        if fault is None:
            return None
        faults.append(fault)
    deepest = max(faults, key=lambda fault: len(fault[0]))
    if deepest[0]:
        return deepest
    return (), " or ".join([faults[0][1], *(why.removeprefix("must be ") for _, why in faults[1:])])


def _is_a(value: Any, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)
