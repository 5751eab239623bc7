"""The text of a definition: canonical JSON without defaults, stored under its digest.

The same definition has the same text, so runs of the same inline steps share one row, and a PUT of
an unchanged definition makes no new version.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from hashlib import blake2b
from typing import Any

from duetime.core.codec import decode_limits, encode_limits, from_json
from duetime.core.lanes import Lane
from duetime.core.retry import RetryPolicy
from duetime.core.workflows.definition import Definition, MapOver, RunIf, WorkflowStep

# Created once. A number that JSON cannot represent raises ValueError.
_canonical = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def encode_definition(definition: Definition) -> str:
    return _canonical(definition_json(definition))


def decode_definition(text: str) -> Definition:
    return definition_of(from_json(text))


def digest_of(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def definition_json(definition: Definition) -> dict[str, Any]:
    """Returns the JSON form, which is also that of a definition inside a `workflow` target."""
    return _without_defaults(definition) | {"steps": [_step_json(s) for s in definition.steps]}


def definition_of(body: Mapping[str, Any]) -> Definition:
    """Reads the JSON form."""
    read = {**body, "steps": tuple(_step_of(step) for step in body["steps"])}
    if "priority" in read:
        read["priority"] = Lane(read["priority"])
    return Definition(**read)


def _step_json(step: WorkflowStep) -> dict[str, Any]:
    body = _without_defaults(step)
    if "retry" in body:
        body["retry"] = _without_defaults(step.retry)
    if "limits" in body:
        body["limits"] = encode_limits(step.limits)
    if step.map is not None:
        body["map"] = _without_defaults(step.map)
    return body


def _step_of(body: Mapping[str, Any]) -> WorkflowStep:
    read = {**body, **{name: _READ[name](body[name]) for name in _READ if name in body}}
    return WorkflowStep(**read)


_READ: Mapping[str, Any] = {
    "retry": lambda body: RetryPolicy(**body),
    "limits": decode_limits,
    "map": lambda body: MapOver(**body),
    "needs": tuple,
    "priority": Lane,
    "run_if": RunIf,
}


def _without_defaults(value: Any) -> dict[str, Any]:
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if getattr(value, field.name) != _default(field)
    }


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
