"""Definitions for property tests."""

from typing import Any

from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.limits.definition import LimitUse, OnFull
from duetime.core.retry import RetryPolicy
from duetime.core.workflows.definition import Definition, MapOver, RunIf, WorkflowStep

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
tags = st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2)
durations = st.floats(0, 1e6)
limits = st.builds(
    LimitUse, name=st.just("db"), key=st.sampled_from(["", "a"]), on_full=st.sampled_from(OnFull)
)
maps = st.builds(
    MapOver,
    items=st.lists(values, max_size=3) | st.integers(0, 9) | st.just("{{input.list}}"),
    max_concurrency=st.integers(1, 200),
    tolerated_failures=st.integers(0, 3),
)


def step(name: str, *needs: str, **more: Any) -> WorkflowStep:
    return WorkflowStep(**{"name": name, "target": {"type": "pass"}, "needs": needs, **more})


def definition(*steps: WorkflowStep, **more: Any) -> Definition:
    return Definition(steps=steps, **more)


def steps_of(name: str, earlier: list[str]) -> st.SearchStrategy[WorkflowStep]:
    return st.builds(
        WorkflowStep,
        name=st.just(name),
        target=st.fixed_dictionaries({"type": st.just("python"), "handler": st.text(max_size=4)}),
        payload=values,
        retry=st.builds(RetryPolicy, max_attempts=st.integers(1, 9), jitter=durations),
        timeout=durations,
        priority=st.none() | st.sampled_from(Lane),
        limits=st.lists(limits, max_size=2).map(tuple),
        ordering_key=st.none() | st.just("k"),
        tags=tags,
        needs=st.lists(st.sampled_from(earlier), unique=True).map(tuple)
        if earlier
        else st.just(()),
        run_if=st.sampled_from(RunIf),
        when=st.none() | st.just({"input": {"a": [1, {"exists": True}]}}),
        allow_failure=st.booleans(),
        delay=durations,
        until=st.none() | st.integers(0, 10**13),
        map=st.none() | maps,
        callback=st.none() | durations,
        last=st.booleans(),
    )


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    names = [f"s{n}" for n in range(draw(st.integers(1, 5)))]
    return Definition(
        steps=tuple(draw(steps_of(name, names[:n])) for n, name in enumerate(names)),
        fail_fast=draw(st.booleans()),
        timeout=draw(st.integers(1, 10**10)),
        priority=draw(st.sampled_from(Lane)),
        tags=draw(tags),
    )


@st.composite
def graphs(draw: st.DrawFn) -> Definition:
    """Needs among all steps, so also cycles, or among earlier ones; the steps in any order."""
    names = [f"s{n}" for n in range(draw(st.integers(1, 8)))]
    acyclic = draw(st.booleans())
    steps = []
    for number, name in enumerate(names):
        known = names[:number] if acyclic else names
        needs = st.lists(st.sampled_from(known), unique=True, max_size=3) if known else st.just([])
        steps.append(step(name, *draw(needs)))
    return Definition(steps=tuple(draw(st.permutations(steps))))
