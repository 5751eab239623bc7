"""The environment of a function, read once into one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from lambdas.core.lanes import Lane

PREFIX = "DUETIME_"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    table: str
    queue_high: str
    queue_medium: str
    queue_low: str
    shards: int = 16
    catch_up: int = 100  # overdue tasks let into each lane a second, over all slices
    handlers: str = ""  # the module or folder of Python handlers
    endpoint_url: str = ""  # another DynamoDB and SQS, for trials

    def __post_init__(self) -> None:
        if self.catch_up < 1:
            raise ValueError(f"{_variable('catch_up')} must be at least 1, not {self.catch_up}")

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        given = {}
        for field in fields(cls):
            variable = _variable(field.name)
            if (text := environment.get(variable)) is not None:
                given[field.name] = _number(variable, text) if field.type is int else text
        missing = [_variable(name) for name in _REQUIRED if name not in given]
        if missing:
            raise ValueError(f"not set: {', '.join(missing)}")
        return cls(**given)  # type: ignore[arg-type]

    @property
    def queues(self) -> dict[Lane, str]:
        return {
            Lane.HIGH: self.queue_high,
            Lane.MEDIUM: self.queue_medium,
            Lane.LOW: self.queue_low,
        }


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _number(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{variable} must be a whole number, not {text!r}") from None


_REQUIRED = ("table", "queue_high", "queue_medium", "queue_low")
