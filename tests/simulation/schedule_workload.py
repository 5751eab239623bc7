"""The events of schedules in a simulation: requests of users, and the relay."""

from typing import Any

from duetime.api.http import Response
from duetime.core.errors import Unavailable
from duetime.core.events import StatusChange
from duetime.core.lanes import Lane
from duetime.core.times import MINUTE, SECOND, Millis, rfc3339
from duetime.engine.followups import run_follow_ups_after
from tests.simulation.actors import HANDLER
from tests.simulation.engine import Process
from tests.simulation.handler_plans import RECURRING
from tests.simulation.world import World

CLIENT_RETRY: Millis = 30 * SECOND  # after which a client without an answer repeats its request
LONGEST_FREEZE: Millis = 6 * MINUTE
CALM: Millis = 12 * MINUTE  # that schedules go on for without faults
# The values to draw from. A mutant may limit them (see `mutant.aimed`), to be caught sooner.
SCHEDULES = [0, 0, 1, 2]
RULES = ["rate", "rate", "cron", "delay", "delay"]
OVERLAPS = ["allow", "skip", "queue", "cancel"]
MISFIRES = ["run_once", "run_all", "skip"]
GRACES = [0, 60, 200]
ACTS = ["pause", "resume", "resume", "change", "change", "trigger", "trigger", "backfill"]


class ScheduleWorkload:
    def __init__(self, world: World, schedules: int) -> None:
        self._world = world
        self._engine = world.engine
        self._random = world.engine.random
        self._invariants = world.monitor.schedules
        self.wanted = schedules
        self.ids: dict[int, str] = {}
        self.given_up: set[int] = set()
        self._stopped: set[str] = set()
        self._invariants.on_end = self._relay
        idle = world.faults.idle
        self._invariants.backed_up_until = world.engine.now + idle[1] if idle else 0

    def begin(self) -> None:
        lasts = self._world.faults.lasts
        for number in range(self.wanted):
            at = self._random.randint(0, lasts // 3)
            body = self._body()
            self._engine.after(at, lambda n=number, b=body: self._create(n, b))
        self._engine.after(lasts + CALM, self._stop_all)

    @property
    def over(self) -> bool:
        """Whether all schedules are stopped, and all follow-ups of their runs are done."""
        return (
            len(self.ids) + len(self.given_up) == self.wanted
            and self._stopped.issuperset(self.ids.values())
            and not any(task.has_follow_up for task in self._world.monitor.tasks.values())
        )

    # users

    def _create(self, number: int, body: dict[str, Any]) -> None:
        if number in self.ids or number in self.given_up:
            return

        def answered(answer: Response) -> None:
            if answer.status in (200, 201) and number not in self.ids:
                self.ids[number] = answer.body["id"]
                self._use(answer.body["id"], body)
            elif answer.status == 422:
                self.given_up.add(number)

        path, key = "/v1/schedules", f"schedule-{number}"
        self._world.request("POST", path, body, answered, {"idempotency-key": key})
        self._engine.after(CLIENT_RETRY, lambda: self._create(number, body))

    def _use(self, schedule_id: str, body: dict[str, Any]) -> None:
        """Schedules a few random requests of a user, some of them right after another."""
        left = max(self._world.faults.lasts - self._world.age, 0)
        for _ in range(self._random.choice([0, 0, 1, 2, 4])):
            at, act = self._random.randint(0, left), self._random.choice(ACTS)
            self._engine.after(at, lambda a=act: self._act(schedule_id, body, a))
            if self._engine.chance(0.3):
                again = at + self._random.choice([1, 500, 5 * SECOND])
                self._engine.after(again, lambda: self._act(schedule_id, body, "resume"))
        if self._engine.chance(0.05):
            # Not while a client may still repeat its request: that would create it again.
            wait = max(self._random.randint(0, left), LONGEST_FREEZE)
            self._engine.after(wait, lambda: self._delete(schedule_id))

    def _act(self, schedule_id: str, body: dict[str, Any], act: str) -> None:
        path = f"/v1/schedules/{schedule_id}"
        match act:
            case "pause" | "resume" | "trigger":
                self._world.request("POST", f"{path}/{act}")
            case "change":
                kept = ("rule",) if self._engine.chance(0.5) else ()
                drawn = self._body()
                drawn = {**drawn, **{name: body[name] for name in (*kept, "max_runs")}}
                self._world.request("PUT", path, drawn)
            case "backfill":
                now = self._engine.now - 5 * SECOND
                span = {"from": rfc3339(now - self._engine.between(60, 900)), "to": rfc3339(now)}
                policy = self._random.choice(OVERLAPS)
                fill = {**span, "per_minute": 30, "overlap": policy}
                self._world.request("POST", f"{path}/backfill", fill)

    def _delete(self, schedule_id: str) -> None:
        def answered(answer: Response) -> None:
            if answer.status in (204, 404):
                self._stopped.add(schedule_id)
                self._invariants.deleted.add(schedule_id)

        if schedule_id not in self._stopped:
            self._invariants.leaving.add(schedule_id)
            self._world.request("DELETE", f"/v1/schedules/{schedule_id}", None, answered)
            self._engine.after(CLIENT_RETRY, lambda: self._delete(schedule_id))

    def _stop_all(self) -> None:
        for schedule_id in self.ids.values():
            self._invariants.still_goes_on(schedule_id)
            self._stop(schedule_id)
        if len(self.ids) + len(self.given_up) < self.wanted:  # a client still waits for an answer
            self._engine.after(MINUTE, self._stop_all)

    def _stop(self, schedule_id: str) -> None:
        """Pauses the schedule. A finished one answers 409, a deleted one 404."""

        def answered(answer: Response) -> None:
            if answer.status in (200, 404, 409):
                self._stopped.add(schedule_id)

        if schedule_id not in self._stopped:
            self._world.request("POST", f"/v1/schedules/{schedule_id}/pause", None, answered)
            self._engine.after(CLIENT_RETRY, lambda: self._stop(schedule_id))

    def _body(self) -> dict[str, Any]:
        random = self._random
        attempts = random.randint(1, 3)
        body: dict[str, Any] = {
            "rule": self._rule(),
            "task": {
                "target": {"type": "python", "handler": HANDLER},
                "payload": RECURRING,
                "priority": random.choice(list(Lane)),
                "timeout": random.choice([5, 20, 200]),
                "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
            },
            "overlap": random.choice(OVERLAPS),
            "misfire": {
                "policy": random.choice(MISFIRES),
                "grace": random.choice(GRACES),
                "per_minute": random.choice([6, 60]),
            },
            "max_runs": random.choice([None, None, None, 5]),
        }
        if random.random() < 0.2:
            body["pause_on_failure"] = random.choice([1, 2])
        return body

    def _rule(self) -> dict[str, Any]:
        random = self._random
        match random.choice(RULES):
            case "rate":
                return {"type": "rate", "every": random.choice([20, 45, 90, 300])}
            case "cron":
                return {"type": "cron", "expression": random.choice(["* * * * *", "*/3 * * * *"])}
        return {"type": "delay", "delay": random.choice([1, 20, 60, 300])}

    # the relay

    def _relay(self, change: StatusChange) -> None:
        """Starts the relay as the stream does: soon, sometimes twice, sometimes never."""
        engine, faults = self._engine, self._world.faults
        if engine.chance(faults.relay_lost):
            return
        for _ in range(2 if engine.chance(faults.message_doubled) else 1):
            wait = engine.between(0.05, 30 if engine.chance(faults.message_late) else 0.5)
            self._world.process("relay", lambda process: self._follow_up(process, change), wait)

    def _follow_up(self, process: Process, change: StatusChange) -> None:
        try:
            run_follow_ups_after(self._world.ports(process)[0], [change])
        except Unavailable as error:
            process.note("follow-up failed", str(error))
        else:
            self._world.monitor.settled(process)
