"""The Grafana dashboard and the alert rules: as the script writes them, about known metrics."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from duetime.core.lifecycle import FINISHED, Outcome
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.stats.histogram import BOUNDS
from duetime.core.times import SECOND
from duetime.local.prometheus.families import BUILD, FAMILIES, LEDGER, Kind

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "observability"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text())
RULES: dict[str, Any] = yaml.safe_load((FOLDER / "alerts.yml").read_text())

BY_NAME = {family.name: family for family in FAMILIES}
METRIC = re.compile(r"(duetime_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)=~?"([^"]*)"')
OF_HISTOGRAMS = ("_bucket", "_count", "_sum")


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def rules() -> list[dict[str, Any]]:
    [group] = RULES["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions() -> list[str]:
    queries = [target["expr"] for panel in panels() for target in panel["targets"]]
    return queries + [rule["expr"] for rule in rules()]


def used(expression: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields each metric of an expression, without the suffix of a histogram, and its matchers."""
    for name, matchers in METRIC.findall(expression):
        suffix = next((end for end in OF_HISTOGRAMS if name.endswith(end)), "")
        base = name.removesuffix(suffix)
        assert (base in BY_NAME and BY_NAME[base].kind is Kind.HISTOGRAM) == bool(suffix), name
        yield base, dict(MATCHER.findall(matchers))


def test_files_are_those_that_the_script_writes(tmp_path: Path):
    command = [sys.executable, str(ROOT / "scripts" / "write-observability"), str(tmp_path)]
    subprocess.run(command, check=True)

    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    stored = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert written == stored, "run scripts/write-observability"


@pytest.mark.parametrize("expression", expressions())
def test_expression_uses_metrics_and_labels_that_there_are(expression: str):
    found = list(used(expression))
    assert found
    for name, matchers in found:
        assert set(matchers) - {"le"} <= set(BY_NAME[name].labels), name
        if "le" in matchers:
            assert matchers["le"] in {str(bound / SECOND) for bound in BOUNDS}
        outcomes = {*LedgerOutcome} if name == LEDGER.name else {*Outcome}
        assert set(matchers["outcome"].split("|") if "outcome" in matchers else ()) <= outcomes
        assert set(matchers.get("status", "DEAD").split("|")) <= set(FINISHED)
    for opened, closed in ("()", "{}", "[]"):
        assert expression.count(opened) == expression.count(closed)


def test_dashboard_shows_every_metric():
    shown = {n for p in panels() for target in p["targets"] for n, _ in used(target["expr"])}

    assert set(BY_NAME) - shown == {BUILD.name}


def test_counters_are_shown_as_rates():
    for expression in expressions():
        for name, _ in used(expression):
            if BY_NAME[name].kind is not Kind.GAUGE:
                assert re.search(rf"(rate|increase)\({name}", expression), expression


def test_panels_do_not_overlap():
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y)
        for at in places
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


def test_each_rule_says_what_is_wrong_and_how_urgent_it_is():
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[smh]", rule["for"])
        assert rule["labels"]["severity"] in ("page", "warn")
        assert rule["annotations"]["summary"].endswith(".")
