"""The faults of a seed, and how likely each is.

A seed enables some of the faults, each at a random strength: worlds in which a few things fail
often find more than a world in which everything fails now and then.
"""

from dataclasses import dataclass
from random import Random

from duetime.core.lanes import Lane
from duetime.core.times import DAY, MINUTE, SECOND, Millis


@dataclass(slots=True)
class Faults:
    """Probabilities for one call or one event each, unless noted otherwise."""

    lasts: Millis
    killed: float = 0.0
    frozen: float = 0.0
    slow: float = 0.0
    unanswered: float = 0.0  # throttled, and not written
    answer_lost: float = 0.0  # written, but the caller gets no answer
    late: float = 0.0  # timed out, and written a moment later
    repeated: float = 0.0  # the SDK sends a write twice
    refused_entry: float = 0.0
    message_lost: float = 0.0
    message_doubled: float = 0.0
    message_late: float = 0.0
    index_lags: float = 0.0
    tick_missed: float = 0.0
    tick_doubled: float = 0.0
    relay_lost: float = 0.0
    follower_lost: float = 0.0  # the next tick of a chain
    purges: int = 0  # number of purges
    outage: tuple[Millis, Millis] | None = None  # no ticks between these times
    idle: tuple[Millis, Millis] | None = None  # no executors between these times
    stuck: Lane | None = None  # a lane that always reports a backlog
    skew: Millis = 0  # maximum, of any clock
    over_at: Millis | None = None

    def stop(self, now: Millis) -> None:
        """Ends all faults. Clock skew and the stuck lane stay."""
        calm = Faults(lasts=self.lasts, skew=self.skew, stuck=self.stuck, over_at=now)
        for name in Faults.__slots__:
            setattr(self, name, getattr(calm, name))


STRENGTHS = {
    "killed": 0.01,
    "frozen": 0.02,
    "slow": 0.1,
    "unanswered": 0.08,
    "answer_lost": 0.08,
    "late": 0.02,
    "repeated": 0.1,
    "refused_entry": 0.1,
    "message_lost": 0.1,
    "message_doubled": 0.1,
    "message_late": 0.1,
    "index_lags": 0.3,
    "tick_missed": 0.2,
    "tick_doubled": 0.3,
    "relay_lost": 0.3,
}


def draw_faults(random: Random, scanner_random: Random) -> Faults:
    faults = Faults(lasts=random.randint(8, 18) * MINUTE)
    for name, most in STRENGTHS.items():
        if random.random() < 0.5:
            setattr(faults, name, most * random.random())
    worst = random.choice(list(STRENGTHS))
    setattr(faults, worst, 2 * STRENGTHS[worst])
    faults.skew = random.choice([0, 500, 2 * SECOND])
    if random.random() < 0.3:
        faults.purges = random.randint(1, 2)
    if random.random() < 0.1:
        faults.outage = _span(random, faults.lasts)
    if random.random() < 0.3:
        faults.idle = _idle(random, faults.lasts)
    if random.random() < 0.03:
        faults.outage = faults.lasts // 2, faults.lasts // 2 + DAY
        faults.lasts += DAY
    if scanner_random.random() < 0.5:
        faults.follower_lost = 0.5 * scanner_random.random()
    if scanner_random.random() < 0.1:
        faults.stuck = scanner_random.choice(list(Lane))
        faults.outage = faults.outage or _span(scanner_random, faults.lasts)
    return faults


def _span(random: Random, lasts: Millis) -> tuple[Millis, Millis]:
    start = random.randint(0, lasts // 2)
    return start, start + random.randint(5, 25) * MINUTE


def _idle(random: Random, lasts: Millis) -> tuple[Millis, Millis]:
    """Returns a time without executors, mostly shorter than the horizon: the runs that are due in
    it are tasks already, and start late."""
    start = random.randint(lasts // 8, lasts // 2)
    short, long = random.randint(20, 200) * SECOND, random.randint(5, 25) * MINUTE
    return start, start + random.choice([short, short, long])
