"""Stages and their synthesized templates. Every test here needs Node, as the CDK does."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aws_cdk")
if shutil.which("node") is None:
    pytest.skip("the CDK needs Node", allow_module_level=True)

import aws_cdk as cdk

from infra.bundle import Bundles
from infra.context import read_stage
from infra.stack import DuetimeStack
from infra.stage import Stage

ROOT = Path(__file__).parents[2]
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]

Synthesize = Callable[..., dict[str, Any]]


def a_stage(name: str = "dev", **overrides: Any) -> Stage:
    """Returns one of the stages in cdk.json, with some settings changed."""
    stages = CONTEXT["stages"] | {name: CONTEXT["stages"].get(name, {}) | overrides}
    return read_stage((CONTEXT | {"stage": name, "stages": stages}).get)


@pytest.fixture(scope="session")
def no_bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    """Empty bundles, for tests that do not run the functions."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "empty.py").touch()
    return Bundles(api=folder, executor=folder, roles=folder)


@pytest.fixture(scope="session")
def synthesize(no_bundles: Bundles) -> Synthesize:
    """Returns the template of a stage; the same settings are synthesized once."""
    known: dict[str, dict[str, Any]] = {}

    def synthesized(name: str = "dev", **overrides: Any) -> dict[str, Any]:
        key = json.dumps([name, overrides], sort_keys=True)
        if key not in known:
            app = cdk.App(context=CONTEXT)
            stack = DuetimeStack(app, stage=a_stage(name, **overrides), bundles=no_bundles)
            known[key] = app.synth().get_stack_by_name(stack.stack_name).template
        return known[key]

    return synthesized


@pytest.fixture(scope="session")
def dev(synthesize: Synthesize) -> dict[str, Any]:
    return synthesize("dev")


@pytest.fixture(scope="session")
def prod(synthesize: Synthesize) -> dict[str, Any]:
    return synthesize("prod", alarm_email="ops@example.com")


def of_type(template: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """Returns the properties of every resource of a type, by logical id."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


def one(template: dict[str, Any], kind: str, part: str = "") -> dict[str, Any]:
    """Returns the only resource of a type whose logical id contains `part`."""
    [found] = [p for name, p in of_type(template, kind).items() if part in name]
    return found


def resolved(variables: dict[str, Any]) -> dict[str, str]:
    """Returns the variables with the URL of the first queue in place of its reference."""

    def text(value: Any) -> str:
        match value:
            case {"Fn::Join": ["", parts]}:
                return "".join(map(text, parts))
            case {"Ref": "LanesHigh76CF11C1"}:
                return "https://sqs.example/123456789012/duetime-dev-high"
            case str():
                return value
        return "reference"

    return {name: text(value) for name, value in variables.items()}
