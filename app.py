"""The CDK app: the entry point of `cdk synth` and `cdk deploy`. Makes no call to AWS."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from infra.bundle import Machine, make_bundles
from infra.context import read_stage
from infra.shard_guard import keep_shards
from infra.stack import DuetimeStack
from infra.stage import BadStage


def main() -> None:
    app = cdk.App(context=_context())
    try:
        stage = read_stage(app.node.try_get_context)
        machine = Machine.function(stage.architecture)
        bundles = make_bundles(stage.handlers, machine, traced=bool(stage.otel))
        keep_shards(stage)
        DuetimeStack(app, stage=stage, bundles=bundles, env=_environment())
    except BadStage as error:
        sys.exit(str(error))
    app.synth()


def _environment() -> cdk.Environment:
    return cdk.Environment(
        account=os.environ.get("CDK_DEFAULT_ACCOUNT"),
        region=os.environ.get("CDK_DEFAULT_REGION"),
    )


def _context() -> dict[str, Any] | None:
    """The CDK's command line passes cdk.json and `-c`; `python app.py` reads cdk.json itself."""
    if "CDK_CONTEXT_JSON" in os.environ:
        return None
    context: dict[str, Any] = json.loads(Path("cdk.json").read_text()).get("context", {})
    return context


if __name__ == "__main__":
    main()
