"""Which worlds have HTTP workers, and which of these restart their runner. The draws have random
numbers of their own, so that worlds without workers stay as they were."""

from dataclasses import dataclass
from random import Random

from duetime.core.times import DAY
from tests.simulation.faults import Faults

# The values to draw from. A mutant may limit them.
WORKERS = [0, 0, 0, 2]  # in a world
RESTARTS = [0, 1, 3]  # of the runner
LIARS = [False, True]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerDraws:
    """A world with `restarts` has no limits and no workflow runs, whose laws do not know of them,
    and no runs that outlast their message, which exist on AWS only."""

    workers: int
    restarts: int
    liar: bool

    @classmethod
    def draw(cls, seed: int, faults: Faults) -> "WorkerDraws":
        """A day takes long to simulate, so that it has no workers."""
        random = Random(f"workers {seed}")
        workers, restarts = random.choice(WORKERS), random.choice(RESTARTS)
        liar = random.choice(LIARS)
        workers = workers if faults.lasts < DAY else 0
        return cls(
            workers=workers, restarts=restarts if workers else 0, liar=bool(workers) and liar
        )
