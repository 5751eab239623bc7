from collections.abc import Sequence

from duetime.core.ports import Ports
from duetime.engine.followups import run_follow_ups


def run_follow_ups_by_id(ports: Ports, task_ids: Sequence[str]) -> int:
    return run_follow_ups(ports, list(ports.store.get(task_ids).values()))
