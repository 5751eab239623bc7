"""Mutants of schedules: their occurrences, and runs that are late."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from tests.simulation.mutant import aimed, mutant

# Schedules.


@mutant
@aimed(SCHEDULES=[2], RULES=["delay"])
def end_of_a_run_not_matched_to_its_schedule():
    """The follow-up of a run finds that the schedule does not name the run, and does nothing."""
    return patch("duetime.core.schedules.run_ended._is_due", lambda schedule, task: False)


@mutant
def overlap_not_recorded():
    from duetime.core.schedules.start_decisions import Start

    def hasty(candidate, schedule, tasks):
        return Start()

    return patch("duetime.core.schedules.overlap.Candidate.decide", hasty)


@mutant
def follow_ups_forgotten():
    return patch("duetime.engine.followups._run_follow_up", lambda ports, task: True)


@mutant
def fire_time_lost_after_an_unknown_put():
    """The schedule advances although the answer to the put of its occurrences is unknown."""
    from duetime.engine.materialise import _Put

    class Sure(_Put):
        sure = property(lambda self: True, lambda self, value: None)

    return patch("duetime.engine.materialise._Put", Sure)


@mutant
def ids_drawn_at_random():
    from itertools import count

    from duetime.core.ids import new_id

    numbers = count(1)

    def anew(schedule_id, maker, fire_time):
        return new_id(fire_time, next(numbers))

    return patch("duetime.core.schedules.lookahead_pass.occurrence_id", anew)


@mutant
def old_versions_start():
    return patch("duetime.core.schedules.overlap.stale_reason", lambda schedule, occurrence: None)


@mutant
def missed_decided_again_and_again():
    """A pass skips the occurrences that an interrupted pass has put."""
    return patch("duetime.core.schedules.lookahead.missed", lambda schedule, now: [])


# Late runs.


@mutant
def misfires_not_decided_at_the_start():
    return patch("duetime.core.schedules.overlap.decide_late_run", lambda *args: None)


@mutant
@contextmanager
def run_once_decided_again_and_again() -> Iterator[None]:
    """Every late run after the decision counts as the latest."""
    from duetime.core.schedules import late_runs as late
    from duetime.engine import materialise

    release = materialise._release

    def forgetful(schedule, *args):
        return late.decide_late_run(replace(schedule, settled_until=0), *args)

    def lenient(ports, passes, now):
        for done in passes:
            done.drops.clear()
        return release(ports, passes, now)

    with (
        patch("duetime.core.schedules.overlap.decide_late_run", forgetful),
        patch.object(materialise, "_release", lenient),
    ):
        yield


@mutant
def late_runs_start_before_their_turn():
    from duetime.core.schedules import late_runs as late
    from duetime.core.schedules.start_decisions import Park

    def hasty(*args):
        judged = late.decide_late_run(*args)
        return None if judged == Park() else judged

    return patch("duetime.core.schedules.overlap.decide_late_run", hasty)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["allow"], MISFIRES=["run_all"])
def late_runs_start_without_a_pace():
    return patch("duetime.core.schedules.late_runs._wait_for_start", lambda *args: None)


@mutant
def runs_outside_the_rule_dropped():
    def ordinary(schedule, task_id, occurrence):
        return any(span.running == task_id for span in schedule.spans)

    return patch("duetime.core.schedules.overlap._is_protected", ordinary)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["skip"], MISFIRES=["run_all", "run_once"])
def late_runs_taken_for_overlapping():
    from duetime.core.schedules import overlap

    def hasty(candidate, schedule):
        return overlap._is_protected(schedule, candidate.task_id, candidate.occurrence)

    return patch.object(overlap.Candidate, "_has_to_wait", hasty)


@mutant
@aimed(
    often=("frozen", "message_doubled"),
    SCHEDULES=[2],
    RULES=["rate"],
    OVERLAPS=["skip"],
    MISFIRES=["run_all", "run_once"],
    GRACES=[0],
)
def late_runs_keep_their_messages():
    """A run that the gate admitted, and that lost its turn before its lease, still starts."""
    return patch("duetime.executor.overlap_gate.OverlapGate._revoke", lambda *args: True)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["skip", "queue"], MISFIRES=["run_all"])
@contextmanager
def ends_of_late_runs_not_noticed() -> Iterator[None]:
    from duetime.core.schedules.lookahead_pass import LookaheadPass
    from duetime.core.schedules.schedule import Span

    with (
        patch.object(LookaheadPass, "is_over", lambda done, task_id: False),
        patch.object(Span, "without_run", lambda span, ended, now: span),
    ):
        yield
