"""The how-to pages deploy, operations and write-handlers describe the stack as it is."""

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from pydantic import BaseModel

from duetime.aws import schema
from duetime.core.lanes import Lane
from infra.bundle import Bundles
from infra.stack import DuetimeStack
from infra.stage import Stage
from tests.infra.conftest import CONTEXT, ROOT, a_stage, of_type
from tests.infra.test_alarms import alarmed, looked_at
from tests.infra.test_permissions import GRANTED

Template = dict[str, Any]

DEPLOY, OPERATIONS, HANDLERS = (
    (ROOT / "docs" / "how-to" / f"{name}.md").read_text()
    for name in ("deploy", "operations", "write-handlers")
)


def rows(text: str, section: str) -> list[list[str]]:
    """The cells of the tables in a section, without their heads."""
    after = text.partition(f"\n{section}\n")[2]
    assert after, section
    lines = re.split(r"\n#+ ", after)[0].splitlines()
    tables = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return tables[1:]


def shown(value: Any) -> str:
    if isinstance(value, BaseModel):
        return ", ".join(shown(part) for part in value.model_dump().values())
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"`{value}`" if isinstance(value, str) else "none"


def test_deploy_page_has_the_default_of_every_setting():
    documented = {}
    for names, default, *_ in rows(DEPLOY, "## Settings"):
        overrides = re.findall(r"`(\w+)`", names)
        defaults = [default] if len(overrides) == 1 else default.split(", ")
        documented |= dict(zip(overrides, defaults, strict=True))
    stage = Stage(name="x")
    assert documented == {n: shown(getattr(stage, n)) for n in Stage.model_fields if n != "name"}


def test_operations_page_explains_every_alarm_and_no_other(prod: Template):
    documented = {row[0].replace(", *function*", "") for row in rows(OPERATIONS, "## Alarms")}
    made = {name.partition(",")[0] for name in alarmed(prod)}
    assert documented == made


def test_deploy_page_counts_the_metrics_that_alarms_look_at(dev: Template, prod: Template):
    both = f"`all` looks at {len(looked_at(prod))}, `essential` at {len(looked_at(dev))}"
    assert both in DEPLOY


def test_examples_of_what_a_lane_carries_are_computed_right():
    examples = rows(DEPLOY, "### What a lane carries")
    assert len(examples) == len(Lane)
    for lane, (named, _, *sums) in zip(Lane, examples, strict=True):
        assert named == f"`{lane}`, {a_stage('prod').at_once(lane)}"
        for at_once, batch, wait, took, stated in (_parsed(text) for text in sums):
            assert at_once == a_stage("prod").at_once(lane)
            assert at_once * batch / (wait + took) == pytest.approx(stated, rel=0.03)


def _parsed(text: str) -> list[float]:
    """60 × 10 ÷ (2 + 0.1) = 286"""
    found = re.match(r"(\d+) × (\d+) ÷ (?:\(([\d.]+) \+ )?([\d.]+)\)? = ([\d,.]+)", text)
    assert found, text
    return [float((part or "0").replace(",", "")) for part in found.groups()]


def test_policy_for_ci_lets_the_cdk_deploy(no_bundles: Bundles, tmp_path: Path):
    [text] = [t for t in re.findall(r"```json\n(.*?)```", DEPLOY, re.DOTALL) if "sts:Assume" in t]
    allowed = json.loads(text)["Statement"][0]["Resource"]
    environment = cdk.Environment(account="123456789012", region="eu-central-1")
    app = cdk.App(context=CONTEXT, outdir=str(tmp_path))
    DuetimeStack(app, stage=a_stage(), bundles=no_bundles, env=environment)
    app.synth()
    assumed = set()
    for file in ("manifest.json", "duetime-dev.assets.json"):
        roles = re.findall(r'"assumeRoleArn": "([^"]+)"', (tmp_path / file).read_text())
        assumed |= {arn.replace("${AWS::Partition}", "aws") for arn in roles}
    needed = {arn for arn in assumed if "lookup-role" not in arn}  # nothing is looked up
    assert len(needed) == 2
    assert all(any(fnmatch(arn, pattern) for pattern in allowed) for arn in needed)


def test_restored_table_gets_the_settings_of_a_new_one(prod: Template):
    [commands] = [
        t for t in re.findall(r"```sh\n(.*?)```", OPERATIONS, re.DOTALL) if "restore-" in t
    ]
    [table] = of_type(prod, "AWS::DynamoDB::Table").values()
    assert f"AttributeName={table['TimeToLiveSpecification']['AttributeName']}\n" in commands
    assert table["TimeToLiveSpecification"]["AttributeName"] == schema.REMOVE_AFTER
    assert f"StreamViewType={table['StreamSpecification']['StreamViewType']}" in commands
    assert "PointInTimeRecoveryEnabled=true" in commands
    assert "--deletion-protection-enabled" in commands


def test_write_handlers_page_lists_what_a_role_may_do_to_the_table():
    [row, *_] = rows(HANDLERS, "## What it may touch on AWS")
    documented = set(re.findall(r"`(\w+)`", row[0]))
    granted = {action for action, on in GRANTED["executor-low"] if on == "table"}
    assert {f"dynamodb:{action}" for action in documented} == granted


def test_operations_page_promises_no_reserved_concurrency(prod: Template):
    assert "reserved concurrency" not in OPERATIONS
    assert "ReservedConcurrentExecutions" not in json.dumps(prod)


def test_secrets_page_has_a_stage_that_is_valid():
    page = (ROOT / "docs" / "how-to" / "secrets-and-signatures.md").read_text()
    [block] = [b for b in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if "stages" in b]
    [given] = json.loads(f"{{{block}}}")["stages"].values()

    assert a_stage("prod", **given).secrets == ["stripe", "shop-hook", "slack-hook"]
