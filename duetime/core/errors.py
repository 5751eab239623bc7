"""What can go wrong, in one tree.

DuetimeError
├── Unavailable         a backend throttled, timed out or was not reached; worth trying again
│   ├── DiskFull        the disk of the embedded store has no room
│   └── StoreLost       the file of the embedded store is damaged, deleted or replaced
├── NotConfigured       a backend lacks a region, credentials or a name
├── Corrupt             a stored item that cannot be read
├── PermanentError      raised by a handler: trying again cannot help
│   └── BadResult       what a handler returned cannot be stored
├── AskedForDelay       raised by a handler: not now
│   ├── RetryLater      this attempt has failed; the next one in so many seconds
│   └── Snooze          this attempt does not count; the next one in so many seconds
├── DataInUse           another runner holds the embedded store
├── BadRule             a schedule's rule that cannot be followed (core/recurrence/rules.py)
└── BadTemplate         a schedule's task that cannot be filled in (core/template.py)
"""


class DuetimeError(Exception):
    """Base of everything Duetime raises on purpose."""


class Unavailable(DuetimeError):
    """A backend throttled, timed out or was not reached. Whether a write happened is unknown."""


class DiskFull(Unavailable):
    """The disk of the embedded store has no room. The store works again once it has."""

    def __init__(self) -> None:
        super().__init__("the disk is full")


class StoreLost(Unavailable):
    """The file of the embedded store is damaged, deleted or replaced. Trying again cannot help:
    the runner ends, and a person has to act. To every caller it is an Unavailable."""


class NotConfigured(DuetimeError):
    """A backend lacks a region, credentials or a name: trying again cannot help."""


class Corrupt(DuetimeError):
    """A stored item that cannot be read."""

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(f"{item}: {reason}")
        self.item = item


# What decoding a stored item raises when its text is not what any release has written.
UNREADABLE = (KeyError, ValueError, TypeError, IndexError, RecursionError)


class PermanentError(DuetimeError):
    """Raise it from a handler when trying again cannot help: the task is dead at once."""


class BadResult(PermanentError):
    """A handler returned what cannot be stored. Its work is done, so running it again helps
    nobody."""


class AskedForDelay(DuetimeError):
    """A handler that says when it wants to be run again."""

    LONGEST = 30 * 24 * 3600.0

    def __init__(self, seconds: float | None = None, message: str | None = None) -> None:
        name = type(self).__name__
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise TypeError(f"{name}: say in how many seconds, e.g. {name}(30); not {seconds!r}")
        if not 0 <= seconds <= self.LONGEST:
            raise ValueError(f"{name}: {seconds} s is not from 0 to 30 days")
        super().__init__(message or f"asked to be run again in {seconds:g} s")
        self.seconds = seconds


class RetryLater(AskedForDelay):
    """Raise it from a handler that failed and knows better than the retry policy when to try
    again: `raise RetryLater(30)`. It uses up an attempt; after the last one the task is dead."""


class Snooze(AskedForDelay):
    """Raise it from a handler that finds the time not ripe: `raise Snooze(300)`. It uses up no
    attempt, so a task can wait for something as long as it takes."""


class DataInUse(DuetimeError):
    """Another runner holds the embedded store."""

    def __init__(self, path: str) -> None:
        super().__init__(f"another Duetime is running on {path}; stop it or name another --data")
        self.path = path
