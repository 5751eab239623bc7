"""`duetime quota`: one line for a namespace."""

import json
from typing import Any

import pytest

from duetime.cli.quota import _sentence


def test_quota_of_a_running_system(live: Any) -> None:
    assert live("quota").stdout == "default: no quota\n"
    assert json.loads(live("quota", "shop", "--json").stdout)["namespace"] == "shop"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"submissions_per_second": 0.5, "burst": 1}, "shop: 0.5 tasks a second, 1 at once"),
        ({"stored_tasks": 100_000, "stored": 4_711}, "shop: 4,711 of 100,000 stored"),
        ({"stored_tasks": 5, "stored": 0}, "shop: 0 of 5 stored"),
        ({"stored_tasks": 5}, "shop: ? of 5 stored"),
        (
            {"submissions_per_second": 1_000.0, "burst": 2_000, "stored_tasks": 5, "stored": 5},
            "shop: 1,000 tasks a second, 2,000 at once; 5 of 5 stored",
        ),
    ],
)
def test_sentence_has_the_limits_that_there_are(fields: Any, sentence: str) -> None:
    names = ("submissions_per_second", "burst", "stored_tasks", "stored")
    assert _sentence({"namespace": "shop", **dict.fromkeys(names), **fields}) == sentence
