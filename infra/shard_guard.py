"""The guard of the shard count, which can only grow: tasks wait in every shard ever used.

The table enforces this in any case, but the operator should learn it before a deployment. The
largest count of each stage is kept in cdk.context.json, which belongs in version control. To
reset a count that was never deployed: `npx aws-cdk@2.1147.0 context --reset duetime:shards:dev`.
"""

import json
from pathlib import Path
from typing import Any

from infra.stage import BadStage, Stage

FILE = Path("cdk.context.json")


def keep_shards(stage: Stage, file: Path = FILE) -> None:
    """Record the shard count of a stage. Raises BadStage if it is smaller than before."""
    known = _known(file)
    key = f"duetime:shards:{stage.name}"
    before = known.get(key, 0)
    if not isinstance(before, int):
        raise BadStage(f"In {file.name} {key} must be a whole number, not {before!r}.")
    if stage.shards < before:
        raise BadStage(
            f"Stage {stage.name!r} in cdk.json: shards: {stage.shards} is less than the {before}"
            f" in {file.name}, and a shard count only grows (if {before} was never deployed,"
            f" `npx aws-cdk@2.1147.0 context --reset {key}` resets it)."
        )
    if stage.shards > before:
        file.write_text(json.dumps(known | {key: stage.shards}, indent=2, sort_keys=True) + "\n")


def _known(file: Path) -> dict[str, Any]:
    try:
        known = json.loads(file.read_text()) if file.exists() else {}
    except ValueError as error:
        raise BadStage(f"{file.name} is not JSON: {error}.") from error
    if not isinstance(known, dict):
        raise BadStage(f"{file.name} must hold an object.")
    return known
