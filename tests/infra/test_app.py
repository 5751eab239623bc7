"""app.py as the CDK's command line starts it: a template, or one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import CONTEXT, ROOT


def run(folder: Path, context: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    (folder / "cdk.json").write_text(json.dumps({"context": CONTEXT | context}))
    environment = os.environ | {"CDK_OUTDIR": str(folder / "cdk.out"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(ROOT / "app.py")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def handlers(**overrides: Any) -> dict[str, Any]:
    return {"folder": str(ROOT / "examples" / "handlers"), **overrides}


@pytest.mark.long
def test_stage_is_synthesized(tmp_path: Path):
    """The gate synthesizes both stages with the CDK's own command line."""
    done = run(tmp_path, {"stage": "prod", "handlers": handlers()})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "cdk.out" / "duetime-prod.template.json").is_file()
    known = json.loads((tmp_path / "cdk.context.json").read_text())
    assert known == {"duetime:shards:prod": 16}


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"stage": "prd"}, "There is no stage 'prd' in cdk.json; there are dev, prod."),
        (
            {"handlers": "nowhere"},
            "Stage 'dev' in cdk.json: handlers: there is no folder 'nowhere'.",
        ),
        (
            {"stages": {"dev": {"shards": 8}}, "handlers": handlers()},
            "Stage 'dev' in cdk.json: shards: 8 is less than the 16 in cdk.context.json",
        ),
        pytest.param(
            {"handlers": handlers(environment={"TEXT": "x" * 4_000})},
            "Stage 'dev' in cdk.json: the environment of executor-high has 4,",
            marks=pytest.mark.long,
        ),
    ],
)
def test_bad_context_stops_with_one_sentence(
    tmp_path: Path, context: dict[str, Any], sentence: str
):
    (tmp_path / "cdk.context.json").write_text('{"duetime:shards:dev": 16}')
    done = run(tmp_path, {"handlers": handlers()} | context)
    assert done.returncode == 1
    asides = ("b'", "Python 3.13 is needed")  # a banner about Node, a note on cold starts
    said = [line for line in done.stderr.splitlines() if line and not line.startswith(asides)]
    assert len(said) == 1
    assert said[0].startswith(sentence)
    assert not list(tmp_path.glob("cdk.out/*.template.json"))
