"""The targets `dynamodb`, `email` and `sql` as submitted, each with its own form of payload."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from duetime.api.http import FieldError, excerpt
from duetime.api.service_target_fields import (
    KIB,
    LINE_BREAKS,
    MAX_RECIPIENTS,
    Address,
    Addresses,
    Name,
    ServiceTarget,
    arn_of,
    arn_schema,
    need_object,
    too_large,
)
from duetime.api.task_models import stored_size
from duetime.core.sql_parameters import BOUND_BY_DUETIME, names_in


class DynamoDBTarget(ServiceTarget):
    type: Literal["dynamodb"]
    table: Annotated[str, arn_of("dynamodb"), arn_schema("dynamodb")]
    action: Literal["put", "update", "delete"]
    if_absent: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = None

    def field_errors(self) -> list[FieldError]:
        if self.if_absent is None or self.action == "put":
            return []
        return [FieldError("target.if_absent", "goes with the action put")]

    def payload_errors(self, payload: Any) -> list[FieldError]:
        if errors := need_object(payload, "an object"):
            return errors
        errors = [*self._unknown(payload), *self._missing(payload), *self._wrong(payload)]
        return errors or too_large(stored_size(payload), 400 * KIB, "DynamoDB")

    def _fields(self) -> tuple[str, ...]:
        return {"put": ("item",), "delete": ("key",)}.get(
            self.action, ("key", "set", "add", "remove")
        )

    def _unknown(self, payload: Mapping[str, Any]) -> list[FieldError]:
        known = f"unknown field; {self.action} takes {', '.join(self._fields())}"
        return [
            FieldError(f"payload.{excerpt(name, 60)}", known)
            for name in payload
            if name not in self._fields()
        ]

    def _missing(self, payload: Mapping[str, Any]) -> list[FieldError]:
        first = self._fields()[0]
        given = payload.get(first)
        if isinstance(given, dict) and given:
            absent = self.if_absent and self.if_absent not in given
            message = f"must have {self.if_absent}, the attribute of if_absent"
            return [FieldError("payload.item", message)] if absent else []
        return [FieldError(f"payload.{first}", "must be an object with at least one attribute")]

    def _wrong(self, payload: Mapping[str, Any]) -> list[FieldError]:
        if self.action != "update":
            return []
        errors = []
        if not isinstance(payload.get("set", {}), dict):
            errors.append(FieldError("payload.set", "must be an object"))
        numbers = payload.get("add", {})
        if not isinstance(numbers, dict) or not all(map(_is_number, numbers.values())):
            errors.append(FieldError("payload.add", "must be an object of numbers"))
        removed = payload.get("remove", [])
        if not isinstance(removed, list) or not all(isinstance(n, str) and n for n in removed):
            errors.append(FieldError("payload.remove", "must be a list of names"))
        return errors


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class EmailTarget(ServiceTarget):
    type: Literal["email"]
    sender: Annotated[Address, Field(alias="from")]
    to: Annotated[Addresses, Field(min_length=1)]
    cc: Addresses = Field(default_factory=list)
    bcc: Addresses = Field(default_factory=list)
    reply_to: Addresses = Field(default_factory=list)

    def field_errors(self) -> list[FieldError]:
        if len(self.to) + len(self.cc) + len(self.bcc) <= MAX_RECIPIENTS:
            return []
        message = f"may have at most {MAX_RECIPIENTS} addresses together with cc and bcc"
        return [FieldError("target.to", message)]

    def payload_errors(self, payload: Any) -> list[FieldError]:
        if errors := need_object(payload, "an object with subject, and text or html"):
            return errors
        known = ("subject", "text", "html")
        errors = [
            FieldError(f"payload.{excerpt(name, 60)}", "unknown field")
            for name in payload
            if name not in known
        ]
        errors += [
            FieldError(f"payload.{name}", "must be a string")
            for name in known
            if not isinstance(payload.get(name, ""), str)
        ]
        subject = payload.get("subject")
        if subject is None:
            errors.append(FieldError("payload.subject", "required"))
        elif isinstance(subject, str) and (LINE_BREAKS.search(subject) or len(subject) > 900):
            errors.append(FieldError("payload.subject", "must be one line of at most 900 letters"))
        if "text" not in payload and "html" not in payload:
            errors.append(FieldError("payload.text", "required: give text, html or both"))
        return errors


class SqlTarget(ServiceTarget):
    type: Literal["sql"]
    database: Name
    statement: Annotated[str, StringConstraints(min_length=1, max_length=15_000)]

    def payload_errors(self, payload: Any) -> list[FieldError]:
        given = {} if payload is None else payload
        if errors := need_object(given, "an object, with a value for each parameter"):
            return errors
        reserved = [
            FieldError(f"payload.{name}", "is bound by Duetime")
            for name in BOUND_BY_DUETIME
            if name in given
        ]
        missing = [
            FieldError(f"payload.{name}", "required: the statement names it")
            for name in names_in(self.statement)
            if name not in given and name not in BOUND_BY_DUETIME
        ]
        return reserved + missing
