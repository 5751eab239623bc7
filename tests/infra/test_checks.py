"""The stack, checked by cdk-nag and cfn-lint."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks
from cfnlint import ManualArgs
from cfnlint.api import lint

from infra.bundle import Bundles
from infra.stack import DuetimeStack
from tests.infra.conftest import CONTEXT, Synthesize, a_stage
from tests.infra.test_fargate_pool import IMAGE, POOLS
from tests.infra.test_stage import JWT, STREAM
from tests.infra.test_target_permissions import TARGETS

NETWORK = {"vpc": {"id": "vpc-0a1b2c3d", "subnets": ["subnet-0a1b2c3d"]}}
CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/abc"
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("dev", {}),
    ("prod", {"alarm_email": "ops@example.com"}),
    ("dev", {"pools": POOLS, "secrets": ["stripe"]}),
    ("prod", {"shards": 64, "slices": 12, "handlers": NETWORK, "tracing": True}),
    (
        "prod",
        {
            "table_stream_arn": STREAM,
            "batch_size": {"low": 1},
            "archive": "our-archive",
            "objects": "our-objects",
            "targets": TARGETS,
        },
    ),
    ("dev", {"archive": True, "objects": True}),
    (
        "prod",
        {
            "objects": True,
            "targets": TARGETS,
            "pools": {
                "gpu": {"max_timeout": 60, "fargate": {"image": IMAGE, "vpc": NETWORK["vpc"]}},
                "own": {"max_timeout": 604_800},
            },
        },
    ),
    ("prod", {"live": True, "cors_origins": ["https://ops.example.com"]}),
    (
        "prod",
        {
            "jwt": JWT | {"scopes": {"read": "duetime/read", "operate": "duetime/operate"}},
            "warm_writes": 12_000,
            "cors_origins": ["https://app.example.com"],
            "domain": {"name": "tasks.example.com", "certificate": CERTIFICATE},
        },
    ),
]

every_variant = pytest.mark.parametrize(
    ("name", "overrides"),
    [*VARIANTS[:3], *(pytest.param(*other, marks=pytest.mark.long) for other in VARIANTS[3:])],
)


@every_variant
def test_cdk_nag_finds_nothing_that_is_not_acknowledged(
    name: str, overrides: dict[str, Any], no_bundles: Bundles, tmp_path: Path
):
    app = cdk.App(context=CONTEXT, outdir=str(tmp_path))
    DuetimeStack(app, stage=a_stage(name, **overrides), bundles=no_bundles)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    assert json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"] == []


@every_variant
def test_cfn_lint_finds_nothing(name: str, overrides: dict[str, Any], synthesize: Synthesize):
    """W3005: the CDK names dependencies that a reference already makes."""
    found = lint(
        json.dumps(synthesize(name, **overrides)), config=ManualArgs(ignore_checks=["W3005"])
    )
    assert [str(match) for match in found] == []
