"""Random workflows: chains, diamonds, branches with joins, maps, nested workflows, callbacks."""

from random import Random
from typing import Any

from tests.simulation.actors import HANDLER

RULES = ["all_succeeded"] * 4 + ["none_failed", "any_failed", "all_finished"]
SHAPES = ["any", "any", "any", "chain", "diamond", "branch"]
# The values to draw from. A mutant may limit them (see `run_mutant.aimed_runs`).
KINDS = ["handler"] * 7 + ["map", "workflow", "callback", "wait"]
NESTED_KINDS = ["handler"] * 6 + ["map", "callback"]
FAIL_FAST = [False, False, True]
FINALLY = [False, False, True]
TIMEOUTS = [None, None, None, 150, 600]  # seconds
CALLBACK_TIMEOUTS = [30, 200, 400]  # seconds
ALLOWED = 0.15  # of the steps may fail
DELAYS = [*[0] * 9, 1, 25, 70, 330]  # seconds
NAMED = "named"  # the workflow that steps and tasks start by its name


def draw_run(random: Random) -> dict[str, Any]:
    """Returns the body of POST /v1/runs, without its key."""
    body = draw_definition(random, KINDS)
    timeout = random.choice(TIMEOUTS)
    body |= {} if timeout is None else {"timeout": timeout}
    return {**body, "input": {"flag": random.randrange(2)}}


def draw_definition(random: Random, kinds: list[str], most: int = 6) -> dict[str, Any]:
    needs = _needs(random, random.randint(2, most))
    steps: list[dict[str, Any]] = []
    for number, of in enumerate(needs):
        step = _step(random, f"s{number}", [f"s{n}" for n in of], kinds)
        _collect(step, [steps[n] for n in of])
        steps.append(step)
    if random.choice(FINALLY):
        names = [step["name"] for step in steps]
        last = {"name": "last", **_work(random, names, "handler"), "finally": True}
        steps.append(last)
    return {"steps": steps, "fail_fast": random.choice(FAIL_FAST)}


def _needs(random: Random, count: int) -> list[list[int]]:
    match random.choice(SHAPES):
        case "chain":
            return [[n - 1] if n else [] for n in range(count)]
        case "diamond":
            middle = list(range(1, max(count - 1, 2)))
            return [[], *([0] for _ in middle), middle]
        case "branch":
            return [[], [0], [0], [1, 2]]
    return [random.sample(range(n), random.randint(0, min(n, 3))) for n in range(count)]


def _step(random: Random, name: str, needs: list[str], kinds: list[str]) -> dict[str, Any]:
    step: dict[str, Any] = {"name": name, "needs": needs}
    kind = random.choice(kinds)
    if kind == "wait":
        step["wait"] = {"seconds": random.choice([1, 20])}
    elif kind == "workflow":
        step["workflow"] = random.choice([NAMED, draw_definition(random, NESTED_KINDS, most=3)])
        step["input"] = {"flag": random.randrange(2)}
    else:
        step |= _work(random, needs, kind)
    if kind != "wait":
        step["delay"] = random.choice(DELAYS)
    if needs:
        step["run_if"] = random.choice(RULES)
    if (when := _when(random, needs)) is not None:
        step["when"] = when
    if random.random() < ALLOWED:
        step["allow_failure"] = True
    return step


def _work(random: Random, needs: list[str], kind: str) -> dict[str, Any]:
    attempts = random.randint(1, 2)
    payload: dict[str, Any] = {"given": {name: f"{{{{steps.{name}.result}}}}" for name in needs}}
    step: dict[str, Any] = {
        "target": {"type": "python", "handler": HANDLER},
        "timeout": random.choice([5, 20, 60]),
        "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
        "priority": random.choice(["high", "medium", "low"]),
    }
    if kind == "map":
        payload |= {"item": "{{item}}", "index": "{{index}}"}
        step["map"] = {
            "items": _items(random, needs),
            "max_concurrency": random.choice([1, 2, 2, 3]),
            "tolerated_failures": random.choice([0, 0, 1]),
        }
    if kind == "callback":
        payload["token"] = "{{callback.token}}"
        step["callback"] = {"timeout": random.choice(CALLBACK_TIMEOUTS)}
    return {**step, "payload": payload}


def _collect(step: dict[str, Any], needs: list[dict[str, Any]]) -> None:
    """Lets a step read the results of the items of the maps that it needs."""
    maps = [need["name"] for need in needs if "map" in need]
    if "payload" in step:
        step["payload"]["collected"] = {name: f"{{{{steps.{name}.results}}}}" for name in maps}


def _items(random: Random, needs: list[str]) -> Any:
    count = random.choice([0, 1, 3, 5, 7])
    if needs and random.random() < 0.2:
        return f"{{{{steps.{random.choice(needs)}.result.list}}}}"
    return random.choice([count, [f"item-{n}" for n in range(count)]])


def _when(random: Random, needs: list[str]) -> dict[str, Any] | None:
    kind = random.random()
    if kind < 0.06:
        return {"input": {"flag": [1]}}
    if not needs or kind > 0.3:
        return None
    wanted: dict[str, Any] = {}
    if kind < 0.2:
        wanted["result"] = {"pick": [random.randrange(2)]}
    if kind > 0.16:
        wanted["status"] = random.choice([["SUCCEEDED"], ["SUCCEEDED", "SKIPPED"], ["DEAD"]])
    return {"steps": {random.choice(needs): wanted}}
