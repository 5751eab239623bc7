"""The errors that Duetime raises, in one tree.

DuetimeError
├── Unavailable         a backend throttled, timed out or was not reached; a retry may help
│   ├── DiskFull        the disk of the SQLite store is full
│   └── StoreLost       the file of the SQLite store is damaged, deleted or replaced
├── NotConfigured       a backend lacks a region, credentials or a name
├── Corrupt             a stored item that cannot be read
├── PermanentError      raised by a handler: a retry cannot help
│   ├── BadPayload      a payload does not fit the parameters of its handler
│   ├── BadResult       a handler returned a value that cannot be stored
│   ├── BadReference    a reference's value does not fit (core/workflows/references.py)
│   ├── NoSuchMap       a step asks for results of no map (engine/workflows/map_results.py)
│   ├── StepLost        what a step needs is gone (engine/workflows/outputs.py)
│   ├── TooLarge        references insert too much (core/workflows/references.py)
│   ├── UnknownWorkflow  no such workflow, or version (engine/workflows/named.py)
│   └── WaitInsideHandler  a handler waited for another task
├── AskedForDelay       raised by a handler: run me later
│   ├── RetryLater      this attempt failed; the next one starts after the given seconds
│   └── Snooze          this attempt does not count; the next one starts after the given seconds
│       └── RateLimited  and so does every other task under the rate limit
├── DataInUse           another runner holds the SQLite store
├── NotJson             a value that has no JSON form (core/json_values.py)
├── BadRule             a schedule's rule that cannot be followed (core/recurrence/rules.py)
├── SyncConflict        a sync of declared schedules is refused (core/schedules/apps.py)
│   ├── HandlerClaimed  another app declares schedules of the handler
│   └── Superseded      a newer generation of the app has begun to sync
├── NotSynced           the schedules that the code declares are refused (api/manifest_sync.py)
├── BadTemplate         a schedule's task that cannot be filled in (core/template.py)
├── BadSecret           a secret that cannot be used (core/secrets.py)
├── BadQuota            quotas that cannot be used (core/quotas.py)
├── BadSignature        a webhook that Duetime did not sign, or too long ago (webhooks.py)
├── NotInstalled        a package of an extra is missing (extras.py)
├── HandlersNotFound    no folder, file or module of that name (handlers/registry.py)
├── BadHandlers         the handlers cannot be imported, or two have one name (handlers/registry.py)
├── NotReloaded         changed handlers cannot be imported (local/reload.py)
├── UnknownDatabase     a connection of a driver that the outbox does not know (outbox/dialects.py)
├── DatabaseFailed      the database of an outbox cannot be used for now (outbox/databases.py)
├── ClocksDiffer        Duetime refuses an id that was made just now (outbox/drain.py)
├── TooManyRuns         a test ran more tasks at once than it allows (testing/errors.py)
├── SocketLost          the WebSocket of live updates has ended (client/live_steps.py)
├── SocketRefused       its handshake got an HTTP status (client/live_steps.py)
├── TargetFailed        the call of a target failed (executor/targets)
├── ServiceCallFailed   an AWS service refused the call of a target (core/service_calls.py)
├── StoppedByDrain      a handler raised because its worker stops (executor/failures.py)
├── BadConfiguration    a worker cannot work as it is configured (worker/options.py)
├── BadRunnerUrl        the URL of a runner is not one (worker/http_connection.py)
├── NoAnswer            a runner did not answer its worker (worker/http_connection.py)
├── CallRefused         a runner refuses a call of its worker (worker/runner_calls.py)
├── RunnerBusy          a runner cannot answer its worker now (worker/runner_calls.py)
├── FailedElsewhere     an isolated handler failed in its own process (executor/failures.py)
└── raised by the client (client/errors.py)
    ├── BadArgument     an invalid argument; also a ValueError
    │   └── BadAddress  the URL is not one
    ├── NotSigned       there are no AWS credentials to sign with
    ├── Unreachable     no answer, or an answer that is not from Duetime
    ├── ApiError        Duetime answered with a problem
    │   ├── NotFound    there is no such task, schedule or limit
    │   ├── Conflict    the state of the task or schedule forbids it
    │   ├── Invalid     a field of the request is not valid
    │   ├── TooLarge    the request is too large
    │   └── Throttled   too many requests, or over a quota
    ├── TaskFailed      the task has ended without a result
    │   ├── TaskDead
    │   ├── TaskCancelled
    │   └── TaskExpired
    └── WaitTimeout     a wait ended before the task did; also a TimeoutError

BaseException
└── Stopped             raised inside a handler that keeps running after a request to stop
"""


class DuetimeError(Exception):
    """Base class of all errors that Duetime raises."""

    __module__ = "duetime"  # where users import it from


class Unavailable(DuetimeError):
    """A backend throttled, timed out or was not reached. Whether a write happened is unknown.
    `submit` inside a running handler raises it."""

    __module__ = "duetime"  # where users import it from


class DiskFull(Unavailable):
    """The disk of the SQLite store is full. The store works again once there is space."""

    def __init__(self) -> None:
        super().__init__("the disk is full")


class StoreLost(Unavailable):
    """The file of the SQLite store is damaged, deleted or replaced. A retry cannot help: the runner
    ends, and an operator has to act. Callers handle it as Unavailable."""


class NotConfigured(DuetimeError):
    """A backend lacks a region, credentials or a name. A retry cannot help."""


class Corrupt(DuetimeError):
    """A stored item that cannot be read."""

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(f"{item}: {reason}")
        self.item = item


# What decoding a stored item raises when its text is not what any release has written.
UNREADABLE = (KeyError, ValueError, TypeError, IndexError, RecursionError)


class PermanentError(DuetimeError):
    """Raise it from a handler when a retry cannot help: the task is dead at once."""

    __module__ = "duetime"  # where users import it from


class WaitInsideHandler(PermanentError):
    """A handler waited for another task, or, in a test, moved the clock."""

    __module__ = "duetime"  # where users import it from


class BadPayload(PermanentError, ValueError):
    """A payload does not fit the parameters of its handler. `field` locates the fault, as in
    `items.3`; empty for the payload itself. A submission raises it before anything is sent."""

    __module__ = "duetime"  # where users import it from

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.field, self.reason)


class BadResult(PermanentError):
    """A handler returned a value that cannot be stored. Its work is done, so the task is not
    retried."""


class AskedForDelay(DuetimeError):
    """Raised by a handler that asks to be run again later."""

    LONGEST = 30 * 24 * 3600.0
    EXAMPLE = "{}(30)"

    def __init__(self, seconds: float | None = None, message: str | None = None) -> None:
        name = type(self).__name__
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            example = self.EXAMPLE.format(name)
            raise TypeError(f"{name}: say in how many seconds, e.g. {example}; not {seconds!r}")
        if not 0 <= seconds <= self.LONGEST:
            raise ValueError(f"{name}: {seconds} s is not from 0 to 30 days")
        super().__init__(message or f"asked to be run again in {seconds:g} s")
        self.seconds = seconds


class RetryLater(AskedForDelay):
    """Raise it from a failed handler to choose the delay before the next attempt instead of the
    retry policy: `raise RetryLater(30)`. It uses up an attempt; after the last one the task is
    dead."""

    __module__ = "duetime"  # where users import it from


class Snooze(AskedForDelay):
    """Raise it from a handler that cannot run yet: `raise Snooze(300)`. It uses up no attempt, so a
    task can wait for a condition as long as it takes."""

    __module__ = "duetime"  # where users import it from


class RateLimited(Snooze):
    """Raise it from a handler whose target has refused too many calls: `raise
    RateLimited("stripe", 30)`. No task under the rate limit `stripe` with the same key starts for
    30 s. It uses up no attempt. The task must name the limit; otherwise only this task waits."""

    __module__ = "duetime"  # where users import it from
    EXAMPLE = '{}("stripe", 30)'

    def __init__(self, limit: str, seconds: float, message: str | None = None) -> None:
        if not isinstance(limit, str) or not limit:
            raise TypeError(f"RateLimited: name the limit and the seconds, not {limit!r}")
        super().__init__(seconds, message or f"{limit} asked for a pause of {seconds} s")
        self.limit = limit

    def __reduce__(self) -> tuple[type, tuple[str, float, str]]:
        return type(self), (self.limit, self.seconds, str(self))


class DataInUse(DuetimeError):
    """Another runner holds the SQLite store."""

    def __init__(self, path: str) -> None:
        super().__init__(f"another Duetime is running on {path}; stop it or name another --data")
        self.path = path


class Stopped(BaseException):
    """Raised inside a handler that keeps running after a request to stop. Catch it to clean up,
    then raise it again. It is not an Exception, so `except Exception` does not catch it."""

    __module__ = "duetime"
