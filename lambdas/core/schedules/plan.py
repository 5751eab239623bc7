"""The plan of a schedule: what its submitter asked for."""

from enum import StrEnum

from lambdas.core.lanes import Lane
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import DelayRule, Recurrence
from lambdas.core.task import Spec
from lambdas.core.times import MINUTE, Millis
from lambdas.core.values import value


class MisfirePolicy(StrEnum):
    """What becomes of fire times that nobody was there to see."""

    RUN_ONCE = "run_once"  # the last of them
    RUN_ALL = "run_all"  # at a pace
    SKIP = "skip"


@value(frozen=True, kw_only=True, slots=True)
class Misfire:
    policy: MisfirePolicy = MisfirePolicy.RUN_ONCE
    grace: Millis = MINUTE  # a fire time that is seen no later than this was not missed
    window: Millis | None = None  # what was missed longer ago is skipped, whatever the policy
    per_minute: float = 60.0  # the pace of run_all


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

    def owes(self, overlap: OverlapPolicy) -> bool:
        """Whether something follows from the end of a run: one waits for it, or counts it."""
        waits = overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        return waits or self.delay is not None or self.pause_on_failure is not None
