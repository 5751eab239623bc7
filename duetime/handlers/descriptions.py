"""What `GET /v1/handlers` says about each handler: where it is, what it takes, when it runs."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from duetime.handlers import registry
from duetime.handlers.annotations import first_line
from duetime.handlers.handler import Handler
from duetime.handlers.manifest import Manifest, place_of

Description = Mapping[str, Any]


def describe_registered() -> list[Description]:
    """Describes the handlers that this process has imported."""
    return [_of_handler(handler) for _, handler in sorted(registry.handlers().items())]


def describe_manifest(manifest: Manifest) -> list[Description]:
    """Describes the handlers of a manifest, which says what their source says."""
    schedules: dict[str, list[Mapping[str, Any]]] = {}
    for declared in manifest.schedules:
        schedules.setdefault(declared["task"]["target"]["handler"], []).append(declared)
    return [
        _of_entry(name, fields, schedules.get(name, ()))
        for name, fields in sorted(manifest.handlers.items())
    ]


def _of_handler(handler: Handler[..., Any]) -> Description:
    return {
        "name": handler.name,
        "module": handler.__module__,
        "line": place_of(handler)[1],
        "doc": first_line(handler.__doc__),
        "payload_schema": handler.payload_schema,
        "defaults": handler.defaults,
        "schedules": [_of_schedule(one.body(handler.name)) for one in handler.schedules],
    }


def _of_entry(
    name: str, fields: Mapping[str, Any], schedules: Sequence[Mapping[str, Any]]
) -> Description:
    file, _, line = fields.get("source", "").rpartition(":")  # earlier releases wrote no source
    return {
        "name": name,
        "module": ".".join(PurePosixPath(file).with_suffix("").parts) if file else None,
        "line": int(line) if file else None,
        "doc": fields.get("doc"),
        "payload_schema": fields.get("payload_schema"),
        "defaults": fields.get("defaults", {}),
        "schedules": [_of_schedule(one) for one in schedules],
    }


def _of_schedule(declared: Mapping[str, Any]) -> Description:
    return {"name": declared["name"], "rule": declared["rule"]}
