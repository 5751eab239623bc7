"""What the relay does after a task was removed: archive it, and delete its dependent rows."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from duetime.aws import backend, clients, schema
from duetime.aws.archive_bucket import read_bucket
from duetime.aws.event_records import RemovedTask
from duetime.core.archive import ArchiveQuery, ArchiveSearch
from duetime.core.errors import Unavailable
from duetime.core.times import DAY, MINUTE, SECOND
from duetime.local.moto_backend import fair_moto
from lambdas import relay as handler
from tests.factories import a_run
from tests.lambdas.conftest import Deployment, LambdaContext, recorded

# Of the recorded removals. The others: a small task, a key, a text.
LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS, BY_HAND = 2, 3, 4, 5


class FollowedUp:
    """Stands in for RemovedTasks, and can fail."""

    def __init__(self) -> None:
        self.archived: list[list[str]] = []
        self.deleted: list[str] = []
        self.failing: set[str] = set()

    def archive(self, removed: list[RemovedTask]) -> None:
        if "archive" in self.failing:
            raise Unavailable("throttled")
        self.archived.append([task.task_id for task in removed])

    def delete_rows(self, removed: RemovedTask) -> None:
        if removed.task_id in self.failing:
            raise Unavailable("throttled")
        if removed.has_rows:
            self.deleted.append(removed.task_id)


@pytest.fixture
def followed_up(monkeypatch: pytest.MonkeyPatch) -> FollowedUp:
    followed_up = FollowedUp()
    monkeypatch.setattr(backend, "removed_tasks", lambda: followed_up)
    return followed_up


def relayed(records: list[Any]) -> list[str]:
    answer = handler.handle({"Records": records}, LambdaContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def id_of(record: Any) -> str:
    return schema.task_id_of(record["dynamodb"]["Keys"][schema.PK]["S"])


def number_of(record: Any) -> str:
    return record["dynamodb"]["SequenceNumber"]


def test_relay_deletes_the_rows_of_removed_tasks_that_have_any(
    followed_up: FollowedUp, capsys: pytest.CaptureFixture[str]
):
    records = recorded("dynamodb_removals")["Records"]

    assert relayed(records) == []

    with_rows = (LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS, BY_HAND)
    assert followed_up.deleted == [id_of(records[n]) for n in with_rows]
    assert capsys.readouterr().out == "", "a removal publishes nothing"


def test_input_of_a_removed_run_is_deleted_and_that_of_another_stays(deployment: Deployment):
    runs = [a_run(spec={"input": "x" * length}) for length in (5_000, 5_000, 1)]
    store = backend.adapters().ports.runs
    assert store is not None
    store.put(runs)
    removals = [deployment.expire_row(schema.run_pk(r.id), schema.RUN) for r in runs[::2]]

    assert relayed(removals) == []

    assert [len(deployment.rows_of(schema.run_pk(run.id))) for run in runs] == [0, 2, 0]


def test_relay_archives_a_batch_of_removals_at_once(followed_up: FollowedUp):
    records = recorded("dynamodb_removals")["Records"]

    relayed(records)

    removed = (0, LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS, BY_HAND)
    assert followed_up.archived == [[id_of(records[n]) for n in removed]]


def test_relay_keeps_the_rows_of_a_task_that_was_deleted_unfinished(followed_up: FollowedUp):
    records = [recorded("dynamodb_removals")["Records"][TWO_ATTEMPTS]]
    records[0]["dynamodb"]["OldImage"][schema.STATUS]["S"] = "RUNNING"

    assert relayed(records) == []
    assert (followed_up.archived, followed_up.deleted) == ([], [])


def test_relay_names_a_record_whose_rows_cannot_be_deleted(followed_up: FollowedUp):
    records = recorded("dynamodb_removals")["Records"]
    failing = records[TWO_ATTEMPTS]
    followed_up.failing = {id_of(failing)}

    assert relayed(records) == [number_of(failing)]
    assert followed_up.deleted == [id_of(records[LONG_SPEC])]

    followed_up.failing = set()
    assert relayed(records[TWO_ATTEMPTS:]) == []
    assert len(followed_up.deleted) == 4


def test_relay_deletes_no_rows_before_the_archive_is_written(followed_up: FollowedUp):
    records = recorded("dynamodb_removals")["Records"]
    followed_up.failing = {"archive"}

    assert relayed(records) == [number_of(records[0])]
    assert followed_up.deleted == []


@pytest.mark.parametrize("days", [None, 7])
def test_rows_of_a_task_with_a_long_payload_are_deleted_when_it_expires(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, days: int | None
):
    if days is not None:
        monkeypatch.setenv("DUETIME_RETENTION_DAYS", str(days))
    event = recorded("http_api_post")
    body = json.loads(event["body"]) | {"payload": "p" * 5_000}
    _, task = deployment.ask(event | {"body": json.dumps(body)})
    deployment.clock.advance(5 * MINUTE)
    deployment.scan(recorded("eventbridge_scheduled"))
    deployment.execute(deployment.sqs_records())
    rows = deployment.rows(task["id"])
    assert sorted(sk.partition("#")[0] for sk in rows) == ["result", "spec", "task"]
    kept_until = deployment.clock.now() + (days or 30) * DAY
    assert rows["task"][schema.REMOVE_AFTER] == {"N": str(kept_until // SECOND + 1)}

    assert deployment.relay([deployment.expire(task["id"])]) == []

    assert deployment.rows(task["id"]) == {}


@pytest.fixture
def bucket(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with fair_moto():
        name = f"archive-{uuid4().hex[:8]}"
        s3 = clients.s3()
        s3.create_bucket(Bucket=name)
        monkeypatch.setattr(clients, "s3", lambda endpoint_url=None: s3)
        monkeypatch.setenv("DUETIME_ARCHIVE_BUCKET", name)
        yield name


def archived(bucket: str) -> list[dict[str, Any]]:
    """Returns every record, repeated ones too."""
    return [json.loads(line) for line in read_bucket(bucket, "", None)]


def keys_in(bucket: str) -> list[str]:
    found = clients.s3().list_objects_v2(Bucket=bucket)
    return [entry["Key"] for entry in found.get("Contents", [])]


def a_finished_task(deployment: Deployment, **fields: Any) -> Any:
    event = recorded("http_api_post")
    body = json.loads(event["body"]) | fields
    _, task = deployment.ask(event | {"body": json.dumps(body), "headers": event["headers"]})
    deployment.clock.advance(5 * MINUTE)
    deployment.scan(recorded("eventbridge_scheduled"))
    deployment.execute(deployment.sqs_records())
    return deployment.read(task["id"])


def test_relay_archives_an_expired_task_as_the_api_showed_it(deployment: Deployment, bucket: str):
    task = a_finished_task(deployment, payload="p" * 5_000)

    assert deployment.relay([deployment.expire(task["id"])]) == []

    [record] = archived(bucket)
    [attempt] = record.pop("attempts")
    assert record == task
    assert attempt["outcome"] == "succeeded"
    assert deployment.rows(task["id"]) == {}
    [key] = keys_in(bucket)
    assert key.startswith("dt=")
    assert key.endswith(".jsonl.gz")


def test_relay_that_repeats_a_batch_archives_each_task_once(
    deployment: Deployment, bucket: str, monkeypatch: pytest.MonkeyPatch
):
    """It died after the archive was written, or while it deleted rows."""
    record = deployment.expire(a_finished_task(deployment, payload="p" * 5_000)["id"])
    rows = backend.removed_tasks()._rows

    def dies(task_id: str) -> None:
        raise Unavailable("throttled")

    with monkeypatch.context() as patched:
        patched.setattr(rows, "delete", dies)
        assert deployment.relay([record]) == [number_of(record)]
    before = archived(bucket)
    assert deployment.relay([record]) == []
    assert archived(bucket) == before
    assert len(before) == 1

    assert deployment.relay([record]) == [], "its rows are gone: it was archived before"
    assert archived(bucket) == before


def test_purge_of_a_deployed_stage_archives_through_the_relay(deployment: Deployment, bucket: str):
    task = a_finished_task(deployment, payload="p" * 5_000)
    event = recorded("http_api_post") | {"rawPath": "/v1/purge"}
    deployment.clock.advance(2 * DAY)

    status, answer = deployment.ask(event | {"body": json.dumps({"older_than": 86_400})})

    assert (status, answer["removed"], answer["next_cursor"]) == (200, 1, None)
    deployment.relay(deployment.removals())
    assert [record["id"] for record in archived(bucket)] == [task["id"]]
    assert deployment.rows(task["id"]) == {}


def test_search_of_a_bucket_reads_only_the_days_that_can_match(deployment: Deployment, bucket: str):
    task = a_finished_task(deployment)
    deployment.relay([deployment.expire(task["id"])])
    now = deployment.clock.now()

    def found(**query: Any) -> list[str]:
        search = ArchiveSearch(ArchiveQuery(**query))
        return [r["id"] for r in search.records(read_bucket(bucket, "", query.get("since")))]

    assert found(id=task["id"]) == [task["id"]]
    assert found(since=now + 400 * DAY) == []


@pytest.mark.parametrize("size", [1, 5_000], ids=["short", "long"])
@pytest.mark.parametrize("by_user", [False, True], ids=["expired", "deleted"])
def test_unique_key_of_a_removed_task_is_deleted(deployment: Deployment, size: int, by_user: bool):
    task = submit_unique(deployment, payload="p" * size)
    record = deployment.expire(task["id"])
    if by_user:
        del record["userIdentity"]
    assert deployment.unique_key("k") == task["id"]

    assert deployment.relay([record]) == []
    assert deployment.relay([record]) == [], "a repeated record"

    assert deployment.unique_key("k") is None


def test_unique_key_that_a_newer_task_has_taken_over_is_kept(deployment: Deployment):
    first = submit_unique(deployment)
    second = submit_unique(deployment, on_conflict="replace")

    assert deployment.relay([deployment.expire(first["id"])]) == []

    assert deployment.unique_key("k") == second["id"] != first["id"]


def submit_unique(deployment: Deployment, payload: str = "", **unique: str) -> Any:
    event = recorded("http_api_post")
    body = {**json.loads(event["body"]), "payload": payload, "unique": {"key": "k", **unique}}
    _, task = deployment.ask(event | {"body": json.dumps(body)})
    return task


def test_relay_starts_without_boto3():
    code = "import sys, lambdas.relay; sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
