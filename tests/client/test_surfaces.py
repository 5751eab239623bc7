"""Client and AsyncClient have the same methods, with the same parameters and docstrings."""

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, get_type_hints

import pytest

from duetime.client import (
    AsyncCallbacks,
    AsyncClient,
    AsyncDeadLetters,
    AsyncLimits,
    AsyncLive,
    AsyncRuns,
    AsyncSchedules,
    AsyncWorkflows,
    Callbacks,
    Client,
    DeadLetters,
    Limits,
    Live,
    Runs,
    Schedules,
    Workflows,
)
from duetime.client.system import AsyncSystem, System

PAIRS: list[tuple[type, type]] = [
    (Client, AsyncClient),
    (System, AsyncSystem),
    (Schedules, AsyncSchedules),
    (DeadLetters, AsyncDeadLetters),
    (Limits, AsyncLimits),
    (Workflows, AsyncWorkflows),
    (Runs, AsyncRuns),
    (Callbacks, AsyncCallbacks),
    (Live, AsyncLive),
]
RENAMED = {"close": "aclose", "__enter__": "__aenter__", "__exit__": "__aexit__"}
ASYNC_ONLY = {"submit_many": {"concurrency"}}
OTHER_TYPES = {"transport", "sleep"}  # parameters whose types differ
OWN_TEXT = {"submit_many", "aclose", "__aenter__", "__aexit__"}


def members(kind: type) -> dict[str, Any]:
    return {
        name: member
        for name, member in vars(kind).items()
        if not name.startswith("_") or name in ("__init__", "__call__", *RENAMED, *RENAMED.values())
    }


@pytest.mark.parametrize(("sync", "other"), PAIRS)
def test_async_class_has_every_method_and_no_other(sync: type, other: type) -> None:
    assert {RENAMED.get(name, name) for name in members(sync)} == set(members(other))


def twins() -> list[Any]:
    return [
        pytest.param(member, members(other)[RENAMED.get(name, name)], id=f"{sync.__name__}.{name}")
        for sync, other in PAIRS
        for name, member in members(sync).items()
        if not isinstance(member, property)
    ]


@pytest.mark.parametrize(("sync", "other"), twins())
def test_async_method_takes_the_same_parameters(sync: Any, other: Any) -> None:
    expected = dict(inspect.signature(sync).parameters)
    found = dict(inspect.signature(other).parameters)
    for name in ASYNC_ONLY.get(sync.__name__, ()):
        del found[name]

    assert list(found) == list(expected)
    for name in set(expected) - OTHER_TYPES:
        assert (found[name].kind, found[name].annotation) == (
            expected[name].kind,
            expected[name].annotation,
        )
        assert callable(found[name].default) or found[name].default == expected[name].default


@pytest.mark.parametrize(("sync", "other"), twins())
def test_async_method_returns_the_same_type(sync: Any, other: Any) -> None:
    names = {"self": None, "Self": None}
    if sync.__name__ == "__init__":
        return
    expected = get_type_hints(sync, localns=names)["return"]
    found = get_type_hints(other, localns=names)["return"]
    if getattr(expected, "__origin__", None) is Iterator:
        assert found == AsyncIterator[expected.__args__[0]]
        assert not inspect.iscoroutinefunction(other), "it is used with `async for`"
    else:
        assert found == expected
        assert inspect.iscoroutinefunction(other)


@pytest.mark.parametrize(("sync", "other"), twins())
def test_async_method_has_the_docstring(sync: Any, other: Any) -> None:
    if other.__name__ not in OWN_TEXT:
        assert other.__doc__ == sync.__doc__
