"""The query language of task lists."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.field_values import moment
from duetime.core.lifecycle import Status
from duetime.core.task_query import MAX_ERROR_TYPE, MAX_IDS, MAX_QUERY, BadQuery, parse_query
from duetime.core.times import DAY, HOUR, MINUTE, rfc3339
from tests.factories import NOW, an_id

ID, OTHER = an_id(), an_id()


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", {}),
        ("  \n ", {}),
        ("status:DEAD,retrying", {"status": ["DEAD", "RETRYING"]}),
        ("handler:shop.restock", {"handler": "shop.restock"}),
        ("ns:shop schedule:01M7", {"namespace": "shop", "schedule_id": "01M7"}),
        ("ns:*", {"namespace": "*"}),
        ("target:http", {"target": "http"}),
        ("tag.team:growth tag.a.b:c:d", {"tag": ["team:growth", "a.b:c:d"]}),
        ("tag.team:* tag:eu tag:x:y", {"tag": ["team", "eu", "x:y"]}),
        ('tag."my team":"growth, eu"', {"tag": ["my team:growth, eu"]}),
        (ID, {"id": [ID]}),
        (f"id:{ID},{OTHER} status:DEAD", {"id": [ID, OTHER], "status": ["DEAD"]}),
        ("restock", {"name": "restock"}),
        ('name:"restock all: now"', {"name": "restock all: now"}),
        ('"restock all: now"', {"name": "restock all: now"}),
        ("since:24h", {"created_since": rfc3339(NOW - DAY)}),
        (
            "since:1h30m until:90",
            {
                "created_since": rfc3339(NOW - HOUR - 30 * MINUTE),
                "created_before": rfc3339(NOW - 90_000),
            },
        ),
        ("since:2026-11-16T09:00:00+01:00", {"created_since": "2026-11-16T08:00:00.000Z"}),
        ("since:99999d", {"created_since": rfc3339(0)}),
        ("lane:low,batch/high", {"lane": ["low", "batch/high"]}),
        (f"run:{ID}", {"run_id": ID}),
        ("error:Http503 key:order-17", {"error_type": "Http503", "with_key": "order-17"}),
        ("due:1h", {"due_since": rfc3339(NOW), "due_before": rfc3339(NOW + HOUR)}),
        ("due:-1h", {"due_since": rfc3339(NOW - HOUR), "due_before": rfc3339(NOW)}),
        ("due:..1h", {"due_before": rfc3339(NOW + HOUR)}),
        (
            "due:-1h..2026-11-30T09:00:00+01:00",
            {"due_since": rfc3339(NOW - HOUR), "due_before": "2026-11-30T08:00:00.000Z"},
        ),
        ("due:9999999d..", {"due_since": "9999-12-31T23:59:59.999Z"}),
    ],
)
def test_query_has_the_fields_of_the_filter(text: str, fields: dict[str, Any]):
    assert parse_query(text, NOW) == fields


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("status:DEAD colour:red", 13, "unknown word 'colour'; known: status, id, ns"),
        ("Status:DEAD", 1, "unknown word; known"),
        ("https://example.com", 1, "unknown word 'https'"),
        ("status:DEAD,GONE", 8, "status: 'GONE' is not one of PENDING"),
        ("ns:shop handler:a/b", 17, "handler: must be 1 to 128 letters"),
        ("target:smtp", 8, "target: must be one of"),
        ("id:17", 4, "id: must be the id of a task"),
        (f"id:{','.join([ID] * (MAX_IDS + 1))}", 4, "id: must be at most"),
        ("status:", 8, "status: needs a value"),
        ('name:""', 6, "name: needs a value"),
        ("since:yesterday", 7, "since: must be an RFC 3339 time such as"),
        ("since:2026-11-16T09:00:00", 7, "since: must have an offset"),
        ("ns:a ns:b", 6, "the namespace is given twice"),
        ("restock all", 9, "the name is given twice; put text with spaces in double quotes"),
        ('name:"restock', 6, 'the " is not closed'),
        ("x" * (MAX_QUERY + 1), MAX_QUERY + 1, "must have at most 1000 characters"),
        ("lane:high,slow", 6, "lane: must be one of high, medium, low, or of a pool"),
        (f"error:{'x' * (MAX_ERROR_TYPE + 1)}", 7, "error: must have at most 256"),
        ("run:17", 5, "run: must be the id of a run"),
        ("key:a/b", 5, "key: must be 1 to 128"),
        ("due:soon", 5, "due: must be an RFC 3339 time such as"),
        ("due:..", 5, "due: needs a time before or after the dots"),
        ("due:1h due:2h", 8, "the due_since is given twice"),
    ],
)
def test_query_that_cannot_be_read_says_where(text: str, position: int, reason: str):
    with pytest.raises(BadQuery) as refused:
        parse_query(text, NOW)

    assert str(refused.value).startswith(reason)
    assert refused.value.position == position


@given(st.text(max_size=60) | st.from_regex(r'([a-z]{1,8}:["a-zA-Z0-9:,* ]{0,9} ?){0,4}'))
def test_any_text_is_read_or_refused_at_a_position_in_it(text: str):
    refused, fields = None, {}
    try:
        fields = parse_query(text, NOW)
    except BadQuery as error:
        refused = error

    assert refused is None or 1 <= refused.position <= len(text) + 1
    assert set(fields.get("status", ())) <= set(Status)
    for name in {"created_since", "created_before", "due_since", "due_before"} & fields.keys():
        assert moment(fields[name]) >= 0
