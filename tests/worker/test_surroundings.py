"""What a worker talks to beside its tasks: its control port, EC2 and ECS, with real servers."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from duetime.worker import spot_notice
from duetime.worker.control_port import ControlPort
from duetime.worker.scale_in import AGENT, RENEW_AFTER, RETRY_AFTER, ScaleInProtection
from duetime.worker.spot_notice import ENDPOINT, SpotNotice


class Server:
    """Answers as `answers` says, by method and path, and lists the requests."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], tuple[int, str]] = {}
        self.requests: list[tuple[str, str, dict[str, str], str]] = []
        server = self

        class Routes(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.requests.append((self.command, self.path, headers, body))
                status, text = server.answers.get((self.command, self.path), (404, ""))
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_PUT = _answer

            def log_message(self, *args: Any) -> None:
                """Says nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Routes)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


# the control port


@pytest.fixture
def control() -> Iterator[tuple[httpx.Client, dict[str, Any], list[str]]]:
    state: dict[str, Any] = {"status": "ok"}
    drained: list[str] = []
    port = ControlPort(0)
    port.start(lambda: state, lambda: drained.append("drained"))
    with httpx.Client(base_url=f"http://127.0.0.1:{port.port}") as client:
        yield client, state, drained


def test_control_port_tells_how_the_worker_is(control):
    client, state, _ = control
    assert client.get("/health").status_code == 200
    state["status"] = "draining"
    assert client.get("/health").json() == {"status": "draining"}
    assert client.get("/health").status_code == 200, "a worker that drains is not to be killed"
    state["status"] = "failed"
    assert client.get("/health").status_code == 503


def test_control_port_drains_the_worker(control):
    client, _, drained = control
    assert client.post("/drain").status_code == 202
    assert drained == ["drained"]


def test_a_page_in_a_browser_cannot_drain_the_worker(control):
    client, _, drained = control
    assert client.post("/drain", headers={"Origin": "https://bad.example"}).status_code == 403
    assert client.get("/drain").status_code == 404
    assert drained == []


# spot notices

TOKEN = ("PUT", "/latest/api/token")
ACTION = ("GET", "/latest/meta-data/spot/instance-action")


def test_spot_notice_is_seen_when_it_comes(server: Server):
    server.answers[TOKEN] = (200, "t1")
    notice = SpotNotice({ENDPOINT: server.url})
    assert not notice.given()
    server.answers[ACTION] = (200, '{"action": "terminate", "time": "2026-11-18T09:00:00Z"}')
    assert notice.given()

    tokens = [headers for method, _, headers, _ in server.requests if method == "PUT"]
    assert [h["x-aws-ec2-metadata-token-ttl-seconds"] for h in tokens] == ["21600"]
    asked = [headers for method, _, headers, _ in server.requests if method == "GET"]
    assert [h["x-aws-ec2-metadata-token"] for h in asked] == ["t1", "t1"]


def test_token_that_has_expired_is_replaced(server: Server):
    server.answers |= {TOKEN: (200, "t1"), ACTION: (401, "")}
    notice = SpotNotice({ENDPOINT: server.url})
    assert not notice.given()
    server.answers |= {TOKEN: (200, "t2"), ACTION: (200, "{}")}
    assert notice.given()


def test_machine_without_metadata_gets_no_notice_and_one_warning(server: Server, caplog):
    server.close()
    notice = SpotNotice({ENDPOINT: server.url})
    assert [notice.given() for _ in range(3)] == [False] * 3
    said = [record.message for record in caplog.records if record.name == spot_notice.__name__]
    assert [message.split(":")[0] for message in said] == ["instance metadata not read"]


# scale-in protection

STATE = ("PUT", "/api/task-protection/v1/state")


def asked(server: Server) -> list[Any]:
    return [json.loads(body) for _, _, _, body in server.requests]


def test_busy_worker_is_protected_and_an_idle_one_is_not(server: Server):
    server.answers[STATE] = (200, "{}")
    protection = ScaleInProtection({AGENT: f"{server.url}/api"})
    for busy in (False, True, True, False, False):
        protection.update(busy=busy, now=1)

    assert asked(server) == [
        {"ProtectionEnabled": True, "ExpiresInMinutes": 60},
        {"ProtectionEnabled": False},
    ]


def test_protection_of_a_long_run_is_renewed(server: Server):
    server.answers[STATE] = (200, "{}")
    protection = ScaleInProtection({AGENT: f"{server.url}/api"})
    for now in (1, RENEW_AFTER, RENEW_AFTER + 1):
        protection.update(busy=True, now=now)

    assert len(asked(server)) == 2


def test_protection_that_the_agent_refuses_is_asked_for_again_a_minute_later(server: Server):
    server.answers[STATE] = (500, "")
    protection = ScaleInProtection({AGENT: f"{server.url}/api"})
    for now in (1, RETRY_AFTER):
        protection.update(busy=True, now=now)
    assert len(asked(server)) == 1
    server.answers[STATE] = (200, "{}")
    protection.update(busy=True, now=RETRY_AFTER + 1)
    protection.update(busy=False, now=RETRY_AFTER + 2)

    assert [state["ProtectionEnabled"] for state in asked(server)] == [True, True, False]


def test_nothing_is_asked_outside_ecs():
    ScaleInProtection({}).update(busy=True, now=1)
