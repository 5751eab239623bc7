"""The registry of mutants, and how the worlds are aimed at one."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from random import Random
from unittest.mock import patch

from duetime.core.change import Expect
from duetime.core.steps.long_run import LONGEST_HIDDEN
from tests.simulation import (
    aging_invariants,
    change_workload,
    drain_workload,
    faults,
    limit_workload,
    new_task_workload,
    rate_workload,
    run_workload,
    schedule_workload,
    worker_draws,
)

ANYTHING = Expect(statuses=None)
EVERYTHING = 10_000
DRAWN = faults.draw_faults

Mutant = Callable[[], AbstractContextManager[object]]
MUTANTS: dict[str, Mutant] = {}


def mutant(
    make: Mutant,
    *,
    changed: float = 0.0,
    drained: float = 0.0,
    workers: int = 0,
    batches: int = 0,
) -> Mutant:
    """Registers a mutant. `changed` is the share of the tasks that clients change in its worlds:
    the more happens in a world, the seldomer it triggers a mutant of something else. For the same
    reason its worlds have no limits and no workflow runs, and its tasks do not age. `drained` is
    the share of executors that are drained. `workers` is the number of HTTP workers, `batches` that
    of the batches whose tasks may start with their submission."""

    @contextmanager
    def made() -> Iterator[None]:
        with (
            patch.object(change_workload, "SHARES", [changed]),
            patch.object(rate_workload, "SHARES", [0]),
            patch.object(aging_invariants, "AGE_AFTERS", [0]),
            patch.object(run_workload, "RUNS", [0]),
            patch.object(new_task_workload, "BATCHES", [batches]),
            patch.object(worker_draws, "WORKERS", [workers]),
            patch.multiple(drain_workload, SHARES=[drained], HIDDEN=[LONGEST_HIDDEN]),
            patch.multiple(limit_workload, SHARES=[0.0], ORDERED_SHARES=[0.0]),
            make(),
        ):
            yield

    MUTANTS[make.__name__] = made
    return made


def change_mutant(make: Mutant) -> Mutant:
    return mutant(make, changed=1.0)


def aimed(often: tuple[str, ...] = (), **drawn: list[object]) -> Callable[[Mutant], Mutant]:
    """Aims the worlds at a mutant that random worlds seldom trigger: they draw only these kinds of
    schedules (see `schedule_workload`), and these faults are frequent."""

    def draw(*random: Random) -> faults.Faults:
        found = DRAWN(*random)
        for name in often:
            setattr(found, name, max(getattr(found, name), 3 * faults.STRENGTHS[name]))
        return found

    def aim(make: Mutant) -> Mutant:
        @contextmanager
        def made() -> Iterator[None]:
            with (
                patch.multiple(schedule_workload, **drawn),
                patch.object(faults, "draw_faults", draw),
                make(),
            ):
                yield

        made.__name__ = make.__name__
        return made

    return aim


def careless(step):
    """Returns the step without the condition of its change."""
    return lambda *args, **options: replace(step(*args, **options), expect=ANYTHING)
