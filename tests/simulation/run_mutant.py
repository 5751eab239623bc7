"""How the mutants of workflow runs are registered."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from unittest.mock import patch

from duetime.core.ports import Ports
from tests.simulation import faults, run_graphs, run_workload
from tests.simulation.mutant import DRAWN, Mutant, mutant

RUNS = 5


def pause(ports: Ports) -> None:
    """Freezes a relay or an executor now and then at the place where a mutant is wrong: there the
    race is rare."""
    process = ports.store._process
    faulty = ports.store._faults.over_at is None
    if faulty and process.name.startswith(("relay", "executor")) and process.engine.chance(0.4):
        process.freeze(process.engine.between(0, 90))


def run_mutant(make: Mutant) -> Mutant:
    """Registers a mutant in whose worlds there are always runs."""
    return aimed_runs()(make)


def aimed_runs(often: tuple[str, ...] = (), **drawn: object) -> Callable[[Mutant], Mutant]:
    """Registers a mutant and aims its worlds at it: they draw runs from these values only (see
    `run_graphs` and `run_workload`), and these faults are frequent."""

    def draw(*random: Random) -> faults.Faults:
        found = DRAWN(*random)
        for name in often:
            setattr(found, name, max(getattr(found, name), 3 * faults.STRENGTHS[name]))
        return found

    def aim(make: Mutant) -> Mutant:
        @contextmanager
        def made() -> Iterator[None]:
            with ExitStack() as patches:
                patches.enter_context(patch.object(run_workload, "RUNS", [RUNS]))
                patches.enter_context(patch.object(faults, "draw_faults", draw))
                for name, value in drawn.items():
                    module = run_graphs if hasattr(run_graphs, name) else run_workload
                    patches.enter_context(patch.object(module, name, value))
                patches.enter_context(make())
                yield

        made.__name__ = make.__name__
        return mutant(made)

    return aim
