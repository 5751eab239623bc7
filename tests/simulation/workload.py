"""The events of a simulation: clients submit, change and cancel, ticks run or fail to, executors
start and die, operators purge and redrive."""

from dataclasses import replace
from typing import Any

from duetime.api.http import Response
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.ports import Chain
from duetime.core.steps.long_run import lacks_dead_letter
from duetime.core.times import MINUTE, SECOND, Millis, rfc3339
from tests.simulation import handler_plans, schedule_workload
from tests.simulation.actors import HANDLER, ScannerSettings, Slice, executor_process, scan
from tests.simulation.bulk_workload import BulkWorkload
from tests.simulation.change_workload import ChangeWorkload
from tests.simulation.child_workload import ChildWorkload
from tests.simulation.drain_workload import DrainWorkload
from tests.simulation.engine import Process
from tests.simulation.limit_workload import LimitWorkload
from tests.simulation.monitor import EVERYTHING
from tests.simulation.new_task_workload import NewTaskWorkload
from tests.simulation.rate_workload import RateWorkload
from tests.simulation.run_workload import RunWorkload
from tests.simulation.schedule_workload import ScheduleWorkload
from tests.simulation.unique_workload import UniqueWorkload
from tests.simulation.worker_workload import WorkerWorkload
from tests.simulation.world import World

CLIENT_RETRY: Millis = 30 * SECOND  # after which a client without an answer repeats its request


class Workload:
    def __init__(self, world: World, tasks: int) -> None:
        self._world = world
        self._engine = world.engine
        self._faults = world.faults
        self._monitor = world.monitor
        self._sqs = world.sqs
        self._sqs.on_sent = self._nudge
        catch_up = self._engine.random.choice([100, 1])
        self._settings = self._engine.scanner_random.choice(
            [
                ScannerSettings(catch_up),
                ScannerSettings(catch_up),
                ScannerSettings(catch_up, time=20 * SECOND, call_takes=SECOND // 2),
            ]
        )
        self._followers: list[tuple[Slice, Process]] = []
        self._executors: list[Process] = []
        schedules = self._engine.random.choice(schedule_workload.SCHEDULES)
        self.recurring = ScheduleWorkload(world, 0 if self._faults.stuck else schedules)
        tasks = tasks * 2 // 5 if self.recurring.wanted else tasks
        self.runs = RunWorkload(world)
        if world.drawn_workers.restarts:
            self.runs.wanted = 0
        tasks = tasks // 5 if self.runs.wanted else tasks
        self.tasks = tasks
        self._changes = ChangeWorkload(world)
        self._bulk = BulkWorkload(world)
        self.accepted: dict[str, str] = {}  # key → task id
        self.given_up: set[str] = set()
        self.unique = UniqueWorkload(world.seed)
        self.children = ChildWorkload(world.seed)
        self.new = NewTaskWorkload(world)
        self.new.on_accepted = self._accepted
        self._limits = LimitWorkload(world)
        self._rates = RateWorkload(world.seed, world.limits)
        self._drains = DrainWorkload(world.seed, self._faults.lasts)
        self._workers = WorkerWorkload(world)
        self._workers.on_begin = lambda task_id: self._perhaps_cancel(task_id, within=5)
        self._workers.children_of = lambda task: self.children.bodies(task, HANDLER)

    def begin(self) -> None:
        engine, random = self._engine, self._engine.random
        for number in range(self.tasks):
            at = random.randint(0, self._faults.lasts * 2 // 3)
            engine.after(at, lambda n=number: self._submit_first(n))
        for _ in range(random.randint(2, 3)):
            self._executor()
        self._tick()
        self.recurring.begin()
        self._bulk.begin()
        self.new.begin()
        self._limits.begin()
        self.runs.begin()
        self._monitor.limits.watch(self._world.slots)
        self._workers.begin()
        for _ in range(self._faults.purges):
            queue = Queue(random.choice(list(Lane)))
            engine.after(random.randint(0, self._faults.lasts), lambda n=queue: self._sqs.purge(n))
        for act in (self._redrive_some, self._revive_some):
            engine.after(random.randint(0, self._faults.lasts), act)
        if self._faults.idle:
            engine.after(self._faults.idle[0], self._all_go)
        engine.after(self._faults.lasts, lambda: self._faults.stop(engine.now))

    @property
    def over(self) -> bool:
        """Whether every client has an answer, every task has ended and the lanes are empty."""
        return (
            self._faults.over_at is not None
            and len(self.accepted.keys() | self.given_up) == self.tasks
            and self.new.over
            and self._sqs.empty
            and self.recurring.over
            and self.runs.over
            and all(task.status.finished for task in self._monitor.tasks.values())
            and not any(lacks_dead_letter(task) for task in self._monitor.tasks.values())
        )

    def ask_for_revival(self, task_id: str) -> None:
        self._monitor.asked.add(task_id)
        self._world.request("POST", f"/v1/tasks/{task_id}/retry")

    # clients

    def submit_unique(self, key: str, answers: list[int]) -> None:
        """Submits a task with a unique key, and notes the status of the answer."""
        body = {"target": {"type": "python", "handler": HANDLER}, "unique": {"key": key}}
        body |= {"payload": [], "idempotency_key": f"last-{key}"}
        self._world.request("POST", "/v1/tasks", body, lambda answer: answers.append(answer.status))

    def _submit_first(self, number: int) -> None:
        body = self._body(number)
        if not self._world.drawn_workers.restarts:
            body = self._rates.add_to(self._limits.add_to(body))
        self._submit(body["idempotency_key"], self.unique.add_to(body, self._engine.now))

    def _submit(self, key: str, body: dict[str, Any]) -> None:
        """Submits a task. The client repeats its request, with its key, until it has an answer."""
        if key in self.accepted or key in self.given_up:
            return

        def answered(answer: Response) -> None:
            if answer.status in (200, 201) and key not in self.accepted:
                self.accepted[key] = answer.body["id"]
                self._accepted(answer.body["id"])
            elif answer.status in (409, 422):
                # Another task holds its unique key; or it is so late that the task has expired, or
                # that its id is too old.
                self.given_up.add(key)

        self._world.request("POST", "/v1/tasks", body, answered)
        self._engine.after(CLIENT_RETRY, lambda: self._submit(key, body))

    def _accepted(self, task_id: str) -> None:
        self._perhaps_cancel(task_id, within=300)
        self._changes.accepted(task_id)

    def _body(self, number: int) -> dict[str, Any]:
        random = self._engine.random
        attempts = random.randint(1, 4)
        body: dict[str, Any] = {
            "target": {"type": "python", "handler": HANDLER},
            "payload": handler_plans.draw_plan(random, attempts),
            "delay": random.choice([0, 0, random.randint(0, 200), random.randint(240, 900)]),
            "priority": random.choice(list(Lane)),
            "timeout": random.choice([5, 20, 60, 200, 500]),
            "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
            "idempotency_key": f"key-{number}",
            "tags": self._bulk.tags(),
        }
        if random.random() < 0.05:
            at = self._engine.now + body["delay"] * SECOND + random.randint(1, 300) * SECOND
            body["expires_at"] = rfc3339(at)
        return body

    def _perhaps_cancel(self, task_id: str, within: float) -> None:
        if self._engine.chance(0.05):
            wait = self._engine.between(0, within)
            self._engine.after(wait, lambda: self._world.request("DELETE", f"/v1/tasks/{task_id}"))

    # ticks

    def _tick(self) -> None:
        engine, faults = self._engine, self._faults
        engine.after(MINUTE, self._tick)
        since = self._world.age
        if faults.outage and faults.outage[0] <= since < faults.outage[1]:
            return
        if engine.chance(faults.tick_missed):
            return
        for _ in range(2 if engine.chance(faults.tick_doubled) else 1):
            # An operator changes the number of slices all the time.
            slices = engine.random.randint(1, self._world.shards)
            for number in range(slices):
                delay = engine.between(0, 20) if engine.chance(faults.slow) else 0
                self._start_tick(Slice(number, slices), delay)

    def _start_tick(self, part: Slice, delay: Millis) -> Process:
        process = self._world.process("scanner", lambda p: self._scan(p, part), delay)
        process.call_takes = self._settings.call_takes
        return process

    def _scan(self, process: Process, part: Slice) -> None:
        ports, store = self._world.ports(process)
        beside: list[bool] = []
        store.on_load = lambda state: beside.append(self._at_work(state.chain, part))
        try:
            report = scan(ports, store, part, self._settings)
        except Unavailable as error:
            process.note("tick failed", str(error))
            return
        self._monitor.settled(process)
        if report.yielded:
            process.note("tick yielded")
        elif beside[0] and not process.disturbed_at:
            self._monitor.scanned_beside_a_chain(process)
        if report.unfinished and report.saved:
            self._follow(process, replace(part, continues=report.chain))

    def _follow(self, process: Process, part: Slice) -> None:
        """Starts the next tick of a chain, as a function does: soon, twice, or not at all."""
        engine, faults = self._engine, self._faults
        process.note("tick unfinished", part.continues)
        if engine.chance(faults.follower_lost):
            return
        for _ in range(2 if engine.chance(faults.tick_doubled) else 1):
            follower = self._start_tick(part, engine.between(0, 2))
            self._followers.append((part, follower))

    def _at_work(self, chain: Chain | None, part: Slice) -> bool:
        """Returns whether the next tick of this chain is healthy and within its expected time. A
        slower chain may be joined."""
        if chain is None or chain.slices != part.slices or chain.id == part.continues:
            return False
        if chain.until <= self._engine.now + self._faults.skew:
            return False
        return any(
            other.continues == chain.id and f.alive and not f.frozen and not f.disturbed_at
            for other, f in self._followers
        )

    # executors

    def _executor(self, delay: Millis = 0) -> None:
        def main(process: Process) -> None:
            ports, store = self._world.ports(process)
            executor = executor_process(process, ports, self._sqs, self._monitor)
            self.new.has_executor(executor, store)
            executor.on_begin = lambda task_id: self._perhaps_cancel(task_id, within=5)
            executor.on_step = self.runs.played
            executor.children_of = lambda task: self.children.bodies(task, HANDLER)
            if drain := self._drains.draw():
                wait, grace = drain
                self._engine.after(wait, lambda: process.alive and executor.drain(grace))
            executor.run()

        process = self._world.process("executor", main, delay + self._idle_for())
        self._executors.append(process)
        process.on_end = lambda killed: self._gone(process)
        if self._engine.chance(self._faults.killed * 30):
            wait = self._engine.between(1, self._faults.lasts / SECOND)
            self._engine.after(wait, process.kill)

    def _gone(self, process: Process) -> None:
        self._executors.remove(process)
        self._executor(self._engine.between(1, 60))

    def _all_go(self) -> None:
        for process in list(self._executors):
            process.kill()

    def _idle_for(self) -> Millis:
        idle, since = self._faults.idle, self._world.age
        return max(idle[1] - since, 0) if idle and idle[0] <= since else 0

    def _nudge(self, at: Millis) -> None:
        if first := self._workers.goes_first():
            self._workers.nudge(at)
        for process in self._executors:
            process.nudge(at)
        if not first:
            self._workers.nudge(at)

    # operators

    def _redrive_some(self) -> None:
        for letter in list(self._sqs.dead_letters):
            self._sqs.redrive(letter, copies=self._engine.random.choice([1, 1, 2]))

    def _revive_some(self) -> None:
        if self._engine.chance(0.3):
            self._monitor.asked.add(EVERYTHING)
            self._world.request("POST", "/v1/dead-letters/redrive", {"all": True})
            self._engine.after(10 * MINUTE, lambda: self._monitor.asked.discard(EVERYTHING))
            return
        for task in list(self._monitor.tasks.values()):
            if task.status is Status.DEAD and self._engine.chance(0.5):
                self.ask_for_revival(task.id)
