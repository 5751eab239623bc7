"""Any request for a schedule gets an answer or a problem, and a refused one stores nothing."""

from contextlib import closing
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import NOON, PYTHON, Service, as_sent
from tests.api.test_any_body import (
    EDGES,
    anything,
    letters,
    mangled,
    numbers,
    retries,
    targets,
    times,
    words,
    written,
)
from tests.factories import SteppedClock, an_id

part = st.sampled_from(
    [
        *("*", "*/2", "0", "5", "1-5", "L", "L5", "1#2", "mon", "15W", "60", "?", "", "1,2", "5-1"),
        *("h", "LW,15", "L-3", "FRIL", "monday", "2027", "*/90"),
    ]
)
plain = st.lists(part, min_size=4, max_size=7).map(" ".join)
expressions = (
    plain
    | plain.map("cron({})".format)
    | plain.map("CRON_TZ=Asia/Gaza {}".format)
    | st.sampled_from(["@daily", "@reboot", "0 0 30 2 *", "* * * * * *", "rate(5 minutes)"])
    | words
)
zones = st.sampled_from(["UTC", "Europe/Berlin", "Asia/Gaza", "europe/berlin", "../x", ""]) | words
dates = st.dates().map(str) | st.sampled_from(["2026-02-30", "20261225"]) | words
crons = st.fixed_dictionaries(
    {"type": st.just("cron"), "expression": expressions},
    optional={
        "timezone": zones | anything,
        "seconds": st.sampled_from(["first", "last", None]) | anything,
        "days": st.sampled_from(["either", "both", None]) | anything,
        "dst": st.fixed_dictionaries(
            {}, optional={"gap": st.sampled_from(["skip", "shift", "x"]), "overlap": words}
        )
        | anything,
    },
)
rates = st.fixed_dictionaries(
    {"type": st.just("rate"), "every": numbers}, optional={"anchor": times | anything}
)
delays = st.fixed_dictionaries({"type": st.just("delay"), "delay": numbers})
rules = crons | rates | delays
exclusions = crons | st.fixed_dictionaries(
    {"type": st.just("dates"), "dates": st.lists(dates, max_size=4) | anything},
    optional={"timezone": zones},
)
names = st.sampled_from(
    ["{{scheduled_for}}", "{{ schedule.name }}", "{{previous.result.a}}", "{{x}}", "{{", "{{{{"]
)
templates = st.lists(names | words, max_size=3).map("".join)
tasks = st.fixed_dictionaries(
    {"target": st.just(PYTHON) | targets},
    optional={
        "payload": templates | st.lists(templates | anything, max_size=2) | anything,
        "name": templates | anything,
        "tags": st.dictionaries(words, templates, max_size=2) | anything,
        "namespace": words,
        "retry": retries,
        "run_at": times,
        "extra": anything,
    },
)
misfires = st.fixed_dictionaries(
    {},
    optional={
        "policy": st.sampled_from(["run_once", "run_all", "skip", "x"]),
        "grace": numbers,
        "window": numbers | anything,
        "per_minute": numbers,
    },
)
fields = {
    "rule": rules | anything,
    "rules": st.lists(rules | anything, max_size=3) | anything,
    "exclude": st.lists(exclusions | anything, max_size=3) | anything,
    "task": tasks | anything,
    "name": words | anything,
    "starts_at": times | anything,
    "ends_at": times | anything,
    "max_runs": numbers,
    "jitter": numbers,
    "misfire": misfires | anything,
    "overlap": st.sampled_from(["allow", "skip", "queue", "cancel", "x"]) | anything,
    "pause_on_failure": numbers,
    "extra": anything,
}
BASE: dict[str, Any] = {"rule": NOON, "task": {"target": PYTHON}}


def completed(odd: dict[str, Any]) -> dict[str, Any]:
    base = {"task": BASE["task"]} if "rules" in odd else BASE
    return {**base, **odd}


# Mostly one odd field at a time: of several, the first that is refused would hide the rest.
schedules = st.sampled_from(sorted(fields)).flatmap(
    lambda name: st.fixed_dictionaries({name: fields[name]}).map(completed)
) | st.fixed_dictionaries({}, optional=fields).map(completed)


def check_refusal(problem: dict[str, Any], status: int) -> None:
    assert 400 <= status < 500, problem
    assert problem["status"] == status
    assert {"type", "title", "detail"} <= problem.keys()
    for error in problem.get("errors", []):
        assert error.keys() in ({"field", "message"}, {"field", "message", "position"})
        assert error["message"]


def check_answer(service: Service, response: Any) -> None:
    body = as_sent(response)
    if response.status != 201:
        check_refusal(body, response.status)
        assert service.store.writes == []
        return
    path = f"/v1/schedules/{body['id']}"
    assert as_sent(service.get(path)) == body
    assert body["next_fire_at"] is not None
    assert service.get(f"{path}/upcoming", count="20").status == 200
    assert service.get(f"{path}/ledger").status == 200
    assert service.on(body["id"], "trigger").status == 201
    again = {name: body[name] for name in body if name in fields}
    assert service.call("POST", "/v1/schedules", again).status == 201


@given(schedules | anything)
@example({**BASE, "ends_at": EDGES[1]})
@example({**BASE, "rule": {"type": "rate", "every": 1, "anchor": EDGES[1]}})
@example({**BASE, "rule": {"type": "rate", "every": 1, "anchor": "1970-01-01T00:00:00Z"}})
@example({**BASE, "rule": {"type": "rate", "every": 86_400 * 365}, "max_runs": 1})
def test_any_json_is_a_schedule_or_a_problem(body: Any):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        check_answer(service, service.call("POST", "/v1/schedules", written(body)))


@given(schedules.map(written).flatmap(mangled))
def test_any_bytes_are_a_schedule_or_a_problem(body: bytes):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        check_answer(service, service.call("POST", "/v1/schedules", body))


@given(
    st.fixed_dictionaries(
        {"rule": rules},
        optional={
            "exclude": st.lists(exclusions, max_size=2),
            "after": times | anything,
            "count": numbers,
        },
    )
)
@example({"rule": {"type": "cron", "expression": "* * * * *"}, "after": EDGES[1]})
@example({"rule": {"type": "cron", "expression": "0 0 29 2 *"}, "after": EDGES[0], "count": 100})
@example({"rule": {"type": "cron", "expression": "0 0 29 2 *"}, "after": "1970-01-01T00:00:00Z"})
def test_any_preview_is_an_answer_or_a_problem(body: Any):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        response = service.call("POST", "/v1/schedules/preview", written(body))
        if response.status != 200:
            check_refusal(as_sent(response), response.status)
            return
        fire_times = as_sent(response)["fire_times"]
        assert fire_times == sorted(set(fire_times))
        assert fire_times


@given(
    st.sampled_from(["pause", "resume", "trigger", "backfill"]),
    st.fixed_dictionaries(
        {},
        optional={
            "note": words | anything,
            "from": times | anything,
            "to": times | anything,
            "overlap": words,
            "per_minute": numbers,
        },
    )
    | anything,
)
@example("backfill", {"from": "1970-01-01T00:00:00Z", "to": "2026-11-16T09:00:00Z"})
def test_any_call_on_a_schedule_gets_an_answer(call: str, body: Any):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        schedule_id = service.schedule().body["id"]
        response = service.on(schedule_id, call, written(body))
        if response.status >= 300:
            check_refusal(as_sent(response), response.status)


@given(
    st.text(letters, max_size=30) | st.sampled_from(["", "x", "preview"]),
    st.dictionaries(
        st.sampled_from(["limit", "cursor", "status", "namespace", "count", "x"]),
        st.text(max_size=20) | st.sampled_from(["1", "1794819600000#1", "1794819600000#0~1#0"]),
        max_size=3,
    ),
)
def test_any_path_and_query_get_an_answer(end: str, query: dict[str, str]):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        schedule_id = service.schedule().body["id"]
        for start in (f"/v1/schedules/{schedule_id}", f"/v1/schedules/{an_id()}", "/v1/schedules"):
            for path in (start, f"{start}/{end}", f"{start}/upcoming", f"{start}/ledger"):
                response = service.call("GET", path, query=query)
                if response.status != 200:
                    check_refusal(as_sent(response), response.status)
