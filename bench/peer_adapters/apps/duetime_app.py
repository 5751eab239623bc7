"""Duetime over HTTP: batches of 100 over two connections."""

import json
import os
import threading
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import Any

BATCH, CONNECTIONS = 100, 2
PORT = int(os.environ["PEER_PORT"])


def submit_noops(count: int) -> None:
    _submit([_task("peers.noop")] * count)


def submit_stamps(due: list[float]) -> None:
    _submit(
        [
            _task("peers.stamp", {"number": number}, datetime.fromtimestamp(at, UTC).isoformat())
            for number, at in enumerate(due)
        ]
    )


def submit_naps(count: int, seconds: float) -> None:
    _submit([_task("peers.nap", {"number": n, "seconds": seconds}) for n in range(count)])


def _task(handler: str, payload: Any = None, run_at: str | None = None) -> dict[str, Any]:
    task = {"target": {"type": "python", "handler": handler}, "payload": payload}
    return {**task, "run_at": run_at} if run_at else task


def _submit(tasks: list[dict[str, Any]]) -> None:
    batches = iter([tasks[begin : begin + BATCH] for begin in range(0, len(tasks), BATCH)])
    taking = threading.Lock()
    failures: list[str] = []

    def submit() -> None:
        connection = HTTPConnection("127.0.0.1", PORT, timeout=60)
        while not failures:
            with taking:
                if (batch := next(batches, None)) is None:
                    return
            body = json.dumps({"tasks": batch}).encode()
            headers = {"content-type": "application/json"}
            connection.request("POST", "/v1/tasks/batch", body, headers)
            response = connection.getresponse()
            answer = response.read()
            if response.status >= 300:
                failures.append(f"{response.status}: {answer[:300]!r}")

    def guarded() -> None:
        try:
            submit()
        except OSError as error:
            failures.append(str(error))

    threads = [threading.Thread(target=guarded) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(failures[0])
