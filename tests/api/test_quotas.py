"""Submissions over the quota of their namespace get a 429, and nothing of them is stored."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from duetime.api.http import Request, Response
from duetime.aws.quota_store import DynamoQuotaStore
from duetime.aws.stored_counts import StoredCounts
from duetime.core.ports import Shards
from duetime.core.quotas import QuotaStore, read_quotas
from duetime.core.times import DAY, HOUR, SECOND
from duetime.engine.quotas import QuotaGate
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import EVERY_MINUTE, PYTHON, Service
from tests.backends import SINCE, dynamo_stores
from tests.factories import WAKE_POLICY, SteppedClock, an_id

GOOD: dict[str, Any] = {"target": PYTHON}


class Limited:
    """An API with quotas over one of the backends."""

    def __init__(self, store: Any, clock: SteppedClock, schedules: Any, state: QuotaStore) -> None:
        self._store = store
        self._schedules = schedules
        self._state = state
        self.clock = clock

    def service(self, **quotas: Any) -> Service:
        gate = QuotaGate(quotas=read_quotas(quotas), store=self._state)
        return Service(self._store, self.clock, self._schedules, quotas=gate)

    def counted(self, service: Service) -> None:
        """Lets the relay count what is stored, if that is how the backend counts."""


class LimitedOnAws(Limited):
    counts: StoredCounts

    def counted(self, service: Service) -> None:
        self.counts.add({"default": 1})  # there is no row: the relay counts the tasks
        self.clock.advance(6 * SECOND)  # until the API reads it again


@pytest.fixture(params=["sqlite", "moto"])
def limited(request: pytest.FixtureRequest) -> Iterator[Limited]:
    if request.param == "sqlite":
        with closing(SqliteTaskStore(None)) as store:
            clock = SteppedClock()
            yield Limited(store, clock, store.schedules(clock), store.quotas(clock))
        return
    client = request.getfixturevalue("moto_dynamodb")
    with dynamo_stores(client) as stores:
        table = stores.tasks._table.name
        state = DynamoQuotaStore(client, table, stores.clock)
        made = LimitedOnAws(stores.tasks, stores.clock, stores.schedules, state)
        shards = Shards(count=WAKE_POLICY.shards, since=SINCE)
        made.counts = StoredCounts(client, table, shards=lambda now: shards, clock=stores.clock)
        yield made


def problem(response: Response) -> tuple[int, str, str]:
    assert response.headers["content-type"] == "application/problem+json"
    body = response.body
    assert (body["type"], body["status"]) == ("urn:duetime:problem:quota", 429)
    assert str(body["retry_after"]) == response.headers["retry-after"]
    return response.status, body["title"], body["detail"]


def test_submissions_over_the_rate_get_a_429_that_says_when_to_come_back(limited: Limited):
    service = limited.service(default={"submissions_per_second": 0.2, "burst": 2})

    assert [service.submit().status for _ in range(2)] == [201, 201]
    refused = service.submit()

    assert problem(refused) == (
        429,
        "Too many submissions",
        "Namespace 'default' has reached its quota: submissions_per_second 0.2, burst 2."
        " The task is not stored. Send it again in 5 s; or raise the quota.",
    )
    assert len(service.stored()) == 2
    limited.clock.advance(5 * SECOND - 1)
    assert service.submit().headers["retry-after"] == "1"
    limited.clock.advance(1)
    assert service.submit().status == 201


def test_rate_of_a_namespace_leaves_the_others_alone(limited: Limited):
    service = limited.service(
        **{"shop": {"submissions_per_second": 1}, "*": {"submissions_per_second": 2}}
    )

    def statuses(namespace: str) -> list[int]:
        return [service.submit(namespace=namespace).status for _ in range(3)]

    assert statuses("shop") == [201, 429, 429]
    assert statuses("default") == [201, 201, 429]
    assert statuses("blog") == [201, 201, 429], "each of the others has a bucket of its own"


def test_namespace_without_a_quota_reads_and_writes_nothing_more(service: Service):
    class Untouched:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was called")

    quotas = read_quotas({"shop": {"submissions_per_second": 1, "stored_tasks": 1}})
    gate = QuotaGate(quotas=quotas, store=Untouched())  # type: ignore[arg-type]
    limited = Service(service.store._store, service.clock, quotas=gate)

    assert limited.submit().status == 201
    assert limited.store.writes == ["put"]


def test_tasks_of_a_batch_over_the_quota_fail_alone(limited: Limited):
    service = limited.service(default={"submissions_per_second": 1, "burst": 3})
    blog = {**GOOD, "namespace": "blog"}

    answer = service.batch(GOOD, GOOD, blog, {"target": 1}, GOOD, GOOD, GOOD)

    results = answer.body["results"]
    assert [r["status"] for r in results] == [201, 201, 201, 422, 201, 429, 429]
    assert [r["error"]["retry_after"] for r in results[5:]] == [1, 2]
    assert results[5]["error"]["type"] == "urn:duetime:problem:quota"
    assert len(service.stored()) == 3


def test_submissions_together_share_the_quota(limited: Limited):
    service = limited.service(default={"submissions_per_second": 1, "burst": 2})
    kind = {"content-type": "application/json"}
    body = json.dumps(GOOD).encode()
    request = Request(method="POST", path="/v1/tasks", headers=kind, body=body)

    answers = service.api.submit_together([request] * 4)

    assert [answer.status for answer in answers] == [201, 201, 429, 429]
    assert [answer.headers.get("retry-after") for answer in answers[2:]] == ["1", "2"]


def test_full_namespace_gets_a_429_until_there_is_room(limited: Limited):
    service = limited.service(default={"stored_tasks": 2})

    assert [service.submit(delay=60).status for _ in range(3)] == [201, 201, 429]
    limited.counted(service)
    refused = service.submit()

    assert problem(refused) == (
        429,
        "The namespace is full",
        "Namespace 'default' has reached its quota: stored_tasks 2. The task is not stored."
        " Tasks leave when their retention ends, or by a purge; or raise the quota.",
    )
    assert refused.headers["retry-after"] == "300"
    assert service.submit(namespace="blog").status == 201
    assert len(service.stored()) == 2


def test_batch_fills_a_namespace_to_its_quota(limited: Limited):
    service = limited.service(default={"stored_tasks": 3, "submissions_per_second": 100})

    results = service.batch(*[GOOD] * 5).body["results"]

    assert [r["status"] for r in results] == [201, 201, 201, 429, 429]
    assert len(service.stored()) == 3


def test_tasks_for_a_full_namespace_take_nothing_from_its_rate(limited: Limited):
    service = limited.service(
        default={"stored_tasks": 1, "submissions_per_second": 0.01, "burst": 2},
    )

    titles = [r["error"]["title"] for r in service.batch(*[GOOD] * 5).body["results"][1:]]

    assert titles == ["The namespace is full"] * 4
    assert (
        limited.service(default={"submissions_per_second": 0.01, "burst": 2}).submit().status == 201
    )


def test_purged_tasks_make_room(service: Service):
    store = service.store._store
    state = store.quotas(service.clock)
    gate = QuotaGate(quotas=read_quotas({"default": {"stored_tasks": 1}}), store=state)
    limited = Service(store, service.clock, quotas=gate)
    task_id = limited.submit(delay=60).body["id"]
    assert limited.submit().status == 429

    limited.call("DELETE", f"/v1/tasks/{task_id}", b"")
    assert limited.submit().status == 429, "a cancelled task is still stored"
    service.clock.advance(2 * DAY)
    limited.call("POST", "/v1/purge", {"older_than": HOUR // SECOND})

    assert limited.submit().status == 201


def test_quota_counts_tasks_that_were_stored_before_it(service: Service):
    service.submit()
    service.submit(namespace="blog")
    state = service.store._store.quotas(service.clock)
    gate = QuotaGate(quotas=read_quotas({"*": {"stored_tasks": 1}}), store=state)
    limited = Service(service.store._store, service.clock, quotas=gate)

    assert limited.submit().status == 429
    assert limited.submit(namespace="third").status == 201


@pytest.mark.parametrize("quota", [{"submissions_per_second": 0.01}, {"stored_tasks": 1}])
def test_repeated_submission_gets_its_task_whatever_the_quota(limited: Limited, quota: Any):
    service = limited.service(default=quota)
    own = {**GOOD, "id": an_id(), "delay": 60}
    first = service.post(own)
    assert first.status == 201

    again = service.post(own)

    assert (again.status, again.body["id"]) == (200, own["id"])
    assert service.post({**own, "id": an_id()}).status == 429
    assert service.post({**own, "priority": "low"}).status == 429, "another body is no repetition"


def test_refused_submission_with_a_key_can_be_sent_again(limited: Limited):
    service = limited.service(default={"submissions_per_second": 1})
    service.submit()

    assert service.submit(key="order-1").status == 429
    limited.clock.advance(SECOND)
    first = service.submit(key="order-1")
    again = service.submit(key="order-1")

    assert (first.status, again.status) == (201, 200)
    assert again.body["id"] == first.body["id"]


def test_unique_task_over_the_quota_is_refused_and_leaves_its_key_free(limited: Limited):
    service = limited.service(default={"submissions_per_second": 1})
    service.submit()
    unique = {"key": "report", "while": "pending", "on_conflict": "reject"}

    assert service.submit(unique=unique, delay=60).status == 429
    limited.clock.advance(SECOND)
    assert service.submit(unique=unique, delay=60).status == 201


def test_trigger_counts_and_the_runs_of_a_schedule_do_not(limited: Limited):
    service = limited.service(default={"submissions_per_second": 1})
    assert service.submit().status == 201

    made = service.schedule(rule=EVERY_MINUTE)
    triggered = service.on(made.body["id"], "trigger")

    assert made.status == 201
    assert problem(triggered)[0] == 429
    stored = service.stored()
    assert len([task for task in stored if task.spec.occurrence]) >= 1, "runs are stored"


def test_api_page_shows_the_answer(service: Service):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text()
    [shown] = re.findall(r"```jsonc\n(.*?)```", page, re.DOTALL)
    quotas = read_quotas({"shop": {"submissions_per_second": 50, "burst": 100}})
    state = service.store._store.quotas(service.clock)
    limited = Service(
        service.store._store, service.clock, quotas=QuotaGate(quotas=quotas, store=state)
    )
    limited.batch(*[{**GOOD, "namespace": "shop"}] * 100)

    assert limited.submit(namespace="shop").body == json.loads(shown)


def test_quota_shows_what_is_allowed_and_used(limited: Limited):
    service = limited.service(
        default={"submissions_per_second": 2.5, "stored_tasks": 10}, shop={"stored_tasks": 3}
    )
    for _ in range(2):
        assert service.post(GOOD).status == 201
    limited.counted(service)
    assert service.get("/v1/quota").body == {
        "namespace": "default",
        "submissions_per_second": 2.5,
        "burst": 3,
        "stored_tasks": 10,
        "stored": 2,
    }


def test_namespace_without_a_quota_has_none(limited: Limited, service: Service):
    nothing = dict.fromkeys(("submissions_per_second", "burst", "stored_tasks", "stored"))
    named = limited.service(shop={"submissions_per_second": 5})
    for without, namespace in ((named, "default"), (service, "shop")):
        found = without.get("/v1/quota", namespace=namespace).body
        assert found == {"namespace": namespace, **nothing}
    assert named.get("/v1/quota", namespace="shop").body["stored"] is None


def test_quota_of_a_bad_namespace_is_refused(service: Service):
    response = service.get("/v1/quota", namespace="*")
    assert (response.status, response.body["errors"][0]["field"]) == (422, "namespace")
