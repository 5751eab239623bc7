"""The text form of a run: its spec, which never changes, and its state, which every write replaces.

Both are compact and leave out defaults, and are the same in every backend. The states of a large
run are compressed: those of a map of thousands of items repeat a few letters.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from duetime.core.codec import from_json, to_json
from duetime.core.lanes import Lane
from duetime.core.workflows.run import MapWindow, Run, RunError, RunSpec, StopReason

PACK_FROM = 400  # characters of states and generations
PACKED = "~"  # before a compressed text; no state has this letter
_BETWEEN = "."  # the states and the generations

_REQUIRED = ("namespace", "digest", "run_at", "timeout")
_WRITTEN_APART = (*_REQUIRED, "tags", "map")
_SPEC_DEFAULTS = [(f.name, f.default) for f in fields(RunSpec) if f.name not in _WRITTEN_APART]


def encode_run_spec(spec: RunSpec) -> str:
    body: dict[str, Any] = {name: getattr(spec, name) for name in _REQUIRED}
    for name, default in _SPEC_DEFAULTS:
        value = getattr(spec, name)
        if value is not default and (name == "input" or value != default):
            body[name] = value
    if spec.tags:
        body["tags"] = spec.tags
    if spec.map:
        body["map"] = [getattr(spec.map, f.name) for f in fields(MapWindow)]
    return to_json(body)


def decode_run_spec(text: str) -> RunSpec:
    body = from_json(text)
    if "priority" in body:
        body["priority"] = Lane(body["priority"])
    if "map" in body:
        names = (f.name for f in fields(MapWindow))
        body["map"] = MapWindow(**dict(zip(names, body["map"], strict=True)))
    return RunSpec(**body)


def encode_run_state(run: Run) -> str:
    """Returns what a write replaces, except what the store compares or sorts by: the status, the
    revision, the wake and the time of the write."""
    written: dict[str, Any] = {
        "s": _pack(f"{run.states}{_BETWEEN}{run.generations}"),
        "t": run.timeout_at,
        "a": run.attempt if run.attempt != 1 else None,
        "x": run.stop,
        "w": run.watches or None,
        "e": _encode_error(run.error) if run.error else None,
        "f": run.finished_at,
    }
    return to_json({name: value for name, value in written.items() if value is not None})


def decode_run_state(text: str) -> Mapping[str, Any]:
    """Returns the fields of Run that `encode_run_state` writes."""
    written = from_json(text)
    states, _, generations = _unpack(written["s"]).partition(_BETWEEN)
    return {
        "states": states,
        "generations": generations,
        "timeout_at": written["t"],
        "attempt": written.get("a", 1),
        "stop": StopReason(written["x"]) if "x" in written else None,
        "watches": written.get("w", 0),
        "error": _decode_error(written["e"]) if "e" in written else None,
        "finished_at": written.get("f"),
    }


def _encode_error(error: RunError) -> list[str | None]:
    written = [error.step, error.task_id, error.type, error.message]
    return written if error.reason is None else [*written, error.reason]


def _decode_error(written: list[Any]) -> RunError:
    step, task_id, kind, message, *reason = written
    return RunError(
        step=step,
        task_id=task_id,
        type=kind,
        message=message,
        reason=reason[0] if reason else None,
    )


def _pack(text: str) -> str:
    """A text that does not become shorter stays as it is."""
    if len(text) <= PACK_FROM:
        return text
    packed = PACKED + b64encode(zlib.compress(text.encode(), 9)).decode()
    return packed if len(packed) < len(text) else text


def _unpack(text: str) -> str:
    """Raises ValueError if the text cannot be read."""
    if not text.startswith(PACKED):
        return text
    try:
        return zlib.decompress(b64decode(text.removeprefix(PACKED), validate=True)).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error
