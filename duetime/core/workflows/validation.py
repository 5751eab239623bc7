"""Validation of a definition: what its fields say about each other.

A fault is the path of a field as it is submitted, such as `steps.2.needs.0`, and a message. A
definition of 500 steps and 5,000 edges takes a few milliseconds and some more for its text.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from duetime.core.patterns import check_pattern
from duetime.core.task import WORKFLOW
from duetime.core.template import MAX_NAMES, BadTemplate, whole_name
from duetime.core.workflows.codec import definition_of, encode_definition
from duetime.core.workflows.definition import (
    MAX_DEFINITION,
    MAX_EDGES,
    MAX_ITEMS,
    MAX_NESTING,
    MAX_STEPS,
    PASS,
    Definition,
    RunIf,
    WorkflowStep,
)
from duetime.core.workflows.graph import Graph
from duetime.core.workflows.keys import NOT_IN_A_KEY, fits_in_a_key, key_templates
from duetime.core.workflows.references import (
    Reference,
    filled_parts,
    literal_faults,
    references,
    steps_in_pattern,
    unknown_name,
)

Fault = tuple[str, str]

ON_FINALLY: Final = "does not go with finally, which runs after every other step has ended"
IN_PATTERN: Final = ("input", "steps")
OF_A_STEP: Final = ("result", "status", "error", "task_id")
ITEMS_RULE: Final = "must be a list, a number, or one reference and nothing else"


class _Place(NamedTuple):
    """A step that is checked, with the graph that it is in."""

    graph: Graph
    number: int

    @property
    def step(self) -> WorkflowStep:
        return self.graph.steps[self.number]


def levels(definition: Definition) -> list[list[str]]:
    """Returns the names of steps that can start together, level by level; `finally` steps last."""
    found = Graph(steps=definition.steps).levels()
    return [[definition.steps[number].name for number in level] for level in found]


def check_definition(definition: Definition, depth: int = 0) -> list[Fault]:
    """Returns the faults of a definition. `depth` is how many definitions it is inside of."""
    if faults := [*_count_faults(definition), *_size_faults(definition)]:
        return faults
    faults = [*_name_faults(definition.steps), *_need_faults(definition.steps)]
    graph = Graph(steps=definition.steps)
    if cycle := graph.cycle():
        names = " → ".join(definition.steps[number].name for number in cycle)
        return [*faults, (f"steps.{cycle[0]}.needs", f"a cycle: {names}")]
    for number, step in enumerate(definition.steps):
        found = [*_step_faults(_Place(graph, number)), *_nested_faults(step, depth)]
        faults += [(f"steps.{number}.{path}", message) for path, message in found]
    return faults


def _count_faults(definition: Definition) -> Iterator[Fault]:
    if not 1 <= len(definition.steps) <= MAX_STEPS:
        yield "steps", f"must have 1 to {MAX_STEPS} steps"
    edges = sum(len(step.needs) for step in definition.steps)
    if edges > MAX_EDGES:
        yield "steps", f"must have at most {MAX_EDGES:,} needs together, not {edges:,}"


def _size_faults(definition: Definition) -> Iterator[Fault]:
    try:
        size = len(encode_definition(definition).encode(errors="surrogatepass"))
    except ValueError:  # 1e999 is read as infinity, which JSON cannot represent
        yield "steps", "must hold no number beyond 1.8e308"
        return
    if size > MAX_DEFINITION:
        yield "steps", f"must be at most {MAX_DEFINITION // 1024} KiB together, not {size:,} bytes"


def _name_faults(steps: Sequence[WorkflowStep]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for number, step in enumerate(steps):
        if first.setdefault(step.name, number) != number:
            yield f"steps.{number}.name", f"steps.{first[step.name]} has the name {step.name!r}"


def _need_faults(steps: Sequence[WorkflowStep]) -> Iterator[Fault]:
    last = {step.name: step.last for step in steps}
    for number, step in enumerate(steps):
        if step.last:  # its needs are refused as a whole
            continue
        seen: set[str] = set()
        for place, name in enumerate(step.needs):
            if message := _need_fault(name, last, seen):
                yield f"steps.{number}.needs.{place}", message
            seen.add(name)


def _need_fault(name: str, last: dict[str, bool], seen: set[str]) -> str | None:
    if name not in last:
        return f"there is no step {name!r}"
    if last[name]:
        return f"{name!r} is a finally step: it runs after every other step"
    return f"{name!r} is named twice" if name in seen else None


def _step_faults(place: _Place) -> Iterator[Fault]:
    step = place.step
    yield from _finally_faults(step)
    yield from _callback_faults(step)
    yield from _map_faults(place)
    yield from _filled_faults(place)
    yield from _key_faults(place)
    if step.when is not None and not step.last:
        yield from _when_faults(place)


def _finally_faults(step: WorkflowStep) -> Iterator[Fault]:
    if not step.last:
        return
    if step.needs:
        yield "needs", ON_FINALLY
    if step.run_if is not RunIf.ALL_SUCCEEDED:
        yield "run_if", ON_FINALLY
    if step.when is not None:
        yield "when", ON_FINALLY


def _callback_faults(step: WorkflowStep) -> Iterator[Fault]:
    if step.callback is not None and step.target.get("type") in (PASS, WORKFLOW):
        yield "callback", "goes with a target"


def _map_faults(place: _Place) -> Iterator[Fault]:
    if place.step.map is None:
        return
    items = place.step.map.items
    if fault := _items_fault(items):
        yield "map.items", fault
        return
    try:
        for found, reference in references(items):
            if message := _reference_fault(found.name, reference, place, of_an_item=False):
                yield _joined("map.items", found.path), message
    except BadTemplate as bad:
        yield _joined("map.items", bad.path), bad.reason


def _items_fault(items: Any) -> str | None:
    if isinstance(items, str):
        return None if _is_one_reference(items) else ITEMS_RULE
    if isinstance(items, bool) or not isinstance(items, int | list):
        return ITEMS_RULE
    count = items if isinstance(items, int) else len(items)
    return None if 0 <= count <= MAX_ITEMS else f"must be 0 to {MAX_ITEMS:,} items"


def _is_one_reference(text: str) -> bool:
    try:
        return whole_name(text) is not None
    except BadTemplate:
        return False


def _filled_faults(place: _Place) -> Iterator[Fault]:
    """Checks the references in target and payload. The input of a nested workflow is a field beside
    `workflow` as submitted."""
    parts = filled_parts(place.step)
    nested = parts["target"].get("type") == WORKFLOW
    try:
        for path, reason in literal_faults(parts["target"]):
            yield _submitted(f"target.{path}", nested), reason
        for count, (found, reference) in enumerate(references(parts)):
            if count == MAX_NAMES:
                yield _submitted(found.path, nested), f"more than {MAX_NAMES} references in a step"
                return
            if message := _reference_fault(found.name, reference, place):
                yield _submitted(found.path, nested), message
    except BadTemplate as bad:
        yield _submitted(bad.path, nested), bad.reason


def _key_faults(place: _Place) -> Iterator[Fault]:
    for field, template in key_templates(place.step).items():
        try:
            for found, reference in references(template):
                if message := _reference_fault(found.name, reference, place):
                    yield field, message
                elif reference and not fits_in_a_key(reference, found.name):
                    yield field, f"{found.name} {NOT_IN_A_KEY}"
        except BadTemplate as bad:
            yield field, bad.reason


def _submitted(path: str, nested: bool) -> str:
    return path.removeprefix("target.") if nested else path


def _reference_fault(
    name: str, reference: Reference | None, place: _Place, *, of_an_item: bool = True
) -> str | None:
    """Returns why a step cannot use a name. `of_an_item`: what has the name is filled in for each
    item of a map."""
    if reference is None:
        return unknown_name(name)
    if reference.root in ("item", "index") and not (of_an_item and place.step.map):
        return f"{reference.root} is known only in the target and payload of a step with map"
    if reference.root == "callback" and not (of_an_item and place.step.callback is not None):
        return "callback is known only in the target and payload of a step with callback"
    if reference.step is None:
        return None
    return _step_fault(reference.step, reference.field, place)


def _step_fault(name: str, field: str | None, place: _Place) -> str | None:
    position = place.graph.position.get(name)
    if position is None:
        is_last = name in place.graph.last
        return f"{name!r} is a finally step" if is_last else f"there is no step {name!r}"
    if not place.graph.is_upstream(name, place.number):
        return f"{name!r} does not run before this step; name it in needs"
    if field == "results" and place.graph.steps[position].map is None:
        return f"{name!r} has no map: use steps.{name}.result"
    return None


def _when_faults(place: _Place) -> Iterator[Fault]:
    when = place.step.when
    if faults := check_pattern(when):
        yield from ((_joined("when", path), message) for path, message in faults)
        return
    for key in when:
        if key not in IN_PATTERN:
            yield f"when.{key[:60]}", f"unknown; a condition looks at {' and '.join(IN_PATTERN)}"
    if not isinstance(when.get("steps", {}), dict):
        yield "when.steps", "must be an object with the names of steps"
    for name in sorted(steps_in_pattern(when)):
        path = f"when.steps.{name[:60]}"
        if message := _step_fault(name, None, place):
            yield path, message
        yield from _step_pattern_faults(path, when["steps"][name])


def _step_pattern_faults(path: str, pattern: Any) -> Iterator[Fault]:
    known = ", ".join(OF_A_STEP)
    if not isinstance(pattern, dict):
        yield path, f"must be an object with {known}"
        return
    for key in pattern:
        if key not in OF_A_STEP:
            yield f"{path}.{key[:60]}", f"unknown; of a step there are {known}"


def _nested_faults(step: WorkflowStep, depth: int) -> Iterator[Fault]:
    if "definition" not in step.target:
        return
    if depth == MAX_NESTING:
        yield "workflow", f"must be at most {MAX_NESTING} definitions deep"
        return
    faults = check_definition(definition_of(step.target["definition"]), depth + 1)
    yield from ((f"workflow.{path}", message) for path, message in faults)


def _joined(path: str, below: str) -> str:
    return f"{path}.{below}" if below else path
