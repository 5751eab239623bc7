"""Workflows and definitions: each changed definition is a new version."""

from dataclasses import replace

import pytest

from duetime.core.change import Applied, Refused
from duetime.core.times import DAY
from duetime.core.workflows.definition import Workflow
from duetime.core.workflows.ports import RunStore
from tests.factories import NOW

LONG = '{"steps":' + "[1]" * 50_000 + "}"


def a_workflow(name: str = "etl", **fields: object) -> Workflow:
    workflow = Workflow(
        namespace="default",
        name=name,
        version=1,
        digest="d1",
        created_at=NOW,
        updated_at=NOW,
        revision=1,
    )
    return replace(workflow, **fields)


def test_definition_is_read_as_it_was_put(runs: RunStore):
    for _ in range(2):
        runs.put_definition("d1", "{}")
        runs.put_definition("d2", LONG)

    assert runs.definitions(["d1", "d2", "d3"]) == {"d1": "{}", "d2": LONG}


def test_definition_of_a_version_is_kept_for_good_whatever_runs_need_it_until(runs: RunStore):
    runs.put_definition("d1", "{}", NOW)
    runs.put_definition("d1", "{}")
    runs.put_definition("d1", "{}", NOW + DAY)
    runs.remove_definitions(NOW + 1_000 * DAY)

    assert runs.definitions(["d1"]) == {"d1": "{}"}


def test_workflow_keeps_the_digest_of_every_version(runs: RunStore):
    first = a_workflow()
    second = replace(first, version=2, digest="d2", revision=2, updated_at=NOW + 1)

    for each in (first, first, second, second):
        assert runs.put_workflow(each) == Applied(each)
    assert runs.workflow("default", "etl") == second
    assert [runs.version_digest("default", "etl", n) for n in (1, 2, 3)] == ["d1", "d2", None]
    assert runs.workflow("growth", "etl") is runs.workflow("default", "load") is None


def test_refused_workflow_leaves_the_digest_of_the_version_alone(runs: RunStore):
    stored = a_workflow()
    runs.put_workflow(stored)

    for rival in (a_workflow(digest="dx"), a_workflow(digest="dx", revision=3)):
        assert runs.put_workflow(rival) == Refused(stored)
    assert runs.version_digest("default", "etl", 1) == "d1"
    assert runs.put_workflow(a_workflow("load", revision=2)) == Refused(None)


def test_workflows_are_listed_by_name_without_the_deleted_ones(runs: RunStore):
    names = ["a", "b", "c", "d", "e"]
    for name in reversed(names):
        runs.put_workflow(a_workflow(name))
    runs.put_workflow(a_workflow("x", namespace="growth"))
    deleted = a_workflow("c", revision=2, deleted=True)
    runs.put_workflow(deleted)

    first = runs.workflows("default", 2, None)
    rest = runs.workflows("default", 2, first.cursor)
    assert [each.name for each in [*first.workflows, *rest.workflows]] == ["a", "b", "d", "e"]
    assert rest.cursor is None
    assert runs.workflow("default", "c") == deleted


def test_workflows_of_all_namespaces_are_listed_one_after_the_other(runs: RunStore):
    stored = [
        a_workflow(name, namespace=namespace)
        for namespace in ("default", "growth", "shop")
        for name in ("a", "b", "c")
    ]
    for each in reversed(stored):
        runs.put_workflow(each)
    runs.put_workflow(replace(stored[4], revision=2, deleted=True))

    found, cursor = list[Workflow](), None
    while page := runs.workflows(None, 2, cursor):
        found += page.workflows
        cursor = page.cursor
        if cursor is None:
            break

    assert found == [*stored[:4], *stored[5:]]
    for bad in ("a", "shop/", "shop/a b", "/a"):
        with pytest.raises(ValueError, match="cursor"):
            runs.workflows(None, 2, bad)
    with pytest.raises(ValueError, match="cursor"):
        runs.workflows("shop", 2, "shop/a")
