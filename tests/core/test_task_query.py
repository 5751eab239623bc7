"""The query language of task lists."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.field_values import moment
from duetime.core.lifecycle import Status
from duetime.core.task_query import MAX_IDS, MAX_QUERY, NOT_IN_LISTS, BadQuery, parse_query
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
        ("error:Http503", 1, "lists have no error; filter dead letters by error_type"),
    ],
)
def test_query_that_cannot_be_read_says_where(text: str, position: int, reason: str):
    with pytest.raises(BadQuery) as refused:
        parse_query(text, NOW)

    assert str(refused.value).startswith(reason)
    assert refused.value.position == position


@pytest.mark.parametrize("word", NOT_IN_LISTS)
def test_word_that_no_list_can_serve_says_what_does(word: str):
    with pytest.raises(BadQuery, match=r"^lists "):
        parse_query(f"{word}:x", NOW)


@given(st.text(max_size=60) | st.from_regex(r'([a-z]{1,8}:["a-zA-Z0-9:,* ]{0,9} ?){0,4}'))
def test_any_text_is_read_or_refused_at_a_position_in_it(text: str):
    refused, fields = None, {}
    try:
        fields = parse_query(text, NOW)
    except BadQuery as error:
        refused = error

    assert refused is None or 1 <= refused.position <= len(text) + 1
    assert set(fields.get("status", ())) <= set(Status)
    for name in {"created_since", "created_before"} & fields.keys():
        assert moment(fields[name]) >= 0
