"""Whole lives of workflow runs as short scripts, and how each must end with any cut."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from duetime.aws.provision import VISIBILITY
from duetime.core.lifecycle import Status
from duetime.core.times import SECOND, Millis
from tests.cuts.run_player import HANDLER, RETRY, RunPlayer

TARGET = {"type": "python", "handler": HANDLER}

Steps = tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class RunScenario:
    """`ran` says how often each step that runs a handler succeeds, with any cut; of a step that
    waits, how often its handler runs without one."""

    steps: Steps
    play: Callable[[RunPlayer, "RunScenario"], None]
    ran: Mapping[str, int]
    statuses: Mapping[str, str]  # of the steps of the run, at its end
    end: str = "SUCCEEDED"
    result: Any = None
    attempt: int = 1  # of the run
    failing: frozenset[str] = frozenset()  # steps whose handlers raise until they are mended
    failures: int = 0  # attempts that fail without a cut
    payloads: Mapping[str, Any] = field(default_factory=dict)  # what steps are given
    runs: int = 1  # also those of maps and nested workflows
    waits: Millis = 0  # until a message that a dead executor had taken comes back
    window: int = 0  # items of a map that may be live at once
    dead_letters: frozenset[str] = frozenset()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def start(self, player: RunPlayer) -> None:
        player.start(*self.steps, **self.fields)


def step(name: str, *needs: str, **fields: Any) -> dict[str, Any]:
    kinds = {"workflow", "wait"} & fields.keys()
    kind = {} if kinds else {"target": TARGET, "payload": name, "retry": RETRY}
    return {"name": name, "needs": list(needs), **kind, **fields}


def all_succeeded(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "SUCCEEDED")


def once(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 1)


def items(name: str, count: int) -> list[str]:
    return [f"{name}[{index}]" for index in range(count)]


def goes_its_way(player: RunPlayer, scenario: RunScenario) -> None:
    scenario.start(player)
    player.run()


def is_retried(player: RunPlayer, scenario: RunScenario) -> None:
    """The user mends the handler and retries the run as soon as it has failed, so the message of
    the dead step is still in its lane."""
    scenario.start(player)
    player.run(until=player.is_over("FAILED"))
    player.failing.clear()
    player.retry()
    player.run()


def is_redriven(player: RunPlayer, scenario: RunScenario) -> None:
    with player.cutter.paused():
        scenario.start(player)
        player.run()
    player.take_letters()
    player.failing.clear()
    player.redrive(copies=2)
    player.run()
    player.redrive()
    player.run()


def is_revived(player: RunPlayer, scenario: RunScenario) -> None:
    with player.cutter.paused():
        scenario.start(player)
        player.run()
    player.take_letters()
    player.failing.clear()
    player.revive_step("b")
    player.run()


def is_cancelled(player: RunPlayer, scenario: RunScenario) -> None:
    """The first step has ended, one of the next two waits for its due time, one for an executor."""
    with player.cutter.paused():
        scenario.start(player)
        player.run(until=player.has_run("a"))
    player.cancel_run()
    player.run()


def is_cancelled_while_a_step_runs(player: RunPlayer, scenario: RunScenario) -> None:
    with player.cutter.paused():
        scenario.start(player)
    player.begin()
    player.cancel_run()
    player.renew()
    player.run()


def is_called_back(player: RunPlayer, scenario: RunScenario) -> None:
    scenario.start(player)
    player.run(until=lambda: player.step("ask")["status"] == "WAITING")
    player.call_back("ask", {"approved": True})
    player.run()


def is_scheduled(player: RunPlayer, scenario: RunScenario) -> None:
    player.put_workflow("nightly", *scenario.steps)
    player.schedule("nightly")
    player.run()
    [player.run_id] = [run.id for run in player.runs()]
    assert [task.status for task in player.tasks()] == [Status.SUCCEEDED] * 3


DIAMOND = (
    step("a"),
    step("b", "a"),
    step("c", "a"),
    step("d", "b", "c", payload={"b": "{{steps.b.result}}", "c": "{{steps.c.result}}"}),
)
LARGE = {"input": {"amount": [{"numeric": [">", 100]}]}}
SMALL = {"input": {"amount": [{"numeric": ["<=", 100]}]}}
MAP = {"items": "{{input.numbers}}", "max_concurrency": 2}
NUMBERS = {"input": {"numbers": [10, 20, 30, 40, 50]}}
ITEM = {"number": "{{item}}", "index": "{{index}}"}
COLLECTED = [f"m[{index}] done" for index in range(5)]
NESTED = (
    step("first"),
    step("inner", "first", workflow={"steps": [step("x"), step("y", "x")]}),
    step("last", "inner", payload="{{steps.inner.result}}"),
)
STOPPABLE = (
    step("a"),
    step("b", "a"),
    step("later", "a", delay=600),
    step("end", "b", "later"),
    step("clean", **{"finally": True}, payload="{{run.status}}"),
)
PARALLEL = (step("a"), step("b", "a"), step("c", "a"), step("load", "b", "c"))

RUN_SCENARIOS = {
    "diamond": RunScenario(
        play=goes_its_way,
        steps=DIAMOND,
        ran=once("a", "b", "c", "d"),
        statuses=all_succeeded("a", "b", "c", "d"),
        payloads={"d": {"b": "b done", "c": "c done"}},
        result="d done",
    ),
    "branch": RunScenario(
        play=goes_its_way,
        steps=(
            step("check"),
            step("large", "check", when=LARGE),
            step("small", "check", when=SMALL),
            step("join", "large", "small", run_if="none_failed"),
        ),
        fields={"input": {"amount": 150}},
        ran=once("check", "large", "join"),
        statuses=all_succeeded("check", "large", "join") | {"small": "SKIPPED"},
        result="join done",
    ),
    "retried": RunScenario(
        play=is_retried,
        steps=PARALLEL,
        failing=frozenset({"b"}),
        failures=1,
        ran=once("a", "b", "c", "load"),
        statuses=all_succeeded("a", "b", "c", "load"),
        result="load done",
        attempt=2,
    ),
    "map": RunScenario(
        play=goes_its_way,
        steps=(step("m", map=MAP, payload=ITEM), step("sum", "m", payload="{{steps.m.results}}")),
        fields=NUMBERS,
        ran=once(*items("m", 5), "sum"),
        statuses=all_succeeded("m", "sum"),
        payloads={
            "sum": COLLECTED,
            **{f"m[{i}]": {"number": 10 * (i + 1), "index": i} for i in range(5)},
        },
        result="sum done",
        runs=2,
        window=2,
    ),
    "nested": RunScenario(
        play=goes_its_way,
        steps=NESTED,
        ran=once("first", "x", "y", "last"),
        statuses=all_succeeded("first", "inner", "last"),
        payloads={"last": "y done"},
        result="last done",
        runs=2,
    ),
    "map-retried": RunScenario(
        play=is_retried,
        steps=(step("m", map=MAP, payload=ITEM), step("sum", "m", payload="{{steps.m.results}}")),
        fields=NUMBERS,
        failing=frozenset({"m[1]"}),
        failures=1,
        ran=once(*items("m", 5), "sum"),
        statuses=all_succeeded("m", "sum"),
        payloads={"sum": COLLECTED},
        result="sum done",
        attempt=2,
        runs=2,
        window=2,
    ),
    "nested-retried": RunScenario(
        play=is_retried,
        steps=NESTED,
        failing=frozenset({"y"}),
        failures=1,
        ran=once("first", "x", "y", "last"),
        statuses=all_succeeded("first", "inner", "last"),
        payloads={"last": "y done"},
        result="last done",
        attempt=2,
        runs=2,
    ),
    "redriven": RunScenario(
        play=is_redriven,
        steps=PARALLEL,
        failing=frozenset({"b"}),
        failures=1,
        ran=once("a", "b", "c", "load"),
        statuses=all_succeeded("a", "b", "c", "load"),
        result="load done",
        attempt=2,
        waits=VISIBILITY * SECOND,  # a dead task has no watch: only its message can revive it
    ),
    "revived": RunScenario(
        play=is_revived,
        steps=PARALLEL,
        failing=frozenset({"b"}),
        failures=1,
        ran=once("a", "b", "c", "load"),
        statuses=all_succeeded("a", "b", "c", "load"),
        result="load done",
        attempt=2,
    ),
    "cancelled": RunScenario(
        play=is_cancelled,
        steps=STOPPABLE,
        end="CANCELLED",
        ran=once("a", "clean"),
        statuses=all_succeeded("a", "clean")
        | {"b": "CANCELLED", "later": "CANCELLED", "end": "SKIPPED"},
        payloads={"clean": "CANCELLED"},
    ),
    "cancelled-running": RunScenario(
        play=is_cancelled_while_a_step_runs,
        steps=(step("a"), step("b", "a"), step("clean", **{"finally": True})),
        end="CANCELLED",
        ran=once("clean"),
        statuses={"a": "CANCELLED", "b": "SKIPPED", "clean": "SUCCEEDED"},
    ),
    "fail-fast": RunScenario(
        play=goes_its_way,
        steps=STOPPABLE,
        fields={"fail_fast": True},
        failing=frozenset({"b"}),
        failures=1,
        end="FAILED",
        ran=once("a", "clean"),
        statuses=all_succeeded("a", "clean")
        | {"b": "DEAD", "later": "CANCELLED", "end": "SKIPPED"},
        dead_letters=frozenset({"b"}),
    ),
    "timed-out": RunScenario(
        play=goes_its_way,
        steps=(step("a"), step("b", "a", delay=7200), step("clean", **{"finally": True})),
        fields={"timeout": 3600},
        end="FAILED",
        ran=once("a", "clean"),
        statuses=all_succeeded("a", "clean") | {"b": "CANCELLED"},
    ),
    "scheduled": RunScenario(
        play=is_scheduled,
        steps=(step("a"), step("b", "a")),
        ran=once("a", "b"),
        statuses=all_succeeded("a", "b"),
        result="b done",
    ),
    "callback": RunScenario(
        play=is_called_back,
        steps=(
            step("ask", callback={"timeout": 86400}, payload={"token": "{{callback.token}}"}),
            step("after", "ask", payload="{{steps.ask.result.approved}}"),
        ),
        ran=once("after"),
        statuses=all_succeeded("ask", "after"),
        payloads={"after": True},
        result="after done",
    ),
}
