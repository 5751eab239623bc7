"""A bad schedule is refused with its field and the reason, and nothing is stored."""

from typing import Any

import pytest

from tests.api.service import EVERY_MINUTE, NOON, PYTHON, Service, refusal

CRON = {"type": "cron"}
RATE = {"type": "rate", "every": 60}
DELAY = {"type": "delay", "delay": 60}
AT_LEAST = "must be at least 1"
STRING = "must be a string"

REFUSED: list[tuple[dict[str, Any], dict[str, str]]] = [
    # which rule
    ({"rule": None}, {"rule": "required: give rule, or rules"}),
    ({"rule": NOON, "rules": [NOON]}, {"rules": "give rule or rules, not both"}),
    ({"rules": []}, {"rules": "must have at least 1 entry"}),
    ({"rules": [NOON] * 11}, {"rules": "must have at most 10 entries"}),
    ({"rule": []}, {"rule": "must be an object"}),
    ({"rule": {}}, {"rule.type": "required; one of 'cron', 'rate', 'delay'"}),
    ({"rule": {"type": "x"}}, {"rule.type": "must be one of 'cron', 'rate', 'delay'"}),
    ({"rules": [NOON, {}]}, {"rules.1.type": "required; one of 'cron', 'rate', 'delay'"}),
    ({"rules": [NOON, DELAY]}, {"rules": "a rule of type delay must be the only rule"}),
    (
        {"rule": DELAY, "exclude": [NOON]},
        {"exclude": "does not go with a rule of type delay"},
    ),
    # cron
    ({"rule": CRON}, {"rule.expression": "required"}),
    ({"rule": {**NOON, "x": 1}}, {"rule.x": "unknown field"}),
    ({"rule": {**NOON, "timezone": 1}}, {"rule.timezone": STRING}),
    (
        {"rule": {**NOON, "timezone": "Europe/Berln"}},
        {"rule.timezone": "'Europe/Berln' is not a time zone; did you mean Europe/Berlin?"},
    ),
    (
        {"rule": {**NOON, "timezone": "x" * 65}},
        {"rule.timezone": "must have at most 64 characters"},
    ),
    (
        {"rules": [NOON, {**NOON, "timezone": ""}]},
        {"rules.1.timezone": "'' is not a time zone; it takes an IANA name such as Europe/Berlin"},
    ),
    ({"rule": {**NOON, "dst": {"gap": "x"}}}, {"rule.dst.gap": "must be 'skip' or 'shift'"}),
    (
        {"rule": {**NOON, "dst": {"overlap": "x"}}},
        {"rule.dst.overlap": "must be 'first', 'last' or 'both'"},
    ),
    ({"rule": {**CRON, "expression": ""}}, {"rule.expression": "has 0 fields; "}),
    ({"rule": {**CRON, "expression": "x" * 1_001}}, {"rule.expression": "must have at most 1000"}),
    # rate, delay
    ({"rule": {"type": "rate", "every": 0.999}}, {"rule.every": AT_LEAST}),
    ({"rule": {"type": "rate", "every": 31_536_001}}, {"rule.every": "must be at most 31536000"}),
    ({"rule": {"type": "rate", "every": "60"}}, {"rule.every": "must be a number"}),
    ({"rule": {"type": "rate"}}, {"rule.every": "required"}),
    ({"rules": [NOON, {**RATE, "anchor": 1}]}, {"rules.1.anchor": "must be a string such as"}),
    (
        {"rules": [NOON, {**RATE, "anchor": "2036-11-14T00:00:00Z"}]},
        {"rules.1.anchor": "must be at most 10 years ahead"},
    ),
    (
        {"rule": {**RATE, "anchor": "2036-11-14T00:00:00Z"}},
        {"rule.anchor": "must be at most 10 years ahead"},
    ),
    ({"rule": {"type": "delay", "delay": 0.5}}, {"rule.delay": AT_LEAST}),
    ({"rule": {"type": "delay", "delay": 31_536_001}}, {"rule.delay": "must be at most 31536000"}),
    # exclusions
    ({"exclude": {}}, {"exclude": "must be a list"}),
    ({"exclude": [NOON] * 51}, {"exclude": "must have at most 50 entries"}),
    ({"exclude": [{}]}, {"exclude.0.type": "required; one of 'cron', 'dates'"}),
    ({"exclude": [RATE]}, {"exclude.0.type": "must be one of 'cron', 'dates'"}),
    ({"exclude": [{"type": "dates", "dates": []}]}, {"exclude.0.dates": "must have at least 1"}),
    (
        {"exclude": [{"type": "dates", "dates": ["2026-12-25"] * 367}]},
        {"exclude.0.dates": "must have at most 366 entries"},
    ),
    (
        {"exclude": [NOON, {"type": "dates", "dates": ["2026-02-30"]}]},
        {"exclude.1.dates": "'2026-02-30' is not a date like 2026-12-25"},
    ),
    (
        {"exclude": [{"type": "dates", "dates": ["2026-12-25"], "timezone": "Mars"}]},
        {"exclude.0.timezone": "'Mars' is not a time zone"},
    ),
    ({"exclude": [{**NOON, "dst": {"gap": "skip"}}]}, {"exclude.0.dst": "an exclusion follows"}),
    ({"exclude": [EVERY_MINUTE]}, {"exclude": "leaves out every fire time"}),
    # the rest
    ({"starts_at": "2036-11-14T00:00:00Z"}, {"starts_at": "must be at most 10 years ahead"}),
    ({"starts_at": "2026-12-01T00:00:00"}, {"starts_at": "must have an offset"}),
    (
        {"starts_at": "2027-01-02T00:00:00Z", "ends_at": "2027-01-01T00:00:00Z"},
        {"ends_at": "must be after starts_at"},
    ),
    (
        {"starts_at": "2027-01-01T00:00:00Z", "ends_at": "2027-01-01T00:00:00Z"},
        {"ends_at": "must be after starts_at"},
    ),
    ({"ends_at": "2026-11-16T09:00:00Z"}, {"ends_at": "must be in the future"}),
    ({"ends_at": "2026-11-16T12:00:00Z"}, {"ends_at": "must leave time for one run"}),
    ({"rule": DELAY, "ends_at": "2026-11-16T09:01:00Z"}, {"ends_at": "must leave time for one"}),
    ({"max_runs": 0}, {"max_runs": AT_LEAST}),
    ({"max_runs": 1.5}, {"max_runs": "must be a whole number"}),
    ({"jitter": -1}, {"jitter": "must be at least 0"}),
    ({"jitter": 3_601}, {"jitter": "must be at most 3600"}),
    ({"misfire": {"policy": "x"}}, {"misfire.policy": "must be 'run_once', 'run_all' or 'skip'"}),
    ({"misfire": {"grace": 86_401}}, {"misfire.grace": "must be at most 86400"}),
    ({"misfire": {"window": -1}}, {"misfire.window": "must be at least 0"}),
    ({"misfire": {"per_minute": 0}}, {"misfire.per_minute": AT_LEAST}),
    ({"misfire": {"per_minute": 6_001}}, {"misfire.per_minute": "must be at most 6000"}),
    ({"misfire": {"x": 1}}, {"misfire.x": "unknown field"}),
    ({"overlap": "x"}, {"overlap": "must be 'allow', 'skip', 'queue' or 'cancel'"}),
    ({"pause_on_failure": 0}, {"pause_on_failure": AT_LEAST}),
    ({"pause_on_failure": 101}, {"pause_on_failure": "must be at most 100"}),
    ({"name": "x" * 257}, {"name": "must have at most 256 characters"}),
    ({"name": 1}, {"name": STRING}),
    ({"x": 1, "id": "y"}, {"x": "unknown field", "id": "unknown field"}),
    # the task
    ({"task": None}, {"task": "must be an object"}),
    ({"task": {}}, {"task.target": "required"}),
    ({"task": {"target": {}}}, {"task.target.type": "required; one of 'http', 'python'"}),
    (
        {"task": {"target": {"type": "http", "url": "x"}}},
        {"task.target.url": "must be an http:// or https:// URL"},
    ),
    (
        {"task": {"target": {"type": "python", "handler": "x"}}},
        {"task.target.handler": "no handler 'x' is registered; known: reports.daily"},
    ),
    ({"task": {"target": PYTHON, "x": 1}}, {"task.x": "unknown field"}),
    ({"task": {"target": PYTHON, "timeout": 0}}, {"task.timeout": AT_LEAST}),
    ({"task": {"target": PYTHON, "retry": {"x": 1}}}, {"task.retry.x": "unknown field"}),
    ({"task": {"target": PYTHON, "tags": {"": "x"}}}, {"task.tags.": "the key must not be"}),
    ({"task": {"target": PYTHON, "tags": None}}, {"task.tags": "must be an object"}),
    ({"task": {"target": PYTHON, "namespace": "a b"}}, {"task.namespace": "must have only"}),
    *(
        ({"task": {"target": PYTHON, field: given}}, {f"task.{field}": said})
        for field, given, said in [
            ("run_at", None, "the rule says when; for the first time use starts_at"),
            ("delay", 1, "the rule says when: use a rule of type delay, or starts_at"),
            ("expires_at", None, "use misfire (grace, window) or ends_at of the schedule"),
            ("jitter", 1, "use jitter of the schedule"),
            ("idempotency_key", "x", "every fire time is one task"),
        ]
    ),
]


@pytest.mark.parametrize(("fields", "errors"), REFUSED, ids=[f"{f!r:.70}" for f, _ in REFUSED])
def test_bad_schedule_is_refused(service: Service, fields: dict[str, Any], errors: dict[str, str]):
    said = refusal(service.schedule(**fields))

    assert said.keys() == errors.keys()
    for field, start in errors.items():
        assert said[field].startswith(start)
    assert service.store.writes == []


BAD_FIELDS = [
    ("61 * * * *", 1, "minute: 61 is not from 0 to 59"),
    ("0  25 * * *", 4, "hour: 25 is not from 0 to 23"),
    ("0 0 * * funday", 9, "weekday: 'funday' is neither"),
]
NEVER = [("0 0 30 2 *", 5, "never fires"), ("0 0 31 4,6 *", 5, "never fires")]
EXPRESSIONS = [
    *((place, *bad) for place in ("rule", "rules.1") for bad in (*BAD_FIELDS, *NEVER)),
    *(("exclude.2", *bad) for bad in BAD_FIELDS),  # one that never matches does no harm
]


@pytest.mark.parametrize(("place", "expression", "position", "message"), EXPRESSIONS)
def test_error_in_an_expression_has_its_position(
    service: Service, place: str, expression: str, position: int, message: str
):
    bad = {"type": "cron", "expression": expression}
    fields: dict[str, Any] = {
        "rule": {"rule": bad},
        "rules.1": {"rules": [NOON, bad]},
        "exclude.2": {"exclude": [NOON, NOON, bad]},
    }[place]

    response = service.schedule(**fields)

    field = f"{place}.expression"
    [error] = response.body["errors"]
    assert (response.status, error["field"], error["position"]) == (422, field, position)
    assert error["message"].startswith(message)
    assert error["message"].endswith(f" (at position {position})")
    assert response.body["detail"] == f"{field}: {error['message']}"


def test_other_errors_have_no_position(service: Service):
    [error] = service.schedule(max_runs=0).body["errors"]

    assert error.keys() == {"field", "message"}


def test_a_schedule_that_starts_after_its_last_fire_time_never_fires(service: Service):
    """The first of January comes once a year, and not between these two."""
    rule = {"type": "cron", "expression": "0 0 1 1 *"}
    bounds = {"starts_at": "2027-02-01T00:00:00Z", "ends_at": "2027-12-31T00:00:00Z"}

    said = refusal(service.schedule(rule=rule, **bounds))

    assert said == {"ends_at": "must leave time for one run: it never fires"}


@pytest.mark.parametrize("body", [None, [], "x", 1])
def test_body_that_is_not_an_object_is_refused(service: Service, body: Any):
    assert refusal(service.call("POST", "/v1/schedules", body)) == {"body": "must be an object"}


def test_body_that_is_not_json_is_a_400(service: Service):
    assert service.call("POST", "/v1/schedules", b"{").status == 400


def test_a_payload_that_is_too_large_is_a_413(service: Service):
    response = service.schedule(task={"target": PYTHON, "payload": "x" * (256 * 1024)})

    assert (response.status, response.body["errors"][0]["field"]) == (413, "task.payload")


def test_a_schedule_that_is_too_large_as_a_whole_is_a_413(service: Service):
    days = {"type": "dates", "dates": ["2026-12-25"] * 366}
    task = {"target": PYTHON, "payload": "x" * (200 * 1024)}

    response = service.schedule(task=task, exclude=[days] * 50)

    assert (response.status, response.body["type"]) == (413, "urn:duetime:problem:too-large")
    assert service.store.writes == []


def test_a_query_is_refused(service: Service):
    response = service.call("POST", "/v1/schedules", {}, query={"x": "1"})

    assert refusal(response) == {"x": "unknown parameter"}
