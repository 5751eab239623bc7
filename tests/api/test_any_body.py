"""Any request gets an answer or a problem, never a failure, and a refused one stores nothing."""

import json
import math
from contextlib import closing
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from duetime.api.http import Response
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import PYTHON, Service, as_sent
from tests.factories import SteppedClock

numbers = (
    st.integers()
    | st.floats()
    | st.sampled_from([0, 1, -1, 10**20, 10**400, 1e308, 1e-308, 840, 3_600, 86_400])
)
EDGES = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]
times = (
    st.sampled_from(EDGES)
    | st.datetimes(timezones=st.none() | st.timezones()).map(lambda at: at.isoformat())
    | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", fullmatch=True)
)
letters = st.characters() | st.just("\ud800")
words = st.text(letters, max_size=20) | st.from_regex(r"[a-z._:-]{1,9}", fullmatch=True)
anything = st.recursive(
    st.none() | st.booleans() | numbers | words | times,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
urls = words.map(lambda text: f"http://{text}") | st.sampled_from(["https://example.org/x"])
targets = (
    st.just(PYTHON)
    | st.fixed_dictionaries(
        {"type": st.just("http"), "url": urls},
        optional={
            "method": st.sampled_from(["GET", "POST", "TRACE"]),
            "headers": st.dictionaries(words, words, max_size=3),
        },
    )
    | anything
)
retries = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ["max_attempts", "base_delay", "multiplier", "max_delay", "jitter"], numbers
    ),
)
limit_uses = st.fixed_dictionaries(
    {"name": words},
    optional={"key": words, "on_full": st.sampled_from(["queue", "skip", "cancel", "wait"])},
)
fields = {
    "payload": anything,
    "run_at": times | anything,
    "delay": numbers | anything,
    "priority": st.sampled_from(["high", "medium", "low", "urgent"]),
    "timeout": numbers,
    "retry": retries | anything,
    "jitter": numbers,
    "expires_at": times | anything,
    "name": words | anything,
    "namespace": words | anything,
    "ordering_key": words | anything,
    "on_dead": st.sampled_from(["continue", "block", None]) | anything,
    "limits": st.lists(limit_uses, max_size=3) | anything,
    "fairness_key": words | anything,
    "idempotency_key": words | anything,
    "tags": st.dictionaries(words, words, max_size=3) | anything,
    "extra": anything,
}
# Mostly one odd field at a time: of several, the first that is refused would hide the rest.
tasks = st.sampled_from(sorted(fields)).flatmap(
    lambda name: st.fixed_dictionaries({"target": st.just(PYTHON), name: fields[name]})
) | st.fixed_dictionaries({"target": targets}, optional=fields)


def written(body: Any) -> bytes:
    """As JSON, with what Python's encoder lets through (NaN, lone surrogates) and what it would
    not write: numbers that no double holds."""
    return json.dumps(body).replace("Infinity", "1e999").encode()


def mangled(data: bytes) -> st.SearchStrategy[bytes]:
    """Cut, or with a few bytes put in."""
    places = st.integers(0, len(data))
    return places.map(lambda at: data[:at]) | st.tuples(places, st.binary(max_size=3)).map(
        lambda put: data[: put[0]] + put[1] + data[put[0] :]
    )


def check_refusal(problem: dict[str, Any], status: int) -> None:
    assert 400 <= status < 500, problem
    assert problem["status"] == status
    assert {"type", "title", "detail"} <= problem.keys()
    for error in problem.get("errors", []):
        assert error.keys() == {"field", "message"}
        assert error["message"]


def check_answer(service: Service, response: Response) -> None:
    body = as_sent(response)
    if response.status == 201:
        assert service.get(f"/v1/tasks/{body['id']}").encoded() == response.encoded()
    else:
        assert response.headers["content-type"] == "application/problem+json"
        check_refusal(body, response.status)
        assert service.store.writes == []


@given(tasks | anything)
@example({"target": PYTHON, "payload": math.inf})
@example({"target": PYTHON, "expires_at": "9999-12-31T23:59:59-23:59"})
def test_any_json_is_a_task_or_a_problem(body: Any):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        check_answer(service, service.post(written(body)))


@given(st.binary(max_size=60) | tasks.map(written).flatmap(mangled))
def test_any_bytes_are_a_task_or_a_problem(body: bytes):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        check_answer(service, service.post(body))


@given(st.lists(tasks | anything, min_size=1, max_size=8))
def test_any_batch_answers_for_each_of_its_tasks(bodies: list[Any]):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        response = service.call("POST", "/v1/tasks/batch", written({"tasks": bodies}))
        if response.status == 400:  # one of them was no JSON
            return
        results = as_sent(response)["results"]
        assert len(results) == len(bodies)
        for result in results:
            if result["status"] in (200, 201):
                assert service.get(f"/v1/tasks/{result['task']['id']}").status == 200
            else:
                check_refusal(result["error"], result["status"])


redrives = st.fixed_dictionaries(
    {},
    optional={
        "ids": st.lists(words, max_size=3) | anything,
        "namespace": words | anything,
        "error_type": words | anything,
        "died_after": times | anything,
        "died_before": times | anything,
        "all": st.booleans() | anything,
        "dry_run": st.booleans() | anything,
        "limit": st.integers(0, 1_001) | anything,
        "cursor": words | anything,
    },
)


@given(redrives | anything)
@example({"namespace": "a", "died_before": EDGES[1]})
def test_any_redrive_is_a_count_or_a_problem(body: Any):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        response = service.call("POST", "/v1/dead-letters/redrive", written(body))
        if response.status == 200:
            assert as_sent(response)["redriven"] == 0
        else:
            check_refusal(as_sent(response), response.status)


@given(
    st.text(letters, max_size=30) | st.sampled_from(["", "x", "batch"]),
    st.dictionaries(
        st.sampled_from(
            ["limit", "cursor", "status", "namespace", "error_type", "died_after", "x"]
        ),
        st.text(max_size=20),
        max_size=3,
    ),
)
def test_any_path_and_query_get_an_answer(end: str, query: dict[str, str]):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        lists = ("/v1/tasks", "/v1/dead-letters")
        for path in (f"/v1/tasks/{end}", f"/v1/tasks/{end}/attempts", *lists, f"/{end}"):
            response = service.call("GET", path, query=query)
            if response.status != 200:
                check_refusal(as_sent(response), response.status)


changes = st.sampled_from(sorted(fields)).flatmap(
    lambda name: st.fixed_dictionaries({name: fields[name]})
) | st.fixed_dictionaries({}, optional=fields)


@given(changes | anything)
@example({"expires_at": "9999-12-31T23:59:59-23:59"})
@example({"payload": math.inf})
@example({"delay": 315_360_000})
def test_any_json_is_a_change_or_a_problem(body: Any):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        path = f"/v1/tasks/{service.submit(delay=3600).body['id']}"
        before = service.get(path).encoded()
        service.store.writes.clear()

        response = service.call("PATCH", path, written(body))

        if response.status == 200:
            assert service.get(path).encoded() == response.encoded()
        else:
            check_refusal(as_sent(response), response.status)
            assert service.store.writes == []
            assert service.get(path).encoded() == before
