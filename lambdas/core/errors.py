"""What can go wrong, in one tree.

DuetimeError
├── Unavailable         a backend throttled, timed out or was not reached; worth trying again
├── NotConfigured       a backend lacks a region, credentials or a name
├── Corrupt             a stored item that cannot be read
├── PermanentError      raised by a handler: trying again cannot help
└── DataInUse           another runner holds the embedded store
"""


class DuetimeError(Exception):
    """Base of everything Duetime raises on purpose."""


class Unavailable(DuetimeError):
    """A backend throttled, timed out or was not reached. Whether a write happened is unknown."""


class NotConfigured(DuetimeError):
    """A backend lacks a region, credentials or a name: trying again cannot help."""


class Corrupt(DuetimeError):
    """A stored item that cannot be read."""

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(f"{item}: {reason}")
        self.item = item


class PermanentError(DuetimeError):
    """Raise it from a handler when trying again cannot help: the task is dead at once."""


class DataInUse(DuetimeError):
    """Another runner holds the embedded store."""

    def __init__(self, path: str) -> None:
        super().__init__(f"another Duetime is running on {path}; stop it or name another --data")
        self.path = path
