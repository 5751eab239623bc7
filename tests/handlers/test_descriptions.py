"""Descriptions of handlers, of those that are imported and of those that are only read."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from duetime.handlers import registry
from duetime.handlers.descriptions import describe_manifest, describe_registered
from duetime.handlers.manifest import Manifest, read

Described = Sequence[tuple[Any, Any]]

SHOP = '''
from datetime import datetime
from duetime import Context, cron, task

@task("shop.restock", priority="low", schedule=cron("0 9 * * *", tz="Europe/Berlin"))
def restock(ctx: Context, items: list[str] = [], at: datetime | None = None, limit: int = 3):
    """Orders what is missing.

    And more."""

@task("shop.anything")
def anything(payload, ctx): ...

@task("shop.count")
def count(payload: dict[str, int], ctx: Context): ...

@task("shop.open")
def open_(a: float, **others: str): ...
'''


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Described:
    """Each handler as the process that imported it, and as the manifest of its source describe
    it."""
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "described_shop", raising=False)
    file = tmp_path / "described_shop.py"
    file.write_text(SHOP)
    registry.load(str(file))
    return list(zip(describe_registered(), describe_manifest(read(file)), strict=True))


def test_handlers_are_described_by_what_they_are_and_by_their_source(described: Described):
    found = {live["name"]: (live, source) for live, source in described}

    for name, (live, source) in found.items():
        schemas = [dict(one).pop("payload_schema") for one in (live, source)]
        assert {**live, "payload_schema": 0} == {**source, "payload_schema": 0}
        assert (schemas[0] == schemas[1]) is (name != "shop.restock")  # of a datetime
    live, source = found["shop.restock"]
    assert live | {"payload_schema": 0} == {
        "name": "shop.restock",
        "module": "described_shop",
        "line": 5,
        "doc": "Orders what is missing.",
        "payload_schema": 0,
        "defaults": {"priority": "low"},
        "schedules": [
            {
                "name": "shop.restock",
                "rule": {"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"},
            }
        ],
    }
    members = {
        "items": {"type": "array", "items": {"type": "string"}},
        "at": {},
        "limit": {"type": "integer"},
    }
    schema = {"type": "object", "properties": members, "additionalProperties": False}
    assert source["payload_schema"] == schema
    at = live["payload_schema"]["properties"]["at"]
    assert at == {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}


def test_schema_says_what_the_payload_is(described: Described):
    found = {live["name"]: live["payload_schema"] for live, _ in described}

    assert found["shop.anything"] is None
    assert found["shop.count"] == {
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }
    assert found["shop.open"] == {
        "type": "object",
        "properties": {"a": {"type": "number"}},
        "required": ["a"],
        "additionalProperties": {"type": "string"},
    }


def test_manifest_of_an_earlier_release_is_described():
    manifest = Manifest(app="", handlers={"b": {}, "a": {}}, schedules=[])

    first, second = describe_manifest(manifest)

    assert (first["name"], second["name"]) == ("a", "b")
    assert (first["module"], first["line"], first["payload_schema"]) == (None, None, None)
