"""GET /metrics: what Prometheus reads is what the runner has counted."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from duetime.api.http import Problem, Request
from duetime.api.lanes import LaneActivity
from duetime.api.stats import Vitals
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import Rate
from duetime.core.limits.rate import RateKey, SlotRequest
from duetime.core.limits.slots import Line, Place
from duetime.core.metrics import ChangeMetrics
from duetime.core.metrics import Path as TaskPath
from duetime.core.ports import Ports
from duetime.core.recurrence.rules import RateRule, Recurrence
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.times import HOUR, SECOND
from duetime.duration_counts import DurationCounts
from duetime.engine.clock import SystemRandom
from duetime.local.counted_ports import PortCounts
from duetime.local.live_hub import LiveHub
from duetime.local.prometheus.families import FAMILIES, Kind
from duetime.local.prometheus.page import MetricsPage
from duetime.local.prometheus.samples import RunnerSamples
from duetime.local.stats import RunnerStats
from duetime.local.vitals import Ticks
from duetime.scanner.report import TickReport
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, WAKE_POLICY, SteppedClock, a_schedule, a_sent_task, a_task
from tests.local.test_activity import a_change

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class Scraped:
    """The parts of a runner behind its metrics."""

    def __init__(self, path: Path) -> None:
        self.clock = SteppedClock()
        self.store = SqliteTaskStore(path)
        self.lanes = MemoryLaneQueue(self.clock)
        self.stats = RunnerStats(self.store.stats())
        self.ticks = Ticks()
        self.activity = {Queue(lane): LaneActivity(running=0, promoted=0) for lane in Lane}
        self.vitals = Vitals()
        ports = Ports(
            store=self.store,
            schedules=self.store.schedules(self.clock),
            limits=self.store.limits(),
            lanes=self.lanes,
            wake_policy=WAKE_POLICY,
            clock=self.clock,
            chance=SystemRandom(),
            slots=self.store.slots(),
            rates=self.store.rates(),
        )
        self.counts = PortCounts()
        self.submissions = DurationCounts()
        self.live = LiveHub(self.clock, lambda: [], lambda: 0.0)
        self.ports = self.counts.counted(ports)
        self.page = MetricsPage(
            RunnerSamples(
                stats=self.stats,
                ticks=self.ticks,
                ports=ports,
                lanes=lambda: self.activity,
                vitals=lambda: self.vitals,
                slots=100,
                version="9.9.9",
                counts=self.counts,
                submissions=self.submissions,
                live=self.live,
                store=self.store.figures,
            )
        )

    def text(self, **headers: str) -> str:
        request = Request(method="GET", path="/metrics", headers=headers)
        return self.page.respond(request).encoded().decode()

    def values(self) -> Values:
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(self.text())
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float:
        return self.values()[name, tuple(sorted(labels.items()))]

    def wait_for_limit(self) -> None:
        line, place = Line(namespace="shop", limit="stripe", key=""), Place(position=1, task_id="t")
        assert self.ports.slots
        self.ports.slots.join([(line, place), (replace(line, limit=None), place)])

    def count(self, **fields: object) -> None:
        metrics = ChangeMetrics(**{"lane": Lane.HIGH, "at": NOW, **fields})  # type: ignore[arg-type]
        self.stats._counter.add(metrics)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Scraped]:
    scraped = Scraped(tmp_path / "duetime.db")
    with closing(scraped.store):
        yield scraped


def test_every_family_of_the_list_is_scraped_with_its_labels(runner: Scraped):
    runner.vitals = Vitals(
        tick_age_seconds=1, cursor_lag_seconds=0, held_back=0, relay_age_seconds=0
    )
    runner.store.schedules(runner.clock).put([a_schedule()])
    runner.wait_for_limit()
    families = {f.name: f for f in text_string_to_metric_families(runner.text())}

    for family in FAMILIES:
        found = families[family.name.removesuffix("_total")]
        assert (found.type, found.documentation) == (family.kind.value, family.text)
        for sample in found.samples:
            assert set(sample.labels) - {"le"} == set(family.labels), family.name
    assert len(families) == len(FAMILIES)


def test_names_follow_the_conventions_and_labels_stay_few():
    for family in FAMILIES:
        assert re.fullmatch(r"duetime_[a-z_]+", family.name)
        assert family.name.endswith("_total") is (family.kind is Kind.COUNTER)
        assert (family.kind is Kind.HISTOGRAM) <= family.name.endswith("_seconds")
        assert set(family.labels) <= {
            *("lane", "path", "status", "outcome", "result", "limit", "version"),
        }


def test_counters_have_what_was_counted(runner: Scraped):
    runner.count(submitted=TaskPath.FAST)
    for _ in range(2):
        runner.count(outcome=Outcome.SUCCEEDED, end=Status.SUCCEEDED)
    runner.count(lane=Lane.LOW, outcome=Outcome.FAILED, end=Status.DEAD)

    assert runner.value("duetime_tasks_submitted_total", lane="high", path="fast") == 1
    assert runner.value("duetime_attempts_total", lane="high", outcome="succeeded") == 2
    assert runner.value("duetime_tasks_finished_total", lane="low", status="DEAD") == 1
    assert runner.value("duetime_tasks_finished_total", lane="medium", status="DEAD") == 0


def test_counters_grow_over_scrapes_and_flushes(runner: Scraped):
    for count in range(1, 4):
        runner.count(end=Status.EXPIRED)
        runner.stats.flush()
        name, labels = "duetime_tasks_finished_total", {"lane": "high", "status": "EXPIRED"}
        assert runner.value(name, **labels) == count


def test_histograms_are_cumulative_in_seconds(runner: Scraped):
    for drift in (3, 700, 70_000):
        runner.count(outcome=Outcome.SUCCEEDED, drift_ms=drift, duration_ms=20, known_ahead=True)

    for name in ("duetime_task_drift_seconds", "duetime_planned_drift_seconds"):
        found = {
            bound: runner.value(f"{name}_bucket", lane="high", le=bound)
            for bound in ("0.002", "0.005", "1.0", "60.0", "+Inf")
        }
        assert found == {"0.002": 0, "0.005": 1, "1.0": 2, "60.0": 2, "+Inf": 3}
        assert runner.value(f"{name}_sum", lane="high") == pytest.approx(70.703)
        assert runner.value(f"{name}_count", lane="high") == 3
    assert runner.value("duetime_attempt_duration_seconds_sum", lane="high") == pytest.approx(0.06)


def test_lanes_show_their_depth_age_and_attempts(runner: Scraped):
    task = a_sent_task()
    runner.lanes.send([delivery_of(task, NOW)], NOW)
    runner.activity[task.queue] = LaneActivity(running=3, promoted=2)
    runner.clock.advance(task.due_at - NOW + 5 * SECOND)

    labels = {"lane": task.lane.value}
    assert runner.value("duetime_lane_depth", **labels) == 1
    assert runner.value("duetime_lane_oldest_seconds", **labels) == 5
    assert runner.value("duetime_lane_running", **labels) == 3
    assert runner.value("duetime_tasks_promoted_total", **labels) == 2
    assert runner.value("duetime_slots") == 100


def test_ticks_are_summed(runner: Scraped):
    for took in (4, 40):
        claims = Counter({Queue(Lane.HIGH): 5})
        runner.ticks.add(TickReport(claims=claims, lost_claims=claims, set_aside=1, took=took))

    assert runner.value("duetime_claims_total", lane="high", result="won") == 10
    assert runner.value("duetime_claims_total", lane="high", result="lost") == 10
    assert runner.value("duetime_set_aside_total") == 2
    assert runner.value("duetime_tick_duration_seconds_count") == 2
    assert runner.value("duetime_tick_duration_seconds_sum") == pytest.approx(0.044)


def test_tasks_that_wait_for_a_limit_are_counted_by_its_name(runner: Scraped):
    key = RateKey(namespace="shop", name="mail", key="")
    rate = Rate(count=1, period=SECOND, burst=2)
    requests = [
        SlotRequest(key=key, rate=rate, count=5, asked_at=NOW),
        SlotRequest(key=key, rate=rate, count=5, asked_at=NOW, at_once=True),  # skipped instead
    ]
    assert runner.ports.rates
    runner.ports.rates.reserve(requests)
    runner.wait_for_limit()
    runner.wait_for_limit()

    assert runner.value("duetime_limit_deferred_total", limit="mail") == 2  # three start at once
    assert runner.value("duetime_limit_deferred_total", limit="stripe") == 2


def test_fire_times_are_counted_by_what_became_of_them(runner: Scraped):
    run = a_change(after=Status.RUNNING, attempt=1, occurrence_of="daily")
    skipped = a_change(after=Status.CANCELLED, attempt=0, reason="overlap", occurrence_of="daily")
    for change in (
        run,
        replace(run, attempt=2),  # a retry
        replace(run, occurrence_of=None),
        skipped,
        replace(skipped, reason=None),  # by a person
        replace(skipped, attempt=1),
    ):
        runner.counts.notify(change)
    hourly = Recurrence(rules=(RateRule(every=HOUR, anchor=NOW),))
    row = LedgerRow(
        schedule_id="s", fire_time=NOW, version=1, outcome=LedgerOutcome.FIRED, task_id="t"
    )
    span = LedgerSpan(
        schedule_id="s",
        start=NOW,
        until=NOW + 3 * HOUR,
        outcome=LedgerOutcome.PAUSED,
        recurrence=hourly,
    )
    broken = replace(row, outcome=LedgerOutcome.BROKEN, task_id=None)
    runner.ports.schedules.write_ledger([row, span, broken], NOW)

    found = {
        outcome.value: runner.value("duetime_ledger_total", outcome=outcome)
        for outcome in LedgerOutcome
    }
    assert found == {
        **{"fired": 1, "skipped_overlap": 1, "skipped_misfire": 0},
        **{"paused": 3, "broken": 1},
    }


def test_transactions_and_submissions_are_timed(runner: Scraped):
    before = runner.value("duetime_store_commit_seconds_count")
    runner.store.put([a_task()])
    runner.submissions.add(0.003, 4)

    assert runner.value("duetime_store_commit_seconds_count") == before + 1
    assert runner.value("duetime_store_commit_seconds_sum") > 0
    assert runner.value("duetime_submit_duration_seconds_count") == 4
    assert runner.value("duetime_submit_duration_seconds_bucket", le="0.005") == 4
    assert runner.value("duetime_submit_duration_seconds_sum") == pytest.approx(0.012)


def test_store_shows_dead_letters_schedules_and_its_size(runner: Scraped):
    runner.store.put([a_task(status=Status.DEAD, wake=None) for _ in range(2)])
    runner.store.schedules(runner.clock).put([a_schedule(), a_schedule()])

    assert runner.value("duetime_dead_letters") == 2
    assert runner.value("duetime_schedules", status="active") == 2
    assert runner.value("duetime_store_bytes") >= 4_096


def test_vitals_that_are_unknown_are_left_out(runner: Scraped):
    names = {name for name, _ in runner.values()}
    assert "duetime_tick_age_seconds" not in names

    runner.vitals = Vitals(tick_age_seconds=14, held_back=3)
    assert runner.value("duetime_tick_age_seconds") == 14
    assert runner.value("duetime_held_back") == 3


def test_scraper_that_asks_for_openmetrics_gets_it(runner: Scraped):
    accept = "application/openmetrics-text; version=1.0.0"
    assert runner.text(accept=accept).endswith("# EOF\n")
    assert not runner.text().endswith("# EOF\n")


def test_metrics_are_read_with_get_only(runner: Scraped):
    with pytest.raises(Problem) as refused:
        runner.page.respond(Request(method="POST", path="/metrics"))

    assert (refused.value.status, refused.value.headers) == (405, {"allow": "GET"})


def test_missing_extra_is_a_501_that_says_what_to_install():
    code = """
import sys
sys.modules["prometheus_client"] = None
from duetime.api.http import Problem, Request
from duetime.local.prometheus.page import MetricsPage
try:
    MetricsPage(lambda: ()).respond(Request(method="GET", path="/metrics"))
except Problem as problem:
    print(problem.status, problem.body["detail"])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == (
        "501 What writes metrics for Prometheus is not installed: pip install 'duetime[metrics]'.\n"
    )


def test_runner_does_not_import_prometheus_before_the_first_scrape():
    code = """
import sys
import duetime.local.runner
from duetime.local.interpreter import import_lazy_modules

import_lazy_modules()
print('prometheus_client' in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"
