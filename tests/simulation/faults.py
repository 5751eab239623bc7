"""Which faults a seed brings, and how often.

Every seed switches on some of them at a strength of its own: a world in which everything fails
a little finds less than worlds in which a few things fail a lot.
"""

from dataclasses import dataclass
from random import Random

from lambdas.core.lanes import Lane
from lambdas.core.times import DAY, MINUTE, SECOND, Millis


@dataclass(slots=True)
class Faults:
    """Chances, for one call or one event each unless it says otherwise."""

    lasts: Millis
    killed: float = 0.0
    frozen: float = 0.0
    slow: float = 0.0
    unanswered: float = 0.0  # refused, and nothing was written
    answer_lost: float = 0.0  # written, and nobody knows
    late: float = 0.0  # given up, and written a moment later
    repeated: float = 0.0  # the SDK sends a write twice
    refused_entry: float = 0.0
    message_lost: float = 0.0
    message_doubled: float = 0.0
    message_late: float = 0.0
    index_lags: float = 0.0
    tick_missed: float = 0.0
    tick_doubled: float = 0.0
    relay_lost: float = 0.0
    follower_lost: float = 0.0  # the tick that an unfinished one has started
    purges: int = 0  # in all
    outage: tuple[Millis, Millis] | None = None  # no ticks from … to
    idle: tuple[Millis, Millis] | None = None  # no executors from … to
    stuck: Lane | None = None  # it says for ever that it is backed up
    skew: Millis = 0  # of any clock, at most
    over_at: Millis | None = None

    def stop(self, now: Millis) -> None:
        """From now on the world is as it should be. Clocks and counts stay as they are."""
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


def drawn(random: Random, scanner_random: Random) -> Faults:
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
    """Mostly shorter than the horizon: what was to start then is a task, and comes late."""
    start = random.randint(lasts // 8, lasts // 2)
    short, long = random.randint(20, 200) * SECOND, random.randint(5, 25) * MINUTE
    return start, start + random.choice([short, short, long])
