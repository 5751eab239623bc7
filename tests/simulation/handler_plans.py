"""What the handler of a simulated task does in each attempt: part of the task's payload."""

from random import Random
from typing import Any

from duetime.core.errors import PermanentError, RateLimited, RetryLater, Snooze
from duetime.core.task import WORKFLOW, Task
from duetime.core.times import SECOND, Millis

RECURRING = "recurring"  # each occurrence draws its plan from its id
ENDS = ["ok"] * 6 + ["fail"] * 3 + ["later", "snooze", "permanent"]
STEP_ENDS = ["ok"] * 10 + ["fail"] * 3 + ["later", "snooze", "permanent"]
LONGEST_STEP: Millis = 60 * SECOND
PLANNED = 4  # attempts of a step
AT_ONCE = {"end": "ok", "takes": 0, "obeys": True}


def draw_plan(random: Random, max_attempts: int) -> list[dict[str, Any]]:
    return [_attempt(random) for _ in range(max_attempts + 2)]


def _attempt(random: Random) -> dict[str, Any]:
    return {
        "end": random.choice(ENDS),
        "takes": _duration(random),
        "obeys": random.random() < 0.8,
    }


def _duration(random: Random) -> Millis:
    kind = random.random()
    if kind < 0.7:
        return random.randint(0, 300)
    if kind < 0.88:
        return random.randint(1, 20) * SECOND
    if kind < 0.98:
        return random.randint(30, 150) * SECOND
    return random.randint(200, 400) * SECOND


def plan_of(task: Task) -> dict[str, Any]:
    """Returns the plan of the current attempt. Attempts beyond the plan, such as those of a revived
    task, succeed."""
    plan = task.spec.payload
    if task.spec.step is not None:
        plan = _plan_of_step(task)
    elif task.spec.target.get("type") == WORKFLOW:
        return AT_ONCE
    elif plan == RECURRING:
        plan = draw_plan(Random(task.id), 2)
    if task.attempt <= len(plan):
        return plan[task.attempt - 1]
    return {"end": "ok", "takes": 100, "obeys": True}


def _plan_of_step(task: Task) -> list[dict[str, Any]]:
    """A step has no payload before it is filled in, so its plan follows from its id."""
    random = Random(task.id)
    plan = [{**_attempt(random), "end": random.choice(STEP_ENDS)} for _ in range(PLANNED)]
    return [{**each, "takes": min(each["takes"], LONGEST_STEP)} for each in plan]


def result_of_step(task: Task) -> dict[str, Any]:
    """Returns what the handler of a step returns: a value of its own for each task. A `when` asks
    for `pick`, and a map runs over `list`."""
    random = Random(f"result of {task.id}")
    return {
        "by": task.id,
        "pick": random.randrange(2),
        "list": list(range(random.randrange(5))),
    }


def play(task: Task) -> Any:
    """Returns or raises what the plan says, as a handler does."""
    match plan_of(task)["end"]:
        case "fail":
            raise ConnectionError("as planned")
        case "later":
            raise RetryLater(20)
        case "snooze" if task.spec.limits:
            raise RateLimited(task.spec.limits[0].name, 40)
        case "snooze":
            raise Snooze(30)
        case "permanent":
            raise PermanentError("as planned")
    return "done" if task.spec.step is None else result_of_step(task)
