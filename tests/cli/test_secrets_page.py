"""The page about secrets and signatures: its files, its commands and its receivers work."""

import asyncio
import json
import re
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from duetime.client import Client
from duetime.core.lifecycle import Status
from duetime.core.task import Task
from duetime.core.webhook_signatures import key_of, signature_headers
from duetime.engine.clock import SystemClock
from duetime.executor.executor import Executor
from duetime.executor.secrets import AttemptSecrets, destination
from duetime.executor.targets.address_policy import AddressPolicy
from duetime.executor.targets.http import HttpTarget
from duetime.executor.targets.ip_ranges import Kind
from duetime.local.secrets import LocalSecrets
from tests.factories import SteppedClock
from tests.world import sqlite_world

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "secrets-and-signatures.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def commands(program: str) -> list[list[str]]:
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line)) and words[0] == program]


@pytest.fixture
def secrets(tmp_path: Path) -> LocalSecrets:
    file = tmp_path / "secrets.json"
    file.write_text(blocks("json")[0])
    file.chmod(0o600)
    return LocalSecrets(file, {})


def test_parameters_of_the_page_are_valid_secrets() -> None:
    parameters = [dict(pairwise(words)) for words in commands("aws")]
    environment = {
        "DUETIME_SECRET_" + given["--name"].rpartition("/")[2]: given["--value"]
        for given in parameters
    }

    assert sorted(LocalSecrets(None, environment)) == ["shop-hook", "slack-hook", "stripe"]


def test_commands_and_the_client_of_the_page_submit_their_tasks(
    live: Any, front: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUETIME_URL", front.url)
    typed = [words[1:] for words in commands("duetime") if words[1] == "submit"]
    assert len(typed) == 3
    for words in typed:
        assert live(*words, "--in", "1h").exit_code == 0
    for script in blocks("python")[:2]:
        exec(script, {"__name__": "a_script"})

    with Client(front.url) as client:
        targets = [task["target"] for task in client.list()]
    by_header = {"Authorization": {"$secret": "stripe"}}
    by_url = {"$secret": "slack-hook"}
    assert [target.get("headers") or target.get("sign") or target["url"] for target in targets] == [
        by_url,
        by_header,
        {"$secret": "shop-hook"},
        by_url,
        by_header,
    ]


def test_schedule_of_the_page_posts_to_the_secret_url(live: Any, front: Any) -> None:
    [words] = [words[1:] for words in commands("duetime") if words[1] == "schedules"]
    assert live(*words).exit_code == 0

    with Client(front.url) as client:
        [schedule] = client.schedules.list()
    assert schedule["task"]["target"]["url"] == {"$secret": "slack-hook"}
    assert schedule["task"]["payload"] == {"text": "Standup!"}


def test_command_of_the_page_makes_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    [[_, _, source]] = commands("python")
    exec(source)

    assert len(key_of(capsys.readouterr().out.strip())) == 32


@contextmanager
def receiver() -> Iterator[str]:
    """Runs the receiver of the page, at a free port."""
    source, last = blocks("python")[2].rstrip().rsplit("\n", 1)
    assert last == 'HTTPServer(("127.0.0.1", 9000), Receiver).serve_forever()'
    scope: dict[str, Any] = {"__name__": "receiver"}
    exec(source, scope)
    scope["Receiver"].log_message = lambda *_: None
    server = HTTPServer(("127.0.0.1", 0), scope["Receiver"])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook"
    server.shutdown()
    thread.join()
    server.server_close()


def send(url: str, secrets: Any) -> Task:
    """Returns the task after its request, signed at the real time, which the receiver checks."""
    with sqlite_world(clock=SteppedClock(SystemClock().now())) as world:
        policy = AddressPolicy(kinds=frozenset({Kind.LOOPBACK}))
        world.executor = Executor(world.ports, {"http": HttpTarget(world.clock, policy, secrets)})
        target = {"type": "http", "url": url, "sign": {"$secret": "shop-hook"}}
        task_id = world.submit(target=target, payload={"order": 7})
        world.deliver()
        return world.task(task_id)


def test_receiver_of_the_page_takes_what_the_secret_of_the_page_signs(
    secrets: LocalSecrets, capsys: pytest.CaptureFixture[str]
) -> None:
    with receiver() as url:
        task = send(url, secrets)

    assert task.status is Status.SUCCEEDED
    assert capsys.readouterr().out == f'{task.id}: {{"order":7}}\n'


def test_url_of_the_page_is_one_that_its_secret_lists(secrets: LocalSecrets) -> None:
    with sqlite_world() as world:
        slack = secrets.get("slack-hook")
        assert slack is not None
        assert destination(slack.value) == ("hooks.slack.com", False)
        task = world.task(world.submit(target={"type": "http", "url": {"$secret": "slack-hook"}}))
        url = AttemptSecrets(secrets, task).url("target.url", task.spec.target["url"])
        assert url == slack.value


def test_receiver_of_the_page_refuses_another_secret() -> None:
    other = json.dumps({"value": "whsec_b3RoZXI=", "hosts": ["127.0.0.1"]})
    with receiver() as url:
        task = send(url, LocalSecrets(None, {"DUETIME_SECRET_SHOP_HOOK": other}))

    assert task.status is Status.DEAD
    assert task.current is not None
    assert task.current.error is not None
    assert task.current.error.type == "Http401"


def test_fastapi_of_the_page_checks_the_signature() -> None:
    scope: dict[str, Any] = {"__name__": "an_app"}
    exec(blocks("python")[3], scope)
    transport = httpx.ASGITransport(app=scope["app"])
    now = SystemClock().now() // 1_000
    headers = signature_headers([key_of(scope["SECRET"])], "01T", now, b"{}")

    async def post(body: bytes) -> tuple[int, Any]:
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
            answer = await client.post("/hook", content=body, headers=headers)
            return answer.status_code, answer.json()

    assert asyncio.run(post(b"{}")) == (200, {"received": "01T"})
    assert asyncio.run(post(b"{ }"))[0] == 401
