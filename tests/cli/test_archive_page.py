"""The page about the archive: its DuckDB query runs, and its Athena table fits the records."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from duetime.core.archive import archive_line
from duetime.core.lifecycle import Outcome, Status
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import DAY, MINUTE
from duetime.local.folder_archive import FolderArchive
from tests.factories import NOW, SteppedClock, a_spec, a_task

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "archive.md").read_text()
FOLDER = "/var/lib/duetime-archive"
QUERY, ATHENA = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


def an_ended_task(name: str, *, ended: int = NOW, **fields: Any) -> Task:
    """Returns a task whose second attempt succeeded."""
    error = TaskError(type="Http503", message="busy", traceback=None)
    failed = Attempt(
        number=1, started_at=NOW, drift_ms=3, finished_at=NOW, outcome=Outcome.FAILED, error=error
    )
    last = Attempt(
        number=2, started_at=ended, drift_ms=0, finished_at=ended, outcome=Outcome.SUCCEEDED
    )
    return a_task(
        spec=a_spec(name=name, **fields),
        status=Status.SUCCEEDED,
        wake=None,
        attempt=2,
        previous=failed,
        current=last,
        result='{"sent":3}',
        updated_at=ended,
    )


def archived(folder: Path, *days: list[Task]) -> None:
    """Writes the tasks of each day as the runner does."""
    clock = SteppedClock()
    archive = FolderArchive(folder, clock)
    for tasks in days:
        archive.write([archive_line(task, ()) for task in tasks])
        clock.advance(DAY)


def found(folder: Path) -> list[tuple[Any, ...]]:
    assert FOLDER in QUERY
    query = QUERY.replace(FOLDER, str(folder)).rstrip().rstrip(";")
    shown = "name, status, epoch_ms(finished_at), attempts"
    with duckdb.connect() as database:
        rows: list[tuple[Any, ...]] = database.execute(f"SELECT {shown} FROM ({query})").fetchall()
    return rows


GROWTH = {"team": "growth"}


def test_duckdb_query_of_the_page_finds_tasks_by_tag_once_and_in_order(tmp_path: Path) -> None:
    late = an_ended_task("late", ended=NOW + MINUTE, tags=GROWTH, payload=[1, "a"])
    early = an_ended_task("early", tags={**GROWTH, "tier": "1"}, payload={"a": {"b": None}})
    other = an_ended_task("other", tags={"team": "ops"}, payload="text")
    archived(tmp_path, [late, other], [early, an_ended_task("plain")], [late])

    assert found(tmp_path) == [
        ("early", "SUCCEEDED", NOW, 2),
        ("late", "SUCCEEDED", NOW + MINUTE, 2),
    ]


@pytest.mark.parametrize("tags", [{}, {"tier": "1"}, {f"tag-{n}": "x" for n in range(10)}])
def test_duckdb_query_of_the_page_finds_nothing_where_no_task_has_the_tag(
    tmp_path: Path, tags: Mapping[str, str]
) -> None:
    archived(tmp_path, [an_ended_task("a", tags=tags)])

    assert found(tmp_path) == []


def test_duckdb_query_of_the_page_reads_many_different_tags(tmp_path: Path) -> None:
    tasks = [an_ended_task(f"{n}", tags={f"tag-{n}": "x"}) for n in range(300)]
    archived(tmp_path, [*tasks, an_ended_task("wanted", tags=GROWTH)])

    assert [row[0] for row in found(tmp_path)] == ["wanted"]


def columns_of(text: str) -> dict[str, str]:
    """Returns the columns of a table, or the fields of a struct, each with its type."""
    parts, depth = [""], 0
    for character in " ".join(text.split()):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return {name.rstrip(":"): kind for name, kind in (part.split(None, 1) for part in parts)}


def misfits(value: Any, kind: str, where: str) -> list[str]:
    """Returns the places at which a value is not of a type of Athena's."""
    outer, _, inner = kind.strip().removesuffix(">").partition("<")
    if value is None:
        return []
    if outer == "array":
        return [m for n, each in enumerate(value) for m in misfits(each, inner, f"{where}.{n}")]
    if outer == "struct":
        missing = [f"{where}.{name}: missing" for name in columns_of(inner) if name not in value]
        present = {name: kind for name, kind in columns_of(inner).items() if name in value}
        return missing + [
            m
            for name, kind in present.items()
            for m in misfits(value[name], kind, f"{where}.{name}")
        ]
    if outer == "map":
        return [m for text in value.values() for m in misfits(text, "string", where)]
    return [] if type(value) is {"string": str, "int": int}[outer] else [f"{where}: {kind}"]


def test_records_have_the_columns_of_the_athena_table_and_their_types() -> None:
    [table] = re.findall(r"CREATE EXTERNAL TABLE archive \((.*?)\n\)\n", ATHENA, re.DOTALL)
    columns = columns_of(table)
    target = {"type": "http", "url": "https://a.example/"}
    record = json.loads(archive_line(an_ended_task("a", tags=GROWTH, target=target), ()))

    any_json = {"target", "payload", "result"}  # the SerDe gives a string the text of the JSON
    assert {name for name in any_json if columns.pop(name) == "string"} == any_json
    assert any_json <= set(record)
    assert (
        misfits(record, f"struct<{', '.join(f'{n}: {k}' for n, k in columns.items())}>", "") == []
    )
    for name in columns:
        assert record[name] not in (None, [], {}), f"{name} is checked"
