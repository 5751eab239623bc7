"""The alarms of the synthesized stack."""

from typing import Any

import aws_cdk as cdk
import pytest

from bench.billing.prices import read_prices
from duetime.core.lanes import Lane
from infra.bundle import Bundles
from infra.stack import DuetimeStack
from tests.infra.conftest import CONTEXT, Synthesize, a_stage, of_type, one

Template = dict[str, Any]

ESSENTIAL = {"no tick for 3 minutes", "functions are throttled"}


def alarmed(template: Template) -> dict[str, dict[str, Any]]:
    """Returns the alarms by name."""
    return {
        alarm["AlarmName"].partition(": ")[2]: alarm
        for alarm in of_type(template, "AWS::CloudWatch::Alarm").values()
    }


def test_prod_has_every_alarm(prod: Template):
    alarms = of_type(prod, "AWS::CloudWatch::Alarm").values()
    names = {alarm["AlarmName"].removeprefix("duetime-prod: ") for alarm in alarms}
    lanes = [str(lane) for lane in Lane]
    functions = ["api", "scanner", "relay", *(f"executor-{lane}" for lane in lanes)]
    assert names == {
        *ESSENTIAL,
        "the scanner is behind",
        "overdue tasks are held back",
        "failed ticks",
        "failed records",
        "the relay is behind",
        "the table is throttled",
        *(f"tasks died, {lane}" for lane in lanes),
        *(f"dead letters, {lane}" for lane in lanes),
        *(f"tasks start late, {lane}" for lane in lanes),
        *(f"messages wait, {lane}" for lane in lanes),
        *(f"errors, {function}" for function in functions),
    }
    allowed = [
        s
        for s in one(prod, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
        if s["Effect"] == "Allow"
    ]
    ours = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert [(s["Action"], s["Principal"], s["Condition"]) for s in allowed] == [
        ("sns:Publish", {"Service": "cloudwatch.amazonaws.com"}, ours)
    ]
    topic = {"Ref": next(iter(of_type(prod, "AWS::SNS::Topic")))}
    assert all(alarm["AlarmActions"] == [topic] for alarm in alarms)
    assert one(prod, "AWS::SNS::Subscription")["Endpoint"] == "ops@example.com"


def test_a_missing_tick_is_an_alarm_and_other_silence_is_none(prod: Template):
    alarms = of_type(prod, "AWS::CloudWatch::Alarm").values()
    silent = {a["AlarmName"]: a for a in alarms if a["TreatMissingData"] == "breaching"}
    [(name, tick)] = silent.items()
    assert name == "duetime-prod: no tick for 3 minutes"
    assert (tick["EvaluationPeriods"], tick["Threshold"]) == (3, 1)
    [ticks] = tick["Metrics"]
    assert ticks["MetricStat"]["Period"] == 60
    assert ticks["MetricStat"]["Metric"]["Namespace"] == "Duetime/prod"
    late = next(a for a in alarms if a["AlarmName"].endswith("tasks start late, high"))
    [drift] = late["Metrics"]
    assert (drift["MetricStat"]["Stat"], late["Threshold"]) == ("p99", 10_000)


def test_the_bill_has_the_number_of_metrics_in_alarms(prod: Template):
    assert len(looked_at(prod)) == read_prices().assumed["alarms"]


def looked_at(template: Template) -> list[Any]:
    """Returns the billed metrics: all but those computed from others."""
    alarms = alarmed(template).values()
    return [m for a in alarms for m in a.get("Metrics", [a]) if "Expression" not in m]


def test_one_slice_that_stops_is_an_alarm_too(synthesize: Synthesize):
    alarms = of_type(synthesize("prod", slices=4), "AWS::CloudWatch::Alarm").values()
    [threshold] = [a["Threshold"] for a in alarms if a["AlarmName"].endswith("for 3 minutes")]
    assert threshold == 4


def test_dev_has_only_the_essential_alarms(dev: Template):
    assert set(alarmed(dev)) == ESSENTIAL
    assert len(looked_at(dev)) == read_prices().assumed["essential_alarms"] == 7


def test_alarms_watch_the_scanners_lag_and_the_overdue_tasks_held_back(prod: Template):
    lag, held_back = (
        alarmed(prod)[name] for name in ("the scanner is behind", "overdue tasks are held back")
    )
    for alarm, metric, above, minutes in ((lag, "Lag", 120, 5), (held_back, "HeldBack", 0, 15)):
        [measure] = alarm["Metrics"]
        assert measure["MetricStat"]["Metric"]["MetricName"] == metric
        assert measure["MetricStat"]["Stat"] == "Maximum"  # of all slices
        assert (alarm["Threshold"], alarm["DatapointsToAlarm"]) == (above, minutes)
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"


@pytest.mark.parametrize("lane", Lane)
def test_an_alarm_goes_off_for_every_death(prod: Template, lane: Lane):
    alarm = alarmed(prod)[f"tasks died, {lane}"]
    [died] = alarm["Metrics"]
    assert died["MetricStat"]["Metric"]["MetricName"] == "Dead"
    assert (died["MetricStat"]["Stat"], died["MetricStat"]["Period"]) == ("Sum", 60)
    assert (alarm["EvaluationPeriods"], alarm["TreatMissingData"]) == (1, "notBreaching")


@pytest.mark.parametrize(
    ("name", "overrides", "warned"),
    [
        ("prod", {}, True),
        ("prod", {"alarm_email": "ops@example.com"}, False),
        ("prod", {"alarms": "none"}, False),
        ("dev", {}, False),
    ],
)
def test_alarms_without_an_email_address_are_a_warning(
    no_bundles: Bundles, name: str, overrides: dict[str, Any], warned: bool
):
    app = cdk.App(context=CONTEXT)
    stack = DuetimeStack(app, stage=a_stage(name, **overrides), bundles=no_bundles)
    said = [str(m.entry.data) for m in app.synth().get_stack_by_name(stack.stack_name).messages]
    assert any("set alarm_email in cdk.json" in text for text in said) is warned


def test_alarms_can_be_left_out(synthesize: Synthesize):
    template = synthesize("dev", alarms="none")
    assert of_type(template, "AWS::CloudWatch::Alarm") == {}
    assert of_type(template, "AWS::SNS::Topic") == {}


def test_an_alarm_on_a_sum_of_metrics_looks_at_late_minutes(prod: Template):
    late = [
        a
        for a in of_type(prod, "AWS::CloudWatch::Alarm").values()
        if any("Expression" in metric for metric in a.get("Metrics", []))
    ]
    assert len(late) == 2
    assert {(a["DatapointsToAlarm"], a["EvaluationPeriods"]) for a in late} == {(1, 5)}
