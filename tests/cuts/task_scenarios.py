"""Whole lives of tasks, as little scripts: what users do, what goes wrong anyway, and how each
must end wherever it is cut."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lambdas.core.lifecycle import Status
from lambdas.core.retry import RetryPolicy
from lambdas.core.rules import FIRST_WATCH, WATCH_SPREAD
from lambdas.core.steps.watch import SECOND_WATCH
from lambdas.core.times import MINUTE, Millis
from tests.cuts.stage import Stage

WATCHED: Millis = FIRST_WATCH + WATCH_SPREAD  # by then the first watch has come
LONG_BACKOFF = RetryPolicy(base_delay=600, multiplier=1, jitter=0)
TWO_TRIES = RetryPolicy(max_attempts=2, multiplier=1, jitter=0)


@dataclass(frozen=True, kw_only=True)
class Life:
    play: Callable[[Stage, "Life"], None]
    end: Status = Status.SUCCEEDED
    fails: frozenset[int] = frozenset()  # the attempts that the target does not bring to an end
    loses: int = 0  # attempts that are lost with their executor, without any cut
    late: Millis = 0  # how long after its due time an attempt may start, without any cut
    late_when_cut: Millis = WATCHED
    revived: bool = False
    tasks: int = 2  # a batch, so that its calls can be cut in half
    fields: dict[str, Any] = field(default_factory=dict)

    def submit(self, stage: Stage) -> None:
        stage.submit(self.tasks, **self.fields)


def goes_its_way(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.live()


def dies(stage: Stage, life: Life) -> None:
    life.submit(stage)
    ends_dead(stage)


def ends_dead(stage: Stage) -> None:
    stage.live(until=stage.all_are(Status.DEAD))
    stage.execute()  # it sees the letters once more, on their way to the dead-letter queue
    stage.settle()


def is_redriven(stage: Stage, life: Life) -> None:
    """The last attempt is what makes the letter, so this is where the cuts begin."""
    with stage.knife.sheathed():
        life.submit(stage)
        stage.execute()
    ends_dead(stage)
    stage.take_letters()
    stage.redrive(copies=2)
    stage.live()
    stage.redrive()
    stage.live()


def is_revived(stage: Stage, life: Life) -> None:
    with stage.knife.sheathed():
        dies(stage, life)
    stage.take_letters()
    stage.revive()
    stage.live()
    stage.redrive()
    stage.live()


def loses_its_message(stage: Stage, life: Life) -> None:
    stage.world.lanes.fate = "lost"
    life.submit(stage)
    stage.world.lanes.fate = "sent"
    stage.live()


def is_refused(stage: Stage, life: Life) -> None:
    stage.world.lanes.fate = "refused"
    life.submit(stage)
    stage.world.lanes.fate = "sent"
    stage.live()


def arrives_unnoticed(stage: Stage, life: Life) -> None:
    stage.world.lanes.fate = "unknown"
    life.submit(stage)
    stage.world.lanes.fate = "sent"
    stage.tick()
    stage.live()


def loses_its_executor(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.live(until=stage.all_are(Status.RETRYING))
    stage.world.advance_to(max(task.due_at for task in stage.tasks()))
    stage.begin()
    stage.live()


def is_cancelled(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.cancel()
    stage.live()


def is_cancelled_when_it_has_failed(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.execute()
    stage.cancel()
    stage.live()


def is_cancelled_while_it_runs(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.begin()
    stage.cancel()
    stage.renew()
    stage.live()


def is_cancelled_while_it_fails(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.begin()
    stage.cancel()
    stage.finish()
    stage.live()


def waits_too_long(stage: Stage, life: Life) -> None:
    life.submit(stage)
    stage.world.advance(life.fields["expires_in"])
    stage.live()


FIRST = frozenset({1})
FIRST_TWO = frozenset({1, 2})
CANCELLED = Status.CANCELLED

LIVES = {
    "succeeds": Life(play=goes_its_way),
    "succeeds-by-scanner": Life(play=goes_its_way, fields={"due_in": 10 * MINUTE}),
    "retried": Life(play=goes_its_way, fails=FIRST),
    "retried-by-scanner": Life(
        play=goes_its_way, fails=FIRST, tasks=1, fields={"retry": LONG_BACKOFF}
    ),
    "dies": Life(play=dies, end=Status.DEAD, fails=FIRST_TWO, fields={"retry": TWO_TRIES}),
    "redriven": Life(
        play=is_redriven, fails=FIRST_TWO, revived=True, tasks=1, fields={"retry": TWO_TRIES}
    ),
    "revived": Life(
        play=is_revived, fails=FIRST_TWO, revived=True, tasks=1, fields={"retry": TWO_TRIES}
    ),
    "message-lost": Life(
        play=loses_its_message, late=WATCHED, late_when_cut=WATCHED + SECOND_WATCH
    ),
    "send-refused": Life(play=is_refused, fields={"due_in": MINUTE}),
    "send-unanswered": Life(play=arrives_unnoticed, tasks=1, fields={"due_in": MINUTE}),
    "executor-lost": Life(play=loses_its_executor, fails=FIRST, loses=1, tasks=1),
    "cancelled-pending": Life(
        play=is_cancelled, end=CANCELLED, tasks=1, fields={"due_in": 10 * MINUTE}
    ),
    "cancelled-enqueued": Life(
        play=is_cancelled, end=CANCELLED, tasks=1, fields={"due_in": MINUTE}
    ),
    "cancelled-retrying": Life(
        play=is_cancelled_when_it_has_failed, end=CANCELLED, fails=FIRST, tasks=1
    ),
    "cancelled-running": Life(play=is_cancelled_while_it_runs, end=CANCELLED, tasks=1),
    "cancelled-failing": Life(
        play=is_cancelled_while_it_fails, end=CANCELLED, fails=FIRST, tasks=1
    ),
    "expires": Life(
        play=waits_too_long,
        end=Status.EXPIRED,
        fields={"due_in": MINUTE, "expires_in": 2 * MINUTE},
    ),
}
