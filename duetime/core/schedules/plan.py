"""The plan of a schedule: what its submitter asked for."""

from enum import StrEnum

from lambdas.core.lanes import Lane
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import DelayRule, Recurrence
from lambdas.core.task import Spec
from lambdas.core.times import MINUTE, SECOND, Millis, seconds
from lambdas.core.values import value

# A start is always a little late: a few milliseconds on one machine, seconds on a cold Lambda.
LEAST_GRACE: Millis = 5 * SECOND


class MisfirePolicy(StrEnum):
    """What becomes of occurrences that could not start in time."""

    RUN_ONCE = "run_once"  # the latest of them runs
    RUN_ALL = "run_all"  # all of them run, in order, at a pace
    SKIP = "skip"


@value(frozen=True, kw_only=True, slots=True)
class Misfire:
    policy: MisfirePolicy = MisfirePolicy.RUN_ONCE
    grace: Millis = MINUTE  # an occurrence that starts no later than this was not missed
    window: Millis | None = None  # what was missed longer ago is skipped, whatever the policy
    per_minute: float = 60.0  # the pace of run_all

    @property
    def tolerance(self) -> Millis:
        return max(self.grace, LEAST_GRACE)


@value(frozen=True, kw_only=True, slots=True)
class Plan:
    recurrence: Recurrence
    task: Spec  # a template; its run_at says nothing
    name: str | None = None
    starts_at: Millis | None = None  # fire times from then on
    ends_at: Millis | None = None  # fire times before then
    max_runs: int | None = None
    jitter: float = 0.0
    misfire: Misfire = Misfire()
    overlap: OverlapPolicy = OverlapPolicy.SKIP
    pause_on_failure: int | None = None  # dead runs in a row

    @property
    def namespace(self) -> str:
        return self.task.namespace

    @property
    def lane(self) -> Lane:
        return self.task.priority

    @property
    def delay(self) -> Millis | None:
        """Of a schedule that goes by the ends of its runs; such a rule stands alone."""
        rule = self.recurrence.rules[0]
        return rule.delay if isinstance(rule, DelayRule) else None

    @property
    def lateness(self) -> Millis:
        """How long after its fire time a run may start; a run that starts later was missed.
        Jitter delays a run on purpose, and does not count."""
        return self.misfire.tolerance + seconds(self.jitter)

    @property
    def makes_up_in_order(self) -> bool:
        """Missed runs come one after another, unless all of them are wanted and may overlap."""
        side_by_side = (MisfirePolicy.RUN_ALL, OverlapPolicy.ALLOW)
        return (self.misfire.policy, self.overlap) != side_by_side

    def too_old(self, now: Millis) -> Millis:
        """A missed fire time before this is skipped, whatever the policy."""
        return 0 if self.misfire.window is None else now - self.misfire.window

    def owes(self, overlap: OverlapPolicy) -> bool:
        """Whether something follows from the end of a run: one waits for it, or counts it."""
        waits = overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        return waits or self.delay is not None or self.pause_on_failure is not None
