"""What several settings of a stage have in common: their base class, networks, permissions and
variables."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from infra.formats import Action


class SettingModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Vpc(SettingModel):
    """The network in which executors reach private addresses."""

    id: str = Field(pattern=r"^vpc-[0-9a-f]{8,17}$")
    subnets: list[Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")]] = Field(min_length=1)
    security_groups: list[
        Annotated[str, Field(pattern=r"^sg-[0-9a-f]{8,17}$")]
    ] = []  # empty: one is created


class Statement(SettingModel):
    """An IAM statement, as in a policy document. Unknown keys are refused: a mistyped condition
    must not allow more than intended."""

    Effect: Literal["Allow", "Deny"]
    Action: list[Action] | Action
    Resource: list[str] | str
    Condition: dict[str, Any] = {}
    Sid: str = ""

    def as_policy(self) -> dict[str, Any]:
        return self.model_dump(exclude_defaults=True)


def _not_reserved(environment: dict[str, str]) -> dict[str, str]:
    for name in environment:
        if name.startswith(("DUETIME_", "AWS_", "LAMBDA_")):
            raise ValueError(f"{name} is reserved")
        if not re.fullmatch(r"[A-Za-z]\w+", name, re.ASCII):
            raise ValueError(f"{name!r} is not a name that Lambda takes")
    return environment


Variables = Annotated[dict[str, str], AfterValidator(_not_reserved)]  # of handlers
