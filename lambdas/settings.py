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
    slices: int = 1
    handlers: str = ""  # the module or folder of Python handlers
    endpoint_url: str = ""  # another DynamoDB and SQS, for trials

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        given = {}
        for field in fields(cls):
            value = environment.get(PREFIX + field.name.upper())
            if value is not None:
                given[field.name] = int(value) if field.type is int else value
        missing = [f"{PREFIX}{name.upper()}" for name in _REQUIRED if name not in given]
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


_REQUIRED = ("table", "queue_high", "queue_medium", "queue_low")
