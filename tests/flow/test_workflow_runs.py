"""Workflow runs from their creation to their end, with every role and a stepped clock."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.errors import PermanentError
from duetime.core.events import status_change
from duetime.core.lifecycle import Status
from duetime.core.limits.definition import Limit, LimitUse
from duetime.core.steps.cancel import cancel
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.workflows.codec import definition_json
from duetime.core.workflows.definition import Definition, MapOver, RunIf
from duetime.core.workflows.run import MAX_RUN_ATTEMPTS, RunStatus, waited_run_id
from duetime.engine.followups import run_follow_ups, run_follow_ups_after
from duetime.engine.refusal import Refusal
from duetime.engine.workflows.requests import (
    CreatedRun,
    cancel_stored,
    create_run,
    retry_stored,
)
from duetime.handlers.context import Context
from tests.workflows import a_run_spec, scripted, settle, start, states, step, stored, task_of
from tests.world import World

BROKEN = PermanentError("broken")


def test_a_chain_runs_step_after_step_and_passes_results_on(world: World):
    script = scripted(world, a={"rows": 3}, b=lambda payload: payload["rows"] + 1)
    run = start(
        world,
        step("a"),
        step("b", "a", payload={"step": "b", "rows": "{{steps.a.result.rows}}"}),
        step("c", "b", payload={"step": "c", "sum": "{{steps.b.result}}", "day": "{{input.day}}"}),
        input={"day": "2027-01-04"},
    )
    settle(world)

    assert script.names == ["a", "b", "c"]
    assert script.payload("c") == {"step": "c", "sum": 4, "day": "2027-01-04"}
    assert stored(world, run).status is RunStatus.SUCCEEDED
    assert stored(world, run).wake is None
    assert world.awake() == []


def test_the_join_of_a_diamond_runs_once_after_both(world: World):
    script = scripted(world)
    run = start(world, step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c"))
    settle(world)

    assert script.names[0] == "a"
    assert script.names[-1] == "d"
    assert sorted(script.names) == ["a", "b", "c", "d"]
    assert states(world, run) == "ssss"


def test_a_branch_that_is_not_taken_is_skipped_and_its_join_runs(world: World):
    script = scripted(world, check={"amount": 5})
    large = {"steps": {"check": {"result": {"amount": [{"numeric": [">", 100]}]}}}}
    small = {"steps": {"check": {"result": {"amount": [{"numeric": ["<=", 100]}]}}}}
    run = start(
        world,
        step("check"),
        step("large", "check", when=large),
        step("small", "check", when=small),
        step("join", "large", "small", run_if=RunIf.NONE_FAILED),
    )
    settle(world)

    assert script.names == ["check", "small", "join"]
    assert states(world, run) == "sxss"
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_failed_run_is_retried_from_the_failed_step(world: World):
    script = scripted(world, b=[BROKEN, "mended"])
    run = start(world, step("e"), *(step(n, "e") for n in "abc"), step("load", "a", "b", "c"))
    settle(world)
    assert stored(world, run).status is RunStatus.FAILED
    assert states(world, run) == "ssdsu"
    assert "load" not in script.names

    before = len(script.calls)
    retried = retry_stored(world.ports, stored(world, run))
    assert not isinstance(retried, Refusal)
    settle(world)

    assert script.names[before:] == ["b", "load"]
    after = stored(world, run)
    assert (after.status, after.attempt, after.states) == (RunStatus.SUCCEEDED, 2, "sssss")
    b = task_of(world, run, "b")
    assert b is not None
    assert b.attempt == 2, "the attempts of a revived step go on"


def test_a_dead_step_that_is_redriven_resumes_its_run(world: World):
    script = scripted(world, b=[BROKEN, "mended"])
    run = start(world, step("a"), step("b", "a"), step("c", "b"))
    settle(world)
    assert stored(world, run).status is RunStatus.FAILED

    from duetime.core.steps.revive import revive
    from duetime.engine.enqueue import enqueue

    b = task_of(world, run, "b")
    assert b is not None
    change = revive(world.wake_policy, b, now=world.clock.now(), draw=world.chance.draw())
    (answer,) = world.store.apply([change])
    enqueue(world.ports, [answer.stored])
    settle(world)

    assert script.names == ["a", "b", "b", "c"]
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_cancelled_run_starts_nothing_but_its_finally_step(world: World):
    script = scripted(world)
    run = start(world, step("a"), step("b", "a"), step("tidy", last=True))
    cancel_stored(world.ports, run)
    settle(world)

    assert script.names == ["tidy"]
    assert stored(world, run).status is RunStatus.CANCELLED
    assert world.awake() == []


def test_a_running_step_that_stops_with_its_run_lets_the_finally_step_run_at_once(world: World):
    script = scripted(world)

    def stops(task: Task, ctx: Context) -> None:
        if script(task, ctx) and task.spec.payload["step"] == "a":
            cancel_stored(world.ports, stored(world, run))
            ctx.heartbeat()
            raise InterruptedError("stopped")

    world.script = stops
    run = start(world, step("a"), step("b", "a"), step("tidy", last=True))
    settle(world)

    assert script.names == ["a", "tidy"]
    assert stored(world, run).status is RunStatus.CANCELLED
    assert states(world, run) == "cfs"
    assert world.awake() == []


def test_cancelled_run_cancels_its_nested_runs_and_maps_at_once(world: World):
    script = scripted(world)
    slow = definition_json(Definition(steps=(step("x", delay=600.0), step("y", "x"))))
    run = start(
        world,
        step("n", target={"type": "workflow", "definition": slow, "input": {}}),
        step("m", delay=60.0, map=MapOver(items=5, max_concurrency=1)),
    )
    world.live(2 * MINUTE)
    waiting = [task_of(world, run, name) for name in ("n", "m")]
    nested = [waited_run_id(task.id, task.created_at) for task in waiting if task]
    before = len(script.calls)
    cancel_stored(world.ports, stored(world, run))

    assert [stored_by_id(world, run_id).status for run_id in nested] == [RunStatus.CANCELLED] * 2
    world.live(20 * MINUTE)
    assert len(script.calls) == before
    assert stored(world, run).status is RunStatus.CANCELLED
    assert world.awake() == []


def test_run_that_is_cancelled_before_its_start_cleans_up_at_once(world: World):
    script = scripted(world)
    definition = Definition(steps=(step("a"), step("tidy", last=True)))
    spec = replace(a_run_spec(world, definition), run_at=world.clock.now() + HOUR)
    created = create_run(world.ports, definition, spec)
    assert isinstance(created, CreatedRun)
    cancel_stored(world.ports, created.run)
    settle(world)

    assert script.names == ["tidy"]
    assert stored(world, created.run).status is RunStatus.CANCELLED


def test_fail_fast_stops_the_steps_that_run(world: World):
    scripted(world, a=BROKEN)
    run = start(
        world, step("a"), step("slow", delay=HOUR / SECOND), step("c", "slow"), fail_fast=True
    )
    settle(world)

    assert stored(world, run).status is RunStatus.FAILED
    slow = task_of(world, run, "slow")
    assert slow is not None
    assert slow.status is Status.CANCELLED
    assert states(world, run) == "dcf"


def test_a_run_that_times_out_fails_and_runs_its_finally_step(world: World):
    script = scripted(world)
    run = start(world, step("slow", delay=7_200.0), step("tidy", last=True), timeout=30 * MINUTE)
    world.live(45 * MINUTE)
    settle(world)

    assert script.names == ["tidy"]
    after = stored(world, run)
    assert (after.status, after.states) == (RunStatus.FAILED, "cs")


def test_no_step_starts_after_the_timeout_though_no_tick_has_come(world: World):
    script = scripted(world)
    run = start(world, step("a"), step("b", "a"), step("tidy", last=True), timeout=5 * SECOND)
    running = world.lease()
    world.advance(20 * SECOND)
    world.record([world.executor.run_target(each) for each in running])
    settle(world)

    assert script.names == ["a", "tidy"]
    after = stored(world, run)
    assert (after.status, after.states) == (RunStatus.FAILED, "sfs")
    assert after.error is not None
    assert after.error.type == "TimedOut"


def test_run_whose_last_step_ends_after_the_timeout_has_succeeded(world: World):
    scripted(world)
    run = start(world, step("a"), timeout=5 * SECOND)
    running = world.lease()
    world.advance(20 * SECOND)
    world.record([world.executor.run_target(each) for each in running])

    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_map_runs_each_item_once_within_its_window(world: World):
    most = 0

    def square(payload: dict) -> int:
        nonlocal most
        live = states(world, map_run).count("p") if map_run else 0
        most = max(most, live)
        return payload["item"] ** 2

    map_run = None
    script = scripted(world, m=square)
    run = start(
        world,
        step(
            "m",
            payload={"step": "m", "item": "{{item}}"},
            map=MapOver(items=list(range(7)), max_concurrency=3),
        ),
        step("sum", "m", payload={"step": "sum", "all": "{{steps.m.results}}"}),
    )
    world.deliver()
    task = task_of(world, run, "m")
    assert task is not None
    assert task.status is Status.WAITING
    map_run = stored_by_id(world, waited_run_id(task.id, task.created_at))
    settle(world)

    assert script.names.count("m") == 7
    assert most <= 3
    assert script.payload("sum")["all"] == [n * n for n in range(7)]
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_run_that_failed_as_often_as_it_may_is_not_waited_for(world: World):
    scripted(world, y=BROKEN)
    inner = definition_json(Definition(steps=(step("y"),)))
    target = {"type": "workflow", "definition": inner, "input": {}}
    run = start(world, step("n", target=target))
    settle(world)
    task = task_of(world, run, "n")
    assert task is not None
    nested = stored_by_id(world, waited_run_id(task.id, task.created_at))
    runs = world.ports.runs
    assert runs is not None
    runs.put([replace(nested, attempt=MAX_RUN_ATTEMPTS, revision=nested.revision + 1)])

    retry_stored(world.ports, stored(world, run))
    settle(world)

    after = stored(world, run)
    assert (after.status, after.attempt) == (RunStatus.FAILED, 2)
    assert after.error is not None
    assert "has failed 61 times" in after.error.message


def test_handler_reads_the_results_of_a_map_by_pages(world: World):
    seen: list[Any] = []

    def script(task: Task, ctx: Context) -> Any:
        if task.spec.payload["step"] == "m":
            return task.spec.payload["item"] * 2
        seen.extend(ctx.results("m"))
        return len(seen)

    world.script = script
    items = MapOver(items=250, max_concurrency=250)
    each = step("m", map=items, payload={"step": "m", "item": "{{item}}"})
    run = start(world, each, step("sum", "m"))
    settle(world)

    assert stored(world, run).status is RunStatus.SUCCEEDED
    assert seen == [2 * n for n in range(250)]


@pytest.mark.parametrize(
    ("name", "reason"), [("later", "does not run before"), ("a", "no map"), ("x", "no map")]
)
def test_results_of_anything_but_an_earlier_map_are_refused(world: World, name, reason):
    def script(task: Task, ctx: Context) -> Any:
        return list(ctx.results(name))

    world.script = script
    later = step("later", "a", map=MapOver(items=2))
    run = start(world, step("a"), later)
    settle(world)

    after = stored(world, run)
    assert after.error is not None
    assert after.error.type == "NoSuchMap"
    assert reason in after.error.message


def test_results_of_a_map_that_are_too_large_together_fail_the_step_early(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("duetime.engine.workflows.outputs.ITEMS_AT_ONCE", 2)
    read: list[int] = []
    monkeypatch.setattr(
        "duetime.engine.workflows.outputs.item_results",
        lambda ports, run, start, end: read.append(start) or ["x" * 200_000],
    )
    scripted(world)
    results = {"step": "sum", "all": "{{steps.m.results}}"}
    run = start(world, step("m", map=MapOver(items=20)), step("sum", "m", payload=results))
    settle(world)

    after = stored(world, run)
    assert after.error is not None
    assert after.error.type == "TooLarge"
    assert read == [0, 2]


def test_keys_of_a_step_are_filled_in_when_its_task_is_created(world: World):
    world.limits.put(Limit(namespace="default", name="stripe", concurrency=1))
    scripted(world, a={"customer": 7})
    uses = (LimitUse(name="stripe", key="acct-{{input.account}}"),)
    given = {"ordering_key": "c{{steps.a.result.customer}}", "limits": uses}
    run = start(world, step("a"), step("b", "a", **given), input={"account": "x"})
    settle(world)

    task = task_of(world, run, "b")
    assert task is not None
    assert task.status is Status.SUCCEEDED
    assert task.spec.ordering_key == "c7"
    assert task.spec.limits == (LimitUse(name="stripe", key="acct-x"),)


def test_each_item_of_a_map_has_a_key_of_its_own(world: World):
    scripted(world)
    run = start(world, step("m", map=MapOver(items=["x", "y"]), ordering_key="{{item}}-{{index}}"))
    settle(world)

    task = task_of(world, run, "m")
    assert task is not None
    assert task.spec.ordering_key is None
    items = stored_by_id(world, waited_run_id(task.id, task.created_at))
    keys = [found.spec.ordering_key for n in (0, 1) if (found := task_of(world, items, "m", n))]
    assert keys == ["x-0", "y-1"]
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_step_whose_key_is_no_word_fails_with_the_reason(world: World):
    script = scripted(world)
    run = start(world, step("a", ordering_key="{{input.key}}"), input={"key": "a b"})
    settle(world)

    after = stored(world, run)
    assert after.error is not None
    assert after.error.type == "BadReference"
    assert "ordering_key" in after.error.message
    assert script.names == []


def stored_by_id(world: World, run_id: str):
    return world.ports.runs.get([run_id])[run_id]


def test_an_empty_map_succeeds(world: World):
    run = start(world, step("m", map=MapOver(items=[])), step("after", "m"))
    script = scripted(world)
    settle(world)
    assert script.names == ["after"]
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_nested_run_that_fails_is_retried_inside(world: World):
    script = scripted(world, y=[BROKEN, "mended"])
    inner = definition_json(Definition(steps=(step("x"), step("y", "x"))))
    target = {"type": "workflow", "definition": inner, "input": {}}
    run = start(world, step("n", target=target), step("after", "n"))
    settle(world)
    assert stored(world, run).status is RunStatus.FAILED

    assert not isinstance(retry_stored(world.ports, stored(world, run)), Refusal)
    settle(world)
    assert script.names == ["x", "y", "y", "after"]
    assert stored(world, run).status is RunStatus.SUCCEEDED


def test_a_run_goes_on_by_its_watch_if_every_follow_up_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    script = scripted(world)
    monkeypatch.setattr(
        "duetime.executor.executor.run_follow_ups_at_once", lambda ports, tasks: None
    )
    run = start(world, step("a"), step("b", "a"), step("c", "b"))
    world.live(HOUR)

    assert script.names == ["a", "b", "c"]
    assert stored(world, run).status is RunStatus.SUCCEEDED
    assert world.awake() == []


def test_step_that_is_cancelled_between_two_attempts_fails_its_run(world: World):
    scripted(world, a=ValueError("not yet"))
    run = start(world, step("a"), step("b", "a"), step("tidy", last=True))
    world.deliver()
    a = task_of(world, run, "a")
    assert a is not None
    assert (a.status, a.attempt) == (Status.RETRYING, 1)

    (answer,) = world.store.apply([cancel(a, now=world.clock.now())])
    run_follow_ups(world.ports, [answer.stored])
    settle(world)

    assert states(world, run) == "cus"
    assert stored(world, run).status is RunStatus.FAILED


@pytest.mark.parametrize(("end", "seen"), [("done", "SUCCEEDED"), (BROKEN, "FAILED")])
def test_finally_step_sees_how_the_run_ends(world: World, end: object, seen: str):
    script = scripted(world, a=end)
    tidy = step("tidy", last=True, payload={"step": "tidy", "status": "{{run.status}}"})
    start(world, step("a"), tidy)
    settle(world)

    assert script.payload("tidy")["status"] == seen


def test_finally_step_of_a_cancelled_run_sees_the_cancellation(world: World):
    script = scripted(world)
    tidy = step("tidy", last=True, payload={"step": "tidy", "status": "{{run.status}}"})
    cancel_stored(world.ports, start(world, step("a"), tidy))
    settle(world)

    assert script.payload("tidy")["status"] == "CANCELLED"


def unreadable() -> None:
    raise AssertionError("the run is read once more")


def test_attempt_of_an_item_uses_what_its_gate_has_read(world: World):
    script = scripted(world)
    over = {"step": "m", "item": "{{item}}", "day": "{{input.day}}"}
    start(world, step("m", payload=over, map=MapOver(items=["x", "y"])), input={"day": "monday"})
    world.deliver()
    runs = world.lease()
    world.runs.before["get"] = unreadable
    ends = [world.executor.run_target(run) for run in runs]

    assert [end.failure for end in ends] == [None, None]
    assert sorted(payload["item"] for _, payload in script.calls) == ["x", "y"]
    assert {payload["day"] for _, payload in script.calls} == {"monday"}


def test_relay_leaves_out_an_end_whose_follow_up_the_executor_has_run(world: World):
    scripted(world)
    run = start(world, step("a"), step("b", "a"))
    world.deliver()
    ended = task_of(world, run, "a")
    assert ended is not None
    change = status_change(None, ended)
    assert change is not None
    world.runs.before["get"] = unreadable
    run_follow_ups_after(world.ports, [replace(change, has_follow_up=True)])

    assert not ended.has_follow_up
    assert "get" in world.runs.before
