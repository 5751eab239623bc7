"""The task of a schedule as submitted: like any other, but for its time, and with templates."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lambdas.api.http import FieldError, Problem, invalid
from lambdas.api.models import PAYLOAD_LIMIT, TARGET_LIMIT, stored_size, too_large
from lambdas.api.tasks import Accepted
from lambdas.core.schedules.occurrences import schedule_names
from lambdas.core.task import Spec
from lambdas.core.template import OF_THE_SCHEDULE, BadTemplate, check, finish, names_in
from lambdas.core.times import Millis

INSTEAD: Mapping[str, str] = {
    "run_at": "the rule says when; for the first time use starts_at of the schedule",
    "delay": "the rule says when: use a rule of type delay, or starts_at of the schedule",
    "expires_at": "use misfire (grace, window) or ends_at of the schedule",
    "jitter": "use jitter of the schedule",
    "idempotency_key": "every fire time is one task; for the schedule itself use the header",
}
AS_THEY_ARE = ("type", "handler", "method")  # of a target: what will run is known from the start
SAMPLE = "1"  # good for a host, a port, a path and any text


def read_template(
    body: Mapping[str, Any], name: str | None, accepted: Accepted, now: Millis
) -> Spec:
    """The templates are kept; what is checked is what they may become."""
    if misplaced := [FieldError(f"task.{n}", why) for n, why in INSTEAD.items() if n in body]:
        raise invalid(misplaced)
    try:
        _check_names(body)
        task = accepted.read(_filled(body, name, now))
        return _with_templates(task.spec(now), body)
    except BadTemplate as bad:
        raise invalid([FieldError(f"task.{bad.path}", bad.reason)]) from None
    except Problem as problem:
        raise _of_the_task(problem) from None


def _of_the_task(problem: Problem) -> Problem:
    """The same problem, of a part of a body."""
    errors = [FieldError(f"task.{e['field']}", e["message"]) for e in problem.body["errors"]]
    kind = problem.body["type"].rpartition(":")[2]
    return Problem(problem.status, kind, problem.body["title"], errors=errors)


def _check_names(body: Mapping[str, Any]) -> None:
    check({part: body.get(part) for part in ("target", "payload")})
    check({part: body.get(part) for part in ("name", "tags")}, OF_THE_SCHEDULE)
    target = body.get("target")
    fixed = [f for f in AS_THEY_ARE if isinstance(target, dict) and any(names_in(target.get(f)))]
    if fixed:
        raise BadTemplate(f"target.{fixed[0]}", "cannot be a template")


def _filled(body: Mapping[str, Any], name: str | None, now: Millis) -> dict[str, Any]:
    """What is known of the schedule has its real length, the rest is a sample."""
    names = dict.fromkeys(_names(body), SAMPLE) | schedule_names("0" * 26, name, now)
    filled = {
        part: finish(body[part], names, whole=part == "payload")
        for part in ("target", "payload", "name", "tags")
        if part in body
    }
    return {**body, **filled}


def _names(body: Mapping[str, Any]) -> Iterator[str]:
    return (name for part in ("target", "payload") for _, name in names_in(body.get(part)))


def _with_templates(spec: Spec, body: Mapping[str, Any]) -> Spec:
    target = {field: body["target"].get(field, value) for field, value in spec.target.items()}
    kept = replace(
        spec,
        target=target,
        payload=body.get("payload"),
        name=body.get("name"),
        tags=body.get("tags", {}),
    )
    if stored_size(kept.target) > TARGET_LIMIT:
        raise invalid([FieldError("target", "must be at most 16 KiB")])
    if stored_size(kept.payload) > PAYLOAD_LIMIT:
        raise too_large()
    return kept
