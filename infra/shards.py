"""A shard count only grows: tasks wait in every shard that was ever used.

The table itself holds to that whatever is deployed; but who lowers the number should learn so
before deploying. The largest count of each stage is kept in cdk.context.json, which belongs into
version control; `cdk context --reset duetime:shards:dev` forgets one that was never deployed.
"""

import json
from pathlib import Path

from infra.stage import BadStage, Stage

FILE = Path("cdk.context.json")


def keep_shards(stage: Stage, file: Path = FILE) -> None:
    known = json.loads(file.read_text()) if file.exists() else {}
    key = f"duetime:shards:{stage.name}"
    before = known.get(key, 0)
    if stage.shards < before:
        raise BadStage(
            f"Stage {stage.name!r} in cdk.json: shards: {stage.shards} is less than the {before}"
            f" in {file.name}, and a shard count only grows (if {before} was never deployed,"
            f" `cdk context --reset {key}` forgets it)."
        )
    if stage.shards > before:
        file.write_text(json.dumps(known | {key: stage.shards}, indent=2, sort_keys=True) + "\n")
