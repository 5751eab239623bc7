"""Workflow runs whose processes are cut off, or whose store does not answer: what the simulation
has found, each as a short story."""

from dataclasses import replace

from duetime.core.errors import PermanentError
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.steps.record import succeed
from duetime.core.steps.revive import revive
from duetime.core.times import MINUTE
from duetime.core.workflows.codec import definition_json
from duetime.core.workflows.definition import Definition, RunIf
from duetime.core.workflows.run import RunStatus, waited_run_id
from duetime.engine.enqueue import enqueue
from duetime.engine.followups import run_follow_ups
from duetime.engine.workflows.requests import cancel_stored, retry_stored
from duetime.executor.runs import Admitted
from tests.workflows import scripted, settle, start, step, stored, task_of
from tests.world import World

BROKEN = PermanentError("broken")


def test_a_nested_definition_has_references_of_its_own(world: World):
    script = scripted(world, x={"rows": 3})
    y = step("y", "x", payload={"step": "y", "rows": "{{steps.x.result.rows}}"})
    inner = definition_json(Definition(steps=(step("x"), y)))
    target = {"type": "workflow", "definition": inner, "input": {}}
    run = start(world, step("outer", target=target))
    settle(world)

    assert script.payload("y") == {"step": "y", "rows": 3}
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_retry_sends_no_step_that_another_has_revived(world: World):
    scripted(world, a=[BROKEN, "mended"])
    run = start(world, step("a"))
    settle(world)
    a = task_of(world, run, "a")
    assert a is not None
    change = revive(world.wake_policy, a, now=world.clock.now(), draw=world.chance.draw())
    (answer,) = world.store.apply([change])
    enqueue(world.ports, [answer.stored])
    sent = world.lanes.depth(Queue(Lane.MEDIUM))

    retry_stored(world.ports, stored(world, run))

    assert world.lanes.depth(Queue(Lane.MEDIUM)) == sent
    settle(world)
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_follow_up_stays_until_the_next_step_is_there(world: World):
    """If the store does not answer, the next step may be missing, and only the follow-up or the
    watch of the run, which may be hours ahead, creates it."""
    script = scripted(world)
    run = start(world, step("a"), step("b", "a"))
    a = task_of(world, run, "a")
    assert a is not None
    world.store.before["put"] = lambda: setattr(world.store, "silent", True)
    world.deliver()
    assert task_of(world, run, "b") is None
    a = task_of(world, run, "a")
    assert a is not None
    assert a.has_follow_up

    world.live(6 * MINUTE)
    assert script.names == ["a", "b"]
    assert world.awake() == []


def test_a_refused_late_success_leaves_no_step_without_a_task(world: World):
    """The death of the step was half followed up: the row says that `b` is under way, and its task
    is missing. The redrive has replaced the watch that would have created it."""
    script = scripted(world, a=[BROKEN, "mended"])
    run = start(world, step("a"), step("b", "a", run_if=RunIf.ALL_FINISHED))
    world.store.before["put"] = lambda: setattr(world.store, "silent", True)
    world.deliver()
    a = task_of(world, run, "a")
    assert a is not None
    assert task_of(world, run, "b") is None
    change = revive(world.wake_policy, a, now=world.clock.now(), draw=world.chance.draw())
    (answer,) = world.store.apply([change])
    enqueue(world.ports, [answer.stored])

    settle(world)

    assert script.names == ["a", "a", "b"]


def test_the_gate_deletes_no_message_if_it_does_not_know_what_became_of_the_task(world: World):
    """The task may be dead, and its message on its way to the dead-letter queue."""
    run = start(world, step("a"))
    (message,) = world.receive()
    cancel_stored(world.ports, run)
    world.store.before["apply"] = lambda: setattr(world.store, "silent", True)
    world.executor.record_and_lease(due=[Admitted(message=message)])
    assert world.lanes.deleted == []

    world.live(5 * MINUTE)
    assert [m.delivery for m in world.lanes.deleted] == [message.delivery]
    assert world.starts == []


def test_the_gate_cancels_no_task_that_was_revived_since_it_was_read(world: World):
    """A dead task has no watch any more: a cancellation that takes over its watch would leave none,
    and the run would not learn of the end."""
    scripted(world, a=BROKEN)
    run = start(world, step("a"), step("b", "a"), fail_fast=True)
    (message,) = world.receive()
    leased = world.executor.record_and_lease(due=[Admitted(message=message)]).started
    world.record([world.executor.run_target(each) for each in leased])
    current = world.ports.runs.get([run.id])[run.id]
    after = replace(
        current, status=RunStatus.CANCELLING, wake=run.wake, revision=current.revision + 1
    )
    world.ports.runs.put([after])

    def revived() -> None:
        dead = task_of(world, run, "a")
        assert dead is not None
        change = revive(world.wake_policy, dead, now=world.clock.now(), draw=world.chance.draw())
        world.store.port.apply([change])

    world.store.before["apply"] = revived
    world.executor.record_and_lease(due=[Admitted(message=message)])

    a = task_of(world, run, "a")
    assert a is not None
    assert a.status is Status.RETRYING
    assert a.wake is not None


def test_a_batch_of_ends_leaves_no_step_without_a_task(world: World):
    """One end was recorded by a process that was cut off before it created the next step, and the
    other is new."""
    scripted(world)
    run = start(world, step("a"), step("b", "a"), step("c"))
    first, second = world.lease()
    world.store.before["put"] = lambda: setattr(world.store, "silent", True)
    world.record([world.executor.run_target(first)])
    assert task_of(world, run, "b") is None
    change = succeed(second.task, result=None, now=world.clock.now())
    (answer,) = world.store.apply([change])
    a = task_of(world, run, "a")
    assert a is not None
    assert a.has_follow_up

    run_follow_ups(world.ports, [a, answer.stored])

    assert task_of(world, run, "b") is not None


def test_a_task_soon_has_the_run_that_it_waits_for_though_the_store_does_not_answer(world: World):
    inner = definition_json(Definition(steps=(step("x"),)))
    target = {"type": "workflow", "definition": inner, "input": {}}
    run = start(world, step("n", target=target))
    world.runs.before["put"] = lambda: setattr(world.runs, "silent", True)
    world.deliver()
    task = task_of(world, run, "n")
    assert task is not None
    assert task.status is Status.WAITING
    world.advance(4 * MINUTE)
    world.runs.before["put"] = lambda: setattr(world.runs, "silent", True)
    world.tick()

    world.advance(MINUTE)
    world.tick()

    run_id = waited_run_id(task.id, task.created_at)
    assert run_id in world.ports.runs.get([run_id])
