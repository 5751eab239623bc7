"""The stage to deploy, read from the context in cdk.json.

"stage": "dev"               the stage to deploy; `-c stage=prod` overrides it
"stages": {"dev": {…}, …}    the settings of each stage, as fields of Stage
"handlers": {…}              the Python handlers, as fields of Handlers; a stage may add to it
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from infra.pool_settings import Fargate, Pool
from infra.setting_models import Statement, Vpc
from infra.stage import (
    BadStage,
    BatchSize,
    Database,
    Domain,
    Handlers,
    Jwt,
    Scopes,
    Stage,
    Targets,
    Weights,
)


def read_stage(context: Callable[[str], Any]) -> Stage:
    """Returns the stage that the context selects. Raises BadStage."""
    stages, name = context("stages") or {}, context("stage")
    if not isinstance(stages, Mapping) or not stages:
        raise BadStage('cdk.json has no object "stages" in its context.')
    if not isinstance(name, str) or name not in stages:
        raise BadStage(f"There is no stage {name!r} in cdk.json; there are {', '.join(stages)}.")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,31}", name):
        raise BadStage(f"A stage needs a name of letters, digits and dashes, not {name!r}.")
    given = _object(stages[name], f"stages.{name}")
    if "name" in given:
        raise BadStage(
            f'In cdk.json stages.{name} must not have a field "name": its key is its name.'
        )
    handlers = _handlers(context("handlers")) | _handlers(given.pop("handlers", None))
    try:
        stage = Stage.model_validate({**given, "name": name, "handlers": handlers or None})
    except ValidationError as error:
        raise BadStage(_sentence(name, error)) from None
    _check_queue_names(stage, stages)
    return stage


def _check_queue_names(stage: Stage, stages: Mapping[str, Any]) -> None:
    """A pool `batch` of `prod` would have the queues of a stage `prod-batch`."""
    for pool in stage.pools:
        if (other := f"{stage.name}-{pool}") in stages:
            raise BadStage(
                f"Stage {stage.name!r} in cdk.json: pools: the queues of {pool!r} would be those of"
                f" the stage {other!r}; choose another name."
            )


def _handlers(given: Any) -> dict[str, Any]:
    """`-c handlers=folder` names just the folder."""
    if given is None:
        return {}
    return {"folder": given} if isinstance(given, str) else _object(given, "handlers")


def _object(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise BadStage(f"In cdk.json {where} must be an object, not {given!r}.")
    return dict(given)


def _sentence(stage: str, error: ValidationError) -> str:
    """Returns a sentence about the first error and its place."""
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(_known(first["loc"]))
        what = f"is not a setting; there are {known}"
    else:
        what = _WORDS.sub("must", first["msg"].removeprefix("Value error, "))
        if first["type"] not in ("value_error", "missing", "too_short"):
            what = f"{what}, not {first['input']!r}"
    return f"Stage {stage!r} in cdk.json: {f'{where}: ' if where else ''}{what}."


def _known(where: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Stage
    for part in where[:-1]:
        model = _PARTS.get(str(part), model)  # a number is the index of a list item
    fields = model.model_fields.items()
    return [field.alias or name for name, field in fields if name != "name" or model is not Stage]


_WORDS = re.compile("(Input|String|List) should")
_PARTS: Mapping[str, type[BaseModel]] = {
    "weights": Weights,
    "batch_size": BatchSize,
    "jwt": Jwt,
    "scopes": Scopes,
    "domain": Domain,
    "handlers": Handlers,
    "vpc": Vpc,
    "statements": Statement,
    "targets": Targets,
    "sql": Database,
    "pools": Pool,
    "fargate": Fargate,
}
