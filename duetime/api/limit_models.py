"""Request bodies: a limit, and the limits that a task is under."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from duetime.api.http import FieldError, invalid
from duetime.api.validation import Word
from duetime.core.limits.definition import (
    MAX_CONCURRENCY,
    MAX_LIMIT_NAME,
    MAX_LIMITS,
    Limit,
    LimitUse,
    OnFull,
    Rate,
)
from duetime.core.limits.fields import NAME, NAME_RULE
from duetime.core.times import Millis, seconds

MAX_COUNT = 100_000  # also of the burst
MAX_PERIOD = 31 * 86_400  # seconds

STRICT = ConfigDict(extra="forbid", strict=True)


def _limit_name(text: str) -> str:
    if not re.fullmatch(NAME, text):
        raise ValueError(NAME_RULE)
    return text


LimitName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_LIMIT_NAME),
    AfterValidator(_limit_name),
    Field(json_schema_extra={"pattern": f"^{NAME}$"}),
]


class LimitUseIn(BaseModel):
    model_config = STRICT

    name: LimitName
    key: Word | None = None
    on_full: Literal["queue", "skip", "cancel"] = "queue"

    def use(self) -> LimitUse:
        return LimitUse(name=self.name, key=self.key or "", on_full=OnFull(self.on_full))


LimitsIn = Annotated[list[LimitUseIn], Field(max_length=MAX_LIMITS)]


class LimitRateIn(BaseModel):
    model_config = STRICT

    count: Annotated[int, Field(ge=1, le=MAX_COUNT)]
    period: Annotated[float, Field(ge=1, le=MAX_PERIOD)]
    burst: Annotated[int, Field(ge=0, le=MAX_COUNT)] = 0


class LimitIn(BaseModel):
    model_config = STRICT

    rate: LimitRateIn | None = None
    concurrency: Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)] | None = None

    def limit(self, namespace: str, name: str, now: Millis) -> Limit:
        """Raises a Problem for a limit that limits nothing."""
        if self.rate is None and self.concurrency is None:
            raise invalid([FieldError("body", "give rate, concurrency, or both")])
        return Limit(
            namespace=namespace,
            name=name,
            rate=_rate(self.rate) if self.rate else None,
            concurrency=self.concurrency,
            created_at=now,
            updated_at=now,
        )


def _rate(given: LimitRateIn) -> Rate:
    return Rate(count=given.count, period=seconds(given.period), burst=given.burst)
