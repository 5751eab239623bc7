"""The definitions of runs. A definition never changes, so a process keeps those it has read."""

from collections import OrderedDict
from collections.abc import Collection, Iterable
from threading import Lock

from duetime.core.ports import Ports
from duetime.core.workflows.codec import decode_definition
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.ports import RunStore
from duetime.core.workflows.run import Run

MAX_KEPT = 64

_kept: OrderedDict[str, Definition] = OrderedDict()
_lock = Lock()


def run_store(ports: Ports) -> RunStore:
    if ports.runs is None:
        raise ValueError("this backend has no workflow runs")
    return ports.runs


def definitions_of(ports: Ports, runs: Iterable[Run]) -> dict[str, Definition]:
    """Returns the definitions of runs by digest. One that is missing is left out."""
    return definitions_by_digest(ports, {run.spec.digest for run in runs})


def definitions_by_digest(ports: Ports, digests: Collection[str]) -> dict[str, Definition]:
    """Returns the definitions that exist."""
    with _lock:
        found = {digest: _kept[digest] for digest in digests if digest in _kept}
    missing = [digest for digest in digests if digest not in found]
    if missing:
        texts = run_store(ports).definitions(missing)
        read = {digest: decode_definition(text) for digest, text in texts.items()}
        _keep(read)
        found |= read
    return found


def _keep(read: dict[str, Definition]) -> None:
    with _lock:
        _kept.update(read)
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
