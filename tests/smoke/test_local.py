"""`duetime local` as a user starts it: the one place where a test waits for the clock."""

import asyncio
import json
import signal
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from duetime import AsyncClient
from tests.running import PATIENCE, Runner, free_port, running, until
from tests.sink import Answer, a_sink

MANY = 300
HELLO = {"type": "python", "handler": "duetime.hello"}
RARELY = {"submissions_per_second": 0.01}


@pytest.fixture
def port() -> int:
    return free_port()


def test_tasks_run_on_time_and_ctrl_c_drains(tmp_path: Path, port: int):
    with a_sink() as sink, running(tmp_path / "data", port) as runner:
        due = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
        hello = runner.submit(target=HELLO, payload={"name": "Ada"}, run_at=due)
        target = {"type": "http", "url": f"{sink.url}/hook"}
        hook = runner.submit(target=target, payload={"n": 1}, delay=1)
        until(lambda: runner.ids("SUCCEEDED") == {hello, hook})

        assert runner.task(hello)["result"] == "Hello, Ada!"
        assert [asked.json for asked in sink.asked] == [{"n": 1}]
        assert sink.asked[0].headers["Idempotency-Key"] == hook
        for task_id in (hello, hook):
            assert runner.task(task_id)["drift_ms"] >= 0, (
                "never early; how late, bench/drift.py says"
            )

        code, said = runner.end(signal.SIGINT)

    assert code == 0, said
    assert "INFO duetime.runner runner stopped\n" in said
    assert "Traceback" not in said


def test_runner_killed_in_the_middle_loses_no_task(tmp_path: Path, port: int):
    data = tmp_path / "data"
    with running(data, port) as runner:
        due = time.time() + 1
        bodies = [
            {
                "target": HELLO,
                "run_at": datetime.fromtimestamp(due + n / MANY, UTC).isoformat(),
                "retry": {"base_delay": 0.1},
            }
            for n in range(MANY)
        ]
        ids = set(runner.submit_many(bodies))
        until(lambda: len(runner.ids("SUCCEEDED")) > 0)
        code, _ = runner.end(signal.SIGKILL)
        assert code == -signal.SIGKILL

    with running(data, port) as runner:
        until(lambda: runner.ids("SUCCEEDED") == ids)
        code, said = runner.end(signal.SIGTERM)

    assert code == 0, said


def test_a_start_that_fails_is_explained_in_one_line(tmp_path: Path, port: int):
    with running(tmp_path / "data", port):
        same_port = Runner(tmp_path / "other", port)
        same_data = Runner(tmp_path / "data", free_port())
        code, said = same_port.wait()
        assert (code, f"cannot listen on 127.0.0.1:{port}" in said) == (1, True), said
        assert "Traceback" not in said
        code, said = same_data.wait()
        assert (code, "another Duetime is running on" in said) == (1, True), said
        assert "Traceback" not in said


def test_secret_reaches_its_host_alone_and_is_in_no_file_and_no_output(tmp_path: Path, port: int):
    value = "Bearer sk_live_hunter2"
    hosts = {"ours": ["127.0.0.1"], "other": ["api.example.com"]}
    file = tmp_path / "secrets.json"
    options = ("--secrets", str(file), "--log-level", "debug")
    with ExitStack() as stack:
        sink = stack.enter_context(a_sink())
        urls = {"ours-url": f"{sink.url}/hooks/hunter2", "other-url": "https://a.invalid/hunter2"}
        given = {name: {"value": value, "hosts": listed} for name, listed in hosts.items()}
        given |= {name: {"value": url, "hosts": ["127.0.0.1"]} for name, url in urls.items()}
        file.write_text(json.dumps(given))
        file.chmod(0o600)
        runner = stack.enter_context(running(tmp_path / "data", port, *options))
        sink.answer = Answer(body=value.encode())
        ours, other = (
            runner.submit(
                target={"type": "http", "url": sink.url, "headers": {"X-Key": {"$secret": name}}}
            )
            for name in hosts
        )
        until(lambda: (runner.ids("SUCCEEDED"), runner.ids("DEAD")) == ({ours}, {other}))
        sink.answer = Answer(body=b"/hooks/hunter2")
        our_url, other_url = (
            runner.submit(target={"type": "http", "url": {"$secret": name}}) for name in urls
        )
        until(lambda: runner.ids("SUCCEEDED") == {ours, our_url})
        until(lambda: runner.ids("DEAD") == {other, other_url})
        shown = [runner.task(task_id) for task_id in (ours, other, our_url, other_url)]
        code, said = runner.end(signal.SIGINT)

    assert [asked.headers["X-Key"] for asked in sink.asked] == [value, None]
    assert sink.asked[1].path.endswith("/hooks/hunter2")
    assert [task["result"]["body"] for task in shown[::2]] == ["***", "***"]
    assert [task["error"]["type"] for task in shown[1::2]] == ["SecretRefused", "SecretRefused"]
    files = [path.read_bytes() for path in (tmp_path / "data").iterdir()]
    assert (code, any(files)) == (0, True), said
    assert not [kept for kept in (*files, said.encode()) if b"hunter2" in kept]


@pytest.mark.long
def test_large_payload_and_result_outlive_a_killed_runner(tmp_path: Path, port: int):
    (tmp_path / "twice.py").write_text(
        "from duetime import task\n\n@task('twice')\ndef twice(payload, ctx):\n"
        "    return {'size': len(payload['text']), 'text': payload['text'][: 2 * 1024 * 1024]}\n"
    )
    data, text = tmp_path / "data", "0123456789abcdef" * (3 * 65_536)
    options = ("--handlers", str(tmp_path / "twice.py"))
    with running(data, port, *options) as runner:
        target = {"type": "python", "handler": "twice"}
        ids = [runner.submit(target=target, payload={"text": text}, delay=2) for _ in range(2)]
        runner.end(signal.SIGKILL)

    with running(data, port, *options) as runner:
        until(lambda: runner.ids("SUCCEEDED") == set(ids))
        runner.end(signal.SIGKILL)

    with running(data, port, *options) as runner:
        for task_id in ids:
            shown = runner.task(task_id)
            assert (shown["payload"], shown["result"]) == (None, None)
            assert set(shown["not_shown"]) == {"payload", "result"}
            payload, result = (
                runner.api.get(f"/tasks/{task_id}/{part}").json() for part in ("payload", "result")
            )
            assert payload == {"text": text}
            assert result == {"size": len(text), "text": text[: 2 * 1024 * 1024]}
        assert len(list((data / "objects").iterdir())) == 2
        assert runner.api.post("/purge", json={"older_than": 0}).json()["removed"] == 2
        assert list((data / "objects").iterdir()) == []
        code, said = runner.end(signal.SIGTERM)

    assert code == 0, said


def test_runner_refuses_submissions_over_a_quota(tmp_path: Path, port: int):
    quotas = tmp_path / "quotas.json"
    quotas.write_text(json.dumps({"default": {"stored_tasks": 2}, "slow": RARELY}))
    with running(tmp_path / "data", port, "--quotas", str(quotas)) as runner:
        for _ in range(2):
            runner.submit(target=HELLO)
        full = runner.api.post("/tasks", json={"target": HELLO})
        runner.submit(target=HELLO, namespace="slow")
        slow = runner.api.post("/tasks", json={"target": HELLO, "namespace": "slow"})
        code, said = runner.end(signal.SIGINT)

    assert (full.status_code, full.headers["retry-after"]) == (429, "300")
    assert full.json()["type"] == "urn:duetime:problem:quota"
    assert slow.status_code == 429
    assert 1 <= int(slow.headers["retry-after"]) <= 100
    assert code == 0, said


def test_waiting_client_is_answered_when_its_task_ends(tmp_path: Path, port: int):
    """The task is due while the client waits, and the client does not poll."""

    async def no_poll(_seconds: float) -> None:
        raise AssertionError("the runner did not wait")

    async def wait(task_id: str) -> str:
        url = f"http://127.0.0.1:{port}"
        async with AsyncClient(url, timeout=PATIENCE, sleep=no_poll) as client:
            return (await client.wait(task_id, timeout=PATIENCE))["status"]

    with running(tmp_path / "data", port) as runner:
        task_id = runner.submit(target=HELLO, payload={"name": "Ada"}, delay=1)
        assert asyncio.run(wait(task_id)) == "SUCCEEDED"
