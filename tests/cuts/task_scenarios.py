"""Whole lives of tasks as short scripts: what users do, what fails without a cut, and how each
task must end with any cut."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from duetime.core.lifecycle import Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps.long_run import LONGEST_HIDDEN
from duetime.core.steps.watch import SECOND_WATCH
from duetime.core.times import MINUTE, Millis
from duetime.core.wake_policy import AGE_AFTER, AGING_SPREAD, FIRST_WATCH, WATCH_SPREAD
from tests.cuts.scenario_player import ScenarioPlayer

WATCHED: Millis = FIRST_WATCH + WATCH_SPREAD  # by then the first watch has come
LONG_BACKOFF = RetryPolicy(base_delay=600, multiplier=1, jitter=0)
LONG_PAYLOAD = "p" * 3_000
TWO_TRIES = RetryPolicy(max_attempts=2, multiplier=1, jitter=0)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    play: Callable[[ScenarioPlayer, "Scenario"], None]
    end: Status = Status.SUCCEEDED
    fails: frozenset[int] = frozenset()  # numbers of the attempts whose target raises
    loses: int = 0  # attempts that are lost with their executor without a cut
    late: Millis = 0  # how late an attempt may start without a cut
    late_when_cut: Millis = WATCHED
    revived: bool = False
    interrupted: bool = False  # in place of its failures
    waits: bool = False  # each attempt may wait for a limit, which costs it another message
    change: dict[str, Any] = field(default_factory=dict)  # fields that a user changes
    changed_after: int = 0  # attempts before the change
    shift: Millis = 0  # by which an operator moves all tasks
    resends: int = 0  # messages that watches send without a cut
    tasks: int = 2  # a batch, so that a cut can fall within a call
    fields: dict[str, Any] = field(default_factory=dict)

    def submit(self, player: ScenarioPlayer) -> None:
        player.submit(self.tasks, **self.fields)


def goes_its_way(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.run()


def starts_at_once(player: ScenarioPlayer, scenario: Scenario) -> None:
    player.submit_and_start(scenario.tasks, **scenario.fields)
    player.finish()
    player.run()


def dies(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    ends_dead(player)


def ends_dead(player: ScenarioPlayer) -> None:
    player.run(until=player.all_are(Status.DEAD))
    player.execute()  # the executor receives the dead letters once more
    player.run_to_rest()


def is_redriven(player: ScenarioPlayer, scenario: Scenario) -> None:
    """Cuts begin with the last attempt, which makes the dead letter."""
    with player.cutter.paused():
        scenario.submit(player)
        player.execute()
    ends_dead(player)
    player.take_letters()
    player.redrive(copies=2)
    player.run()
    player.redrive()
    player.run()


def is_revived(player: ScenarioPlayer, scenario: Scenario) -> None:
    with player.cutter.paused():
        dies(player, scenario)
    player.take_letters()
    player.revive()
    player.run()
    player.redrive()
    player.run()


def loses_its_message(player: ScenarioPlayer, scenario: Scenario) -> None:
    player.world.lanes.fate = "lost"
    scenario.submit(player)
    player.world.lanes.fate = "sent"
    player.run()


def is_refused(player: ScenarioPlayer, scenario: Scenario) -> None:
    player.world.lanes.fate = "refused"
    scenario.submit(player)
    player.world.lanes.fate = "sent"
    player.run()


def arrives_unnoticed(player: ScenarioPlayer, scenario: Scenario) -> None:
    player.world.lanes.fate = "unknown"
    scenario.submit(player)
    player.world.lanes.fate = "sent"
    player.tick()
    player.run()


def loses_its_executor(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.run(until=player.all_are(Status.RETRYING))
    player.world.advance_to(max(task.due_at for task in player.tasks()))
    player.begin()
    player.run()


def is_interrupted(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.begin()
    player.drain()
    player.finish()
    player.run()


def is_cancelled(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.cancel()
    player.run()


def is_cancelled_when_it_has_failed(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.execute()
    player.cancel()
    player.run()


def is_cancelled_while_it_runs(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.begin()
    player.cancel()
    player.renew()
    player.run()


def is_cancelled_while_it_fails(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.begin()
    player.cancel()
    player.finish()
    player.run()


def is_cancelled_with_others(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.bulk_cancel()
    player.run()


def is_shifted(player: ScenarioPlayer, scenario: Scenario) -> None:
    """A shift that is cut and repeated moves each task once."""
    scenario.submit(player)
    due = [task.due_at + scenario.shift for task in player.tasks()]
    player.shift(scenario.shift)
    assert [task.due_at for task in player.tasks()] == due
    player.run()


def is_discarded(player: ScenarioPlayer, scenario: Scenario) -> None:
    with player.cutter.paused():
        dies(player, scenario)
    player.take_letters()
    player.discard()
    player.redrive(copies=2)
    player.run()


def is_changed(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.change(**scenario.change)
    player.run()


def is_changed_when_it_has_failed(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.run(until=player.all_are(Status.RETRYING))
    player.change(**scenario.change)
    player.run()


def is_run_now(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.run_now()
    player.run()


def is_claimed_and_changed(player: ScenarioPlayer, scenario: Scenario) -> None:
    """The message of the old version is in its lane, and comes before the new due time."""
    scenario.submit(player)
    player.world.advance(7 * MINUTE)
    player.tick()
    player.change(**scenario.change)
    player.run()


def waits_too_long(player: ScenarioPlayer, scenario: Scenario) -> None:
    scenario.submit(player)
    player.world.advance(scenario.fields["expires_in"])
    player.run()


def waits_in_a_full_lane(player: ScenarioPlayer, scenario: Scenario) -> None:
    """No executor takes its message for an hour. Cuts begin with the watch that promotes it."""
    with player.cutter.paused():
        scenario.submit(player)
        aged_at = player.tasks()[0].due_at + AGE_AFTER - AGING_SPREAD
        while (watch := player.next_wake()) < aged_at:
            player.world.advance_to(watch)
            player.tick()
    player.world.advance_to(watch)
    player.tick()
    player.run()


FIRST = frozenset({1})
FIRST_TWO = frozenset({1, 2})
CANCELLED = Status.CANCELLED

SCENARIOS = {
    "succeeds": Scenario(play=goes_its_way),
    "succeeds-by-scanner": Scenario(play=goes_its_way, fields={"due_in": 10 * MINUTE}),
    "starts-with-its-submission": Scenario(play=starts_at_once),
    "starts-with-its-submission-and-fails": Scenario(play=starts_at_once, fails=FIRST),
    "retried": Scenario(play=goes_its_way, fails=FIRST),
    "retried-by-scanner": Scenario(
        play=goes_its_way, fails=FIRST, tasks=1, fields={"retry": LONG_BACKOFF}
    ),
    "dies": Scenario(play=dies, end=Status.DEAD, fails=FIRST_TWO, fields={"retry": TWO_TRIES}),
    "dies-after-a-long-run": Scenario(
        play=dies,
        end=Status.DEAD,
        fails=FIRST_TWO,
        resends=1,  # the dead letter
        fields={"retry": TWO_TRIES, "timeout": 2.0 * LONGEST_HIDDEN},
    ),
    "interrupted": Scenario(
        play=is_interrupted, fails=FIRST, interrupted=True, fields={"retry": TWO_TRIES}
    ),
    "redriven": Scenario(
        play=is_redriven, fails=FIRST_TWO, revived=True, tasks=1, fields={"retry": TWO_TRIES}
    ),
    "revived": Scenario(
        play=is_revived, fails=FIRST_TWO, revived=True, tasks=1, fields={"retry": TWO_TRIES}
    ),
    "message-lost": Scenario(
        play=loses_its_message, late=WATCHED, late_when_cut=WATCHED + SECOND_WATCH
    ),
    "send-refused": Scenario(play=is_refused, fields={"due_in": MINUTE}),
    "send-unanswered": Scenario(play=arrives_unnoticed, tasks=1, fields={"due_in": MINUTE}),
    "executor-lost": Scenario(play=loses_its_executor, fails=FIRST, loses=1, tasks=1),
    "cancelled-pending": Scenario(
        play=is_cancelled, end=CANCELLED, tasks=1, fields={"due_in": 10 * MINUTE}
    ),
    "cancelled-enqueued": Scenario(
        play=is_cancelled, end=CANCELLED, tasks=1, fields={"due_in": MINUTE}
    ),
    "cancelled-retrying": Scenario(
        play=is_cancelled_when_it_has_failed, end=CANCELLED, fails=FIRST, tasks=1
    ),
    "cancelled-running": Scenario(play=is_cancelled_while_it_runs, end=CANCELLED, tasks=1),
    "cancelled-failing": Scenario(
        play=is_cancelled_while_it_fails, end=CANCELLED, fails=FIRST, tasks=1
    ),
    "cancelled-in-bulk": Scenario(
        play=is_cancelled_with_others, end=CANCELLED, fields={"due_in": MINUTE}
    ),
    "shifted": Scenario(play=is_shifted, shift=10 * MINUTE, fields={"due_in": MINUTE}),
    "shifted-towards-now": Scenario(
        play=is_shifted, shift=-9 * MINUTE, fields={"due_in": 10 * MINUTE}
    ),
    "discarded": Scenario(
        play=is_discarded, end=CANCELLED, fails=FIRST_TWO, tasks=1, fields={"retry": TWO_TRIES}
    ),
    "moved-later": Scenario(
        play=is_changed,
        change={"delay": 600, "payload": LONG_PAYLOAD},
        tasks=1,
        fields={"due_in": MINUTE},
    ),
    "claimed-and-moved": Scenario(
        play=is_claimed_and_changed,
        change={"delay": 900, "payload": "new"},
        tasks=1,
        fields={"due_in": 10 * MINUTE, "payload": LONG_PAYLOAD},
    ),
    "run-now": Scenario(play=is_run_now, tasks=1, fields={"due_in": 10 * MINUTE}),
    "changed-retrying": Scenario(
        play=is_changed_when_it_has_failed,
        change={"delay": 30, "payload": "new", "retry": {"max_attempts": 7}},
        changed_after=1,
        fails=FIRST,
        tasks=1,
        fields={"retry": LONG_BACKOFF},
    ),
    "promoted": Scenario(
        play=waits_in_a_full_lane,
        late=AGE_AFTER,
        late_when_cut=AGE_AFTER + WATCHED,
        resends=4,
    ),
    "expires": Scenario(
        play=waits_too_long,
        end=Status.EXPIRED,
        fields={"due_in": MINUTE, "expires_in": 2 * MINUTE},
    ),
}
