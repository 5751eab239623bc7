"""Validation of definitions, and their levels."""

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import pytest
from hypothesis import given

from duetime.core.limits.definition import LimitUse
from duetime.core.workflows.codec import definition_json
from duetime.core.workflows.definition import MAX_ITEMS, MapOver, RunIf
from duetime.core.workflows.validation import check_definition, levels
from tests.core.workflows.strategies import definition, graphs, step
from tests.traced_lines import count_lines

A = step("a")
EACH = MapOver(items=3)
WHEN = {"input": {"go": [True]}}


def nested(inner, **more):
    target = {"type": "workflow", "definition": definition_json(definition(inner)), **more}
    return step("n", target=target)


@pytest.mark.parametrize(
    ("steps", "path", "message"),
    [
        # keys
        (
            [A, step("b", ordering_key="{{steps.a.result}}")],
            "steps.1.ordering_key",
            "'a' does not run",
        ),
        ([step("b", ordering_key="{{callback.url}}")], "steps.0.ordering_key", "callback is known"),
        ([step("b", ordering_key="x-{{run.status}}")], "steps.0.ordering_key", "run.status cannot"),
        ([step("b", ordering_key="{{nope}}")], "steps.0.ordering_key", "there is no name"),
        (
            [step("b", limits=(LimitUse(name="l", key="{{item}}"),))],
            "steps.0.limits.0.key",
            "item is known only",
        ),
        # the graph
        ([], "steps", "must have 1 to 500 steps"),
        ([step(f"s{n}") for n in range(501)], "steps", "must have 1 to 500 steps"),
        ([A, step("b", *["a"] * 5_001)], "steps", "must have at most 5,000 needs together"),
        ([A, step("b", "a", "c")], "steps.1.needs.1", "there is no step 'c'"),
        ([A, step("b", "a", "a")], "steps.1.needs.1", "'a' is named twice"),
        ([A, A], "steps.1.name", "steps.0 has the name 'a'"),
        ([step("a", "a")], "steps.0.needs", "a cycle: a → a"),
        ([step("a", "b"), step("b", "a")], "steps.0.needs", "a cycle: a → b → a"),
        (
            [step("z"), step("d", "a"), step("a", "z", "c"), step("b", "a"), step("c", "b")],
            "steps.2.needs",
            "a cycle: a → c → b → a",
        ),
        # finally
        ([A, step("f", "a", last=True)], "steps.1.needs", "does not go with finally"),
        ([step("f", last=True, run_if=RunIf.ANY_FAILED)], "steps.0.run_if", "does not go with"),
        ([step("f", last=True, when=WHEN)], "steps.0.when", "does not go with finally"),
        ([step("f", last=True), step("b", "f")], "steps.1.needs.0", "'f' is a finally step"),
        # references
        (
            [A, step("b", payload="{{steps.a.result}}")],
            "steps.1.payload",
            "'a' does not run before",
        ),
        ([step("b", payload=["{{steps.x.result}}"])], "steps.0.payload.0", "there is no step 'x'"),
        ([step("b", payload="{{steps.b.result}}")], "steps.0.payload", "'b' does not run before"),
        ([step("b", payload="{{inptu}}")], "steps.0.payload", "there is no name 'inptu'"),
        ([step("b", payload={"a": "{{x"})], "steps.0.payload.a", "the {{ at position 1 is not"),
        ([A, step("b", "a", payload="{{steps.a.results}}")], "steps.1.payload", "'a' has no map"),
        (
            [step("f", last=True), step("g", last=True, payload="{{steps.f.status}}")],
            "steps.1.payload",
            "'f' is a finally step",
        ),
        ([step("b", payload="{{item.x}}")], "steps.0.payload", "item is known only"),
        ([step("b", payload="{{index}}")], "steps.0.payload", "index is known only"),
        ([step("b", payload="{{callback.url}}")], "steps.0.payload", "callback is known only"),
        ([step("b", payload=["{{input}}"] * 101)], "steps.0.payload.100", "more than 100"),
        (
            [step("b", target={"type": "python", "handler": "{{input.x}}"})],
            "steps.0.target.handler",
            "cannot contain a reference",
        ),
        # conditions
        ([step("b", when={"input": 1})], "steps.0.when.input", "must be a list of values"),
        ([step("b", when={"run": {"id": [1]}})], "steps.0.when.run", "unknown; a condition"),
        ([step("b", when={"steps": [1]})], "steps.0.when.steps", "must be an object"),
        ([step("b", when={"steps": {"a": [1]}}), A], "steps.0.when.steps.a", "'a' does not run"),
        (
            [A, step("b", "a", when={"steps": {"a": {"results": [1]}}})],
            "steps.1.when.steps.a.results",
            "unknown; of a step",
        ),
        # maps
        ([step("m", map=MapOver(items=MAX_ITEMS + 1))], "steps.0.map.items", "must be 0 to 10,000"),
        ([step("m", map=MapOver(items=[0] * 10_001))], "steps.0.map.items", "must be 0 to 10,000"),
        ([step("m", map=MapOver(items="{{input.a}} "))], "steps.0.map.items", "must be a list"),
        ([step("m", map=MapOver(items="text"))], "steps.0.map.items", "must be a list"),
        ([step("m", map=MapOver(items="{{x"))], "steps.0.map.items", "must be a list"),
        ([step("m", map=MapOver(items=True))], "steps.0.map.items", "must be a list"),
        ([step("m", map=MapOver(items="{{item}}"))], "steps.0.map.items", "item is known only"),
        ([step("m", map=MapOver(items=["{{steps.x.status}}"]))], "steps.0.map.items.0", "there is"),
        # callbacks, nesting, size
        ([step("c", callback=60.0)], "steps.0.callback", "goes with a target"),
        ([nested(step("x", "y"))], "steps.0.workflow.steps.0.needs.0", "there is no step 'y'"),
        ([nested(A, input="{{steps.q.result}}")], "steps.0.input", "there is no step 'q'"),
        (
            [nested(nested(nested(A)))],
            "steps.0.workflow.steps.0.workflow.steps.0.workflow",
            "must be at most 2 definitions deep",
        ),
        ([step("b", payload="x" * 256 * 1024)], "steps", "must be at most 256 KiB together"),
        ([step("b", payload=float("inf"))], "steps", "must hold no number beyond 1.8e308"),
    ],
)
def test_wrong_definition_is_refused_with_the_path_of_its_field(steps, path, message):
    faults = [f for f in check_definition(definition(*steps)) if f[0] == path]
    assert faults, check_definition(definition(*steps))
    assert faults[0][1].startswith(message)


def test_definition_that_uses_everything_has_no_faults():
    target = {"type": "http", "url": "https://a.example/{{item}}", "method": "POST"}
    steps = [
        step("list", target={"type": "python", "handler": "list"}, payload="{{input}}"),
        step("each", "list", target=target, map=MapOver(items="{{steps.list.result.rows}}")),
        step("ask", "each", target=target | {"url": "https://a.example/{{callback.token}}"},
             callback=60.0, payload={"all": "{{steps.each.results}}"}),
        step("go", "ask", when={"steps": {"list": {"status": ["SUCCEEDED"]}}, **WHEN}),
        step("end", last=True, payload="{{run.status}} {{steps.go.status}}"),
        nested(nested(step("x", payload="{{input.a}}")), input={"a": "{{input.b}}"}),
    ]  # fmt: skip
    assert check_definition(definition(*steps)) == []


def test_two_levels_of_nesting_are_allowed():
    assert check_definition(definition(nested(nested(A)))) == []


@given(graphs())
def test_levels_are_those_of_graphlib_and_cycles_are_found(given_definition):
    needs = {s.name: s.needs for s in given_definition.steps}
    sorter = TopologicalSorter(needs)
    faults = check_definition(given_definition)
    try:
        sorter.prepare()
    except CycleError:
        ((_, message),) = faults
        cycle = message.removeprefix("a cycle: ").split(" → ")
        assert cycle[0] == cycle[-1]
        assert all(b in needs[a] for a, b in pairwise(cycle))
        assert len(set(cycle)) == len(cycle) - 1
        return
    expected = []
    while ready := sorter.get_ready():
        expected.append(sorted(ready))
        sorter.done(*ready)
    assert faults == []
    assert list(map(sorted, levels(given_definition))) == expected


def test_step_is_one_level_after_the_last_of_its_needs():
    assert levels(definition(step("c", "a", "b"), step("b", "a"), A)) == [["a"], ["b"], ["c"]]


def test_finally_steps_are_the_last_level():
    steps = [step("end", last=True), step("b", "a"), A, step("c", "a")]
    assert levels(definition(*steps)) == [["a"], ["b", "c"], ["end"]]


def test_largest_graph_is_checked_with_a_few_lines_for_each_edge():
    steps = [step(f"s{n}", *(f"s{m}" for m in range(max(0, n - 10), n))) for n in range(500)]
    steps[-1] = step(
        "s499", *steps[-1].needs, payload=[f"{{{{steps.s{n}.result}}}}" for n in range(99)]
    )
    checked = definition(*steps)
    assert check_definition(checked) == []
    edges = sum(len(each.needs) for each in steps)
    assert edges > 4_900
    assert count_lines(lambda: check_definition(checked)) < 60 * edges
