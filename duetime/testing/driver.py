"""What moves a world: for the test, and for the clients whose waits let virtual time pass."""

from collections.abc import Callable

from duetime.core.errors import WaitInsideHandler
from duetime.core.lifecycle import FINISHED
from duetime.core.task import Task
from duetime.core.times import DAY, SECOND, Millis, seconds
from duetime.executor.children import Children, ChildSubmission
from duetime.testing.clock import SeededRandom
from duetime.testing.problems import Problems
from duetime.testing.roles import Roles

LONGEST_WAIT: Millis = 366 * DAY


class Driver:
    """`inline`: whether tasks run at their submission."""

    def __init__(
        self, roles: Roles, chance: SeededRandom, problems: Problems, *, inline: bool
    ) -> None:
        self._roles = roles
        self._clock = roles.clock
        self._chance = chance
        self._problems = problems
        self._inline = inline

    def run(self, what: str, until: Millis, done: Callable[[], bool] = lambda: False) -> bool:
        """Runs the world up to a time, or until `done`. Returns whether it is done. Raises what
        must fail the test; `what` is the call of the test."""
        self.refuse_inside_handler(what)
        ended = self._roles.run_until(until, done)
        self._problems.check()
        return ended

    def refuse_inside_handler(self, what: str) -> None:
        if self._roles.busy:
            error = WaitInsideHandler(
                f"{what} inside a handler would wait for ever: the world has one thread, which runs"
                " this handler. Submit the next step as a task, or wait in the test."
            )
            self._problems.add(error)
            raise error

    # for `perform`

    def now(self) -> Millis:
        return self._clock.now()

    def children_of(self, task: Task) -> Children:
        return Children(self._roles.ports, task, ChildSubmission())

    # for the clients, too

    def new_id(self) -> str:
        return self._chance.new_id(self._clock.now())

    def monotonic(self) -> float:
        """Returns the virtual time in seconds."""
        return self._clock.now() / SECOND

    def sleep(self, duration: float) -> None:
        self.run("a wait", self._clock.now() + seconds(duration))

    def run_until_ended(self, task_id: str, timeout: float | None) -> float:
        """Runs the world until a task has ended, or for `timeout` seconds. Returns how long it may
        have taken."""
        longest = LONGEST_WAIT if timeout is None else seconds(timeout)

        def ended() -> bool:
            found = self._roles.store.get([task_id]).get(task_id)
            return found is None or found.status in FINISHED

        self.run("a wait", self._clock.now() + longest, ended)
        return longest / SECOND

    def run_inline(self) -> bool:
        """Runs what is due, if tasks run at their submission. Returns whether they do. Raises what
        a handler has raised. A task that a handler submits runs after that handler."""
        if self._inline and not self._roles.busy:
            self._problems.first_error = None
            self._roles.run_due()
            self._problems.check()
            if self._problems.first_error is not None:
                raise self._problems.first_error
        return self._inline
