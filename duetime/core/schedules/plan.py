"""The plan of a schedule: what the user asked for."""

from enum import StrEnum

from duetime.core.lanes import Lane
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import DelayRule, Recurrence
from duetime.core.task import Spec
from duetime.core.times import MINUTE, SECOND, Millis, seconds
from duetime.core.value import value

# Every start is a little late: by milliseconds on one machine, by seconds on a cold Lambda.
MIN_GRACE: Millis = 5 * SECOND


class MisfirePolicy(StrEnum):
    """What happens to occurrences that could not start in time."""

    RUN_ONCE = "run_once"  # only the latest runs
    RUN_ALL = "run_all"  # all run, in order, at a pace
    SKIP = "skip"


@value(frozen=True, kw_only=True, slots=True)
class Misfire:
    policy: MisfirePolicy = MisfirePolicy.RUN_ONCE
    grace: Millis = MINUTE  # an occurrence that starts within it was not missed
    window: Millis | None = None  # fire times missed before it are skipped under every policy
    per_minute: float = 60.0  # the pace of run_all

    @property
    def tolerance(self) -> Millis:
        return max(self.grace, MIN_GRACE)


@value(frozen=True, kw_only=True, slots=True)
class Declared:
    """Where the code declares a schedule, and which sync has stored it."""

    app: str
    source: str  # file and line
    digest: str  # of the declaration
    generation: int  # of the sync
    removed: int | None = None  # the generation since which the code lacks it


@value(frozen=True, kw_only=True, slots=True)
class Plan:
    recurrence: Recurrence
    task: Spec  # a template; its run_at is not used
    name: str | None = None
    starts_at: Millis | None = None  # inclusive
    ends_at: Millis | None = None  # exclusive
    max_runs: int | None = None
    jitter: float = 0.0
    misfire: Misfire = Misfire()
    overlap: OverlapPolicy = OverlapPolicy.SKIP
    pause_on_failure: int | None = None  # dead runs in a row
    declared: Declared | None = None  # None: a request made the schedule, not the code

    @property
    def namespace(self) -> str:
        return self.task.namespace

    @property
    def lane(self) -> Lane:
        return self.task.priority

    @property
    def delay(self) -> Millis | None:
        """The delay after the end of each run, which is then the only rule; else None."""
        rule = self.recurrence.rules[0]
        return rule.delay if isinstance(rule, DelayRule) else None

    @property
    def lateness(self) -> Millis:
        """How long after its fire time a run may start before it counts as missed. Jitter delays
        a run on purpose, so it is added."""
        return self.misfire.tolerance + seconds(self.jitter)

    @property
    def catches_up_in_order(self) -> bool:
        """Whether missed runs run one after another: always, unless all run and may overlap."""
        side_by_side = (MisfirePolicy.RUN_ALL, OverlapPolicy.ALLOW)
        return (self.misfire.policy, self.overlap) != side_by_side

    def too_old(self, now: Millis) -> Millis:
        """Returns the time before which a missed fire time is skipped under every policy."""
        return 0 if self.misfire.window is None else now - self.misfire.window

    def has_follow_up(self, overlap: OverlapPolicy) -> bool:
        """Whether a run has a follow-up: another run waits for its end, or it is counted."""
        waits = overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        return waits or self.delay is not None or self.pause_on_failure is not None
