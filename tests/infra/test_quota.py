"""The quota check of `make deploy`, against a local endpoint."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from infra.quota import quota_warning
from tests.infra.conftest import ROOT, a_stage


@contextmanager
def account(status: int, answer: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Lambda's endpoint, which gives one answer, and the requested paths."""
    asked: list[str] = []

    class Lambda(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Lambda) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def check(endpoint: str, stage: str = "dev") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "AWS_ENDPOINT_URL_LAMBDA": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "eu-central-1",
    }
    command = [sys.executable, "scripts/check-quota", stage]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def limit(quota: int) -> dict[str, Any]:
    return {
        "AccountLimit": {"ConcurrentExecutions": 1_000, "UnreservedConcurrentExecutions": quota}
    }


def test_a_new_account_is_warned_before_it_deploys():
    with account(200, limit(10)) as (endpoint, asked):
        done = check(endpoint)
    assert asked == ["/2016-08-19/account-settings"]
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    assert "runs at most 10 functions at once" in done.stderr
    assert 'set "concurrency": 6 in cdk.json' in done.stderr
    assert "--quota-code L-B99A9384 --desired-value 1000" in done.stderr


def test_an_account_with_a_sufficient_quota_gets_no_warning():
    with account(200, limit(900)) as (endpoint, _):
        done = check(endpoint, "prod")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_deployment_goes_on_without_permission_to_read_the_quota():
    with account(403, {"Message": "not authorized", "Code": "AccessDeniedException"}) as (url, _):
        done = check(url)
    assert done.returncode == 0
    assert done.stderr.startswith("The account's concurrency was not checked: ")
    assert "not authorized" in done.stderr


def test_a_stage_that_does_not_exist_is_reported_by_the_synthesis():
    done = check("http://127.0.0.1:1", "prd")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("quota", range(10, 120))
def test_the_concurrency_that_a_warning_names_fits_and_no_larger_one_does(quota: int):
    warning = quota_warning(a_stage(), quota)
    if warning is None:
        assert quota >= 103  # 100 executors, a scanner, the API, the relay
        return
    named = int(warning.partition('"concurrency": ')[2].partition(" ")[0])
    assert quota_warning(a_stage(concurrency=named), quota) is None
    assert quota_warning(a_stage(concurrency=named + 1), quota) is not None


def test_a_stage_for_which_nothing_can_be_lowered_needs_a_larger_quota():
    warning = quota_warning(a_stage(shards=64, slices=20), 10)
    assert warning is not None
    assert '"concurrency"' not in warning


def test_make_deploy_asks_before_it_deploys():
    recipe = (ROOT / "Makefile").read_text().partition("\ndeploy:")[2].partition("\n\n")[0]
    assert recipe.index("scripts/check-quota $(STAGE)") < recipe.index("$(CDK) deploy")
