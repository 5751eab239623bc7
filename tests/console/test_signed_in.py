"""The console of `duetime console`, and of a runner with a token: only the printed link lets in."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Page, expect

from tests.running import PATIENCE, ROOT, Runner, free_port, until

GREET = {"type": "python", "handler": "shop.greet"}
HELLO = {"type": "python", "handler": "duetime.hello"}


@contextmanager
def proxied(runner: Runner, *options: str) -> Iterator[str]:
    """Starts `duetime console` for a runner; yields the link that it prints."""
    command = [sys.executable, "-m", "duetime", "console", "--port", str(free_port()), *options]
    child = subprocess.Popen(
        [*command, "--url", str(runner.api.base_url).removesuffix("/v1/")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout
    try:
        link = re.search(r"http://127\.0\.0\.1:\d+/#t=\S+", child.stdout.readline())
        assert link
        until(lambda: is_up(link[0]))
        yield link[0]
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE)


def is_up(link: str) -> bool:
    try:
        return httpx.get(link.partition("#")[0]).status_code == 200
    except httpx.TransportError:
        return False


def test_link_of_the_proxy_signs_in_and_only_reads(page: Page, runner: Runner):
    task_id = runner.submit(target=GREET, delay=86_400, namespace="proxied")
    with proxied(runner) as link:
        page.goto(link.partition("#")[0])
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.goto("about:blank")
        page.goto(link.replace("/#", f"/tasks/{task_id}#"))
        expect(page.locator(".page-head .status")).to_have_text("Pending")
        expect(page).to_have_url(re.compile(f"/tasks/{task_id}$"))
        expect(page.locator(".live")).to_have_text("Live")
        assert page.get_by_role("button", name="Cancel").count() == 0
        assert page.get_by_role("link", name="New task").count() == 0
        refused = page.evaluate(
            "id => fetch(`/v1/tasks/${id}`, {method: 'DELETE'}).then(answer => answer.status)",
            task_id,
        )
        assert refused == 403

        runner.api.delete(f"/tasks/{task_id}")
        expect(page.locator(".page-head .status")).to_have_text("Cancelled")  # through the relay


def test_proxy_that_may_write_acts(page: Page, runner: Runner):
    with proxied(runner, "--write") as link:
        page.goto(link.replace("/#", "/new?handler=shop.greet#"))
        page.get_by_label("Payload, JSON").fill('{"name": "Ada"}')
        page.get_by_role("button", name="Submit", exact=True).click()
        expect(page.locator(".page-head .status")).to_have_text("Succeeded")
        task_id = page.url[-26:]

    assert runner.task(task_id)["status"] == "SUCCEEDED"


def run_with_token(command: list[str], token: str) -> Any:
    """Runs a call as it is copied from the console; returns the JSON that it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DUETIME_TOKEN": token}
    return json.loads(subprocess.check_output(command, env=environment, timeout=PATIENCE))


def test_token_of_a_runner_is_asked_for_and_taken_by_calls_to_copy(
    context: BrowserContext, tmp_path: Path
):
    port = free_port()
    token = "a-token-of-the-runner"
    command = [sys.executable, "-m", "duetime", "local", "--no-demo", "--port", str(port)]
    child = subprocess.Popen(
        [*command, "--data", str(tmp_path), "--token", token],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        until(lambda: is_up(f"http://127.0.0.1:{port}/#"))
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/tasks")
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("token is missing or wrong")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("No tasks yet")).to_be_visible()
        expect(page.locator(".live")).to_have_text("Live")
        expect(page.get_by_text("The token is in DUETIME_TOKEN.")).to_be_visible()
        page.goto(f"http://127.0.0.1:{port}/new?handler=duetime.hello")
        call = page.get_by_role("region", name="The same call").locator("pre")
        expect(call).to_contain_text("authorization: Bearer $DUETIME_TOKEN")
        assert run_with_token(["sh", "-c", call.inner_text()], token)["target"] == HELLO
        page.get_by_role("tab", name="Python").click()
        expect(call).to_contain_text("# the token is in DUETIME_TOKEN")
        source = call.inner_text().replace("print(", "import json\nprint(json.dumps(") + ")"
        assert run_with_token([sys.executable, "-c", source], token)["target"] == HELLO
        assert token not in page.content()
        page.close()
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE)
