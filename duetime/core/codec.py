"""The text form of a task's parts that no condition reads: compact, without defaults, and the same
in every backend."""

import json
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from duetime.core import suspension as suspensions
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome
from duetime.core.limits.definition import LimitUse, OnDead, OnFull
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.step_ref import decode_step_ref, encode_step_ref
from duetime.core.suspension import Suspension
from duetime.core.task import Attempt, Progress, Promotion, Spec, TaskError
from duetime.core.unique import HeldWhile, OnConflict, Unique

# Created once: json.dumps builds a new encoder for each call with options.
to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
from_json = json.loads

_WRITTEN_APART = ("target", "run_at", "retry", "tags", "occurrence", "unique", "limits", "step")
_SPEC_DEFAULTS = [(f.name, f.default) for f in fields(Spec) if f.name not in _WRITTEN_APART]
_with_defaults = attrgetter(*(name for name, _ in _SPEC_DEFAULTS))
_DEFAULTS = tuple(default for _, default in _SPEC_DEFAULTS)


def encode_spec(spec: Spec) -> str:
    body: dict[str, Any] = {"target": spec.target, "run_at": spec.run_at}
    given = _with_defaults(spec)
    if given != _DEFAULTS:
        for (name, default), value in zip(_SPEC_DEFAULTS, given, strict=True):
            if value != default:
                body[name] = value
    if spec.tags:
        body["tags"] = spec.tags
    if spec.retry is not DEFAULT_RETRY and spec.retry != DEFAULT_RETRY:
        body["retry"] = [getattr(spec.retry, f.name) for f in fields(RetryPolicy)]
    if spec.occurrence:
        body["occurrence"] = encode_occurrence(spec.occurrence)
    if spec.unique:
        body["unique"] = _encode_unique(spec.unique)
    if spec.limits:
        body["limits"] = encode_limits(spec.limits)
    if spec.step:
        body["step"] = encode_step_ref(spec.step)
    return to_json(body)


def decode_spec(text: str) -> Spec:
    body = from_json(text)
    if "priority" in body:
        body["priority"] = Lane(body["priority"])
    if "retry" in body:
        names = (f.name for f in fields(RetryPolicy))
        body["retry"] = RetryPolicy(**dict(zip(names, body["retry"], strict=True)))
    if "occurrence" in body:
        body["occurrence"] = decode_occurrence(body["occurrence"])
    if "unique" in body:
        body["unique"] = _decode_unique(body["unique"])
    if "shifts" in body:
        body["shifts"] = tuple(body["shifts"])
    if "limits" in body:
        body["limits"] = decode_limits(body["limits"])
    if "on_dead" in body:
        body["on_dead"] = OnDead(body["on_dead"])
    if "step" in body:
        body["step"] = decode_step_ref(body["step"])
    return Spec(**body)


def encode_occurrence(of: Occurrence) -> list[Any]:
    written = [
        of.schedule_id,
        of.scheduled_for,
        of.version,
        of.overlap,
        int(of.has_follow_up),
        of.name,
    ]
    return [*written, 1] if of.open else written


def decode_occurrence(written: Sequence[Any]) -> Occurrence:
    schedule_id, scheduled_for, version, overlap, has_follow_up, name, *rest = written
    return Occurrence(
        schedule_id=schedule_id,
        scheduled_for=scheduled_for,
        version=version,
        overlap=OverlapPolicy(overlap),
        has_follow_up=bool(has_follow_up),
        name=name,
        open=bool(rest),
    )


def _encode_unique(unique: Unique) -> list[str]:
    """Leaves out defaults at the end."""
    if unique.on_conflict is not OnConflict.RETURN_EXISTING:
        return [unique.key, unique.held_while, unique.on_conflict]
    if unique.held_while is not HeldWhile.RUNNING:
        return [unique.key, unique.held_while]
    return [unique.key]


def _decode_unique(written: Sequence[str]) -> Unique:
    defaults = [HeldWhile.RUNNING.value, OnConflict.RETURN_EXISTING.value]
    key, held_while, on_conflict = [*written, *defaults[len(written) - 1 :]]
    return Unique(key=key, held_while=HeldWhile(held_while), on_conflict=OnConflict(on_conflict))


def encode_limits(limits: Sequence[LimitUse]) -> list[list[str]]:
    """Leaves out `queue`, the default."""
    return [
        [use.name, use.key] if use.on_full is OnFull.QUEUE else [use.name, use.key, use.on_full]
        for use in limits
    ]


def decode_limits(written: Sequence[Sequence[str]]) -> tuple[LimitUse, ...]:
    return tuple(
        LimitUse(name=name, key=key, on_full=OnFull(rest[0]) if rest else OnFull.QUEUE)
        for name, key, *rest in written
    )


def encode_promotion(promotion: Promotion) -> str:
    return f"{promotion.lane},{promotion.at}"


def decode_promotion(text: str) -> Promotion:
    lane, _, at = text.partition(",")
    return Promotion(lane=Lane(lane), at=int(at))


def encode_suspension(suspension: Suspension) -> str:
    return to_json(suspensions.encode_suspension(suspension))


def decode_suspension(text: str) -> Suspension:
    return suspensions.decode_suspension(from_json(text))


def encode_attempt(attempt: Attempt) -> str:
    """Returns comma-separated fields, with the error, if any, as JSON. Every task writes this
    twice, and JSON for all fields would cost four times as much. The context of its span, which
    few have, follows the outcome."""
    finished_at, error = attempt.finished_at, attempt.error
    trace = "" if attempt.trace is None else f" {attempt.trace}"
    text = (
        f"{attempt.number},{attempt.started_at},{attempt.drift_ms},"
        f"{'' if finished_at is None else finished_at},{attempt.outcome or ''}{trace},"
    )
    if error is None:
        return text
    fields = [error.type, error.message]
    return text + to_json(fields if error.traceback is None else [*fields, error.traceback])


def decode_attempt(text: str) -> Attempt:
    number, started_at, drift_ms, finished_at, ended, error = text.split(",", 5)
    outcome, _, trace = ended.partition(" ")
    return Attempt(
        number=int(number),
        started_at=int(started_at),
        drift_ms=int(drift_ms),
        finished_at=int(finished_at) if finished_at else None,
        outcome=Outcome(outcome) if outcome else None,
        error=_decode_error(error) if error else None,
        trace=trace or None,
    )


def _decode_error(text: str) -> TaskError:
    kind, message, *traceback = from_json(text)
    return TaskError(type=kind, message=message, traceback=traceback[0] if traceback else None)


def encode_progress(progress: Progress) -> str:
    return to_json([progress.fraction, progress.message])


def decode_progress(text: str) -> Progress:
    fraction, message = from_json(text)
    return Progress(fraction=fraction, message=message)


def canonical(body: Any) -> str:
    """Returns the same text for the same content, regardless of key order."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
