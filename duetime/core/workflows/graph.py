"""The graph of a definition: levels, cycles, and which steps are upstream of each.

It works on definitions that may be wrong: needs that do not exist are left out."""

from collections.abc import Sequence
from functools import cached_property

from duetime.core.value import value
from duetime.core.workflows.definition import WorkflowStep


@value(frozen=True, kw_only=True)
class Graph:
    """The ordinary steps; of two with the same name, the first. `finally` steps have no needs."""

    steps: Sequence[WorkflowStep]

    @cached_property
    def position(self) -> dict[str, int]:
        named = reversed(list(enumerate(self.steps)))
        return {step.name: number for number, step in named if not step.last}

    @cached_property
    def last(self) -> frozenset[str]:
        return frozenset(step.name for step in self.steps if step.last)

    @cached_property
    def needs(self) -> list[list[int]]:
        return [self._known_needs(step) for step in self.steps]

    @cached_property
    def order(self) -> list[int]:
        """The positions of the ordinary steps, each after its needs; without those on a cycle and
        behind one."""
        left = [len(needs) for needs in self.needs]
        dependents: list[list[int]] = [[] for _ in self.steps]
        for number, needs in enumerate(self.needs):
            for need in needs:
                dependents[need].append(number)
        order = [n for n, step in enumerate(self.steps) if not step.last and not left[n]]
        for number in order:  # grows
            for dependent in dependents[number]:
                left[dependent] -= 1
                if not left[dependent]:
                    order.append(dependent)
        return order

    @cached_property
    def upstream(self) -> list[int]:
        """For each step the set of those before it, as bits: 500 steps are 500 small numbers."""
        upstream = [0] * len(self.steps)
        for number in self.order:
            for need in self.needs[number]:
                upstream[number] |= upstream[need] | 1 << need
        return upstream

    def is_upstream(self, name: str, of: int) -> bool:
        position = self.position.get(name)
        if position is None or self.steps[of].last:
            return position is not None
        return bool(self.upstream[of] >> position & 1)

    def cycle(self) -> list[int] | None:
        """Returns the positions along one cycle, beginning and ending with the same step."""
        ordered = set(self.order)
        rest = [n for n, step in enumerate(self.steps) if not step.last and n not in ordered]
        if not rest:
            return None
        walked: dict[int, int] = {}  # and when: each step left has a need that is left, too
        number = rest[0]
        while number not in walked:
            walked[number] = len(walked)
            number = next(need for need in self.needs[number] if need not in ordered)
        along = list(walked)[walked[number] :]
        first = along.index(min(along))
        return [*along[first:], *along[:first], along[first]]

    def levels(self) -> list[list[int]]:
        """Returns the positions of steps that can start together, level by level."""
        level = [0] * len(self.steps)
        for number in self.order:
            level[number] = 1 + max((level[need] for need in self.needs[number]), default=-1)
        levels: list[list[int]] = [[] for _ in range(1 + max(level, default=0))]
        for number in sorted(self.order):
            levels[level[number]].append(number)
        last = [n for n, step in enumerate(self.steps) if step.last]
        return [found for found in (*levels, last) if found]

    def _known_needs(self, step: WorkflowStep) -> list[int]:
        if step.last:
            return []
        return [self.position[name] for name in dict.fromkeys(step.needs) if name in self.position]
