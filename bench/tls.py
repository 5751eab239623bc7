"""Measures what TLS costs a cold function: its CPU from import to first answer, with and without.

Starts two bundled functions of 512 MB: the API with a batch of 100 tasks, and an executor with ten
messages that are due. A server on this machine, with a new certificate, replaces DynamoDB and SQS.
Exits with 1 if a function uses more than 1.5 times as much CPU over TLS as without. The other rows
show what it would use with botocore's own list of certificate authorities, with 32 calls (and
connections) at the same time instead of 5, and with both.

Each start is a new interpreter on one core, and only its own CPU time counts. The starts take
turns, and the least CPU time of each counts, from the start that was disturbed least.

    python bench/tls.py [--rounds 10]
"""

import argparse
import json
import shutil
import ssl
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from botocore.httpsession import DEFAULT_CA_BUNDLE
from coldstart import ENVIRONMENT, SPEC, config_row, due_tasks, request, small_handlers, start
from harness import report
from stubbed_aws import TASK_KEY

from duetime.aws import root_certificates as roots
from duetime.engine.clock import SystemClock
from infra.bundle import HANDLERS, MANIFEST, ROOT, THIS_PYTHON, Machine, make_bundles
from tests.certificates import Certificates, make_certificates
from tests.infra.functions import brought_by_lambda

LIMIT = 1.5
BATCH = 100
MESSAGES = 10
HOSTS = [f"{service}.eu-central-1.amazonaws.com" for service in ("dynamodb", "sqs")]
MANY = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "4096"}  # the most parallel calls of any function

PLAIN, TLS = "without TLS", "over TLS"

Json = dict[str, Any]
Best = Mapping[tuple[str, str], float]  # seconds, by function and variant


def main() -> int:
    options = _options()
    took: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        bench = Bench(Path(scratch), stack)
        for number in range(options.rounds + 1):
            for key, order in bench.orders().items():
                seconds = start(order)
                if number:  # the first round warms the page cache
                    took.setdefault(key, []).append(seconds)
    best = {key: min(times) for key, times in took.items()}
    rows = [_row(function, variant, best) for function, variant in best]
    report("tls", "Cold functions over TLS", rows)
    return int(any(_ratio(function, TLS, best) > LIMIT for function, _ in best))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "--rounds", type=int, default=10, help="starts of each function (default: 10)"
    )
    return parser.parse_args()


def _row(function: str, variant: str, best: Best) -> Json:
    return {
        "what": f"{function}, {variant}",
        "CPU ms": 1_000 * best[function, variant],
        "× without TLS": f"{_ratio(function, variant, best):.2f}",
        "at most": LIMIT if variant == TLS else "",
    }


def _ratio(function: str, variant: str, best: Best) -> float:
    return best[function, variant] / best[function, PLAIN]


class Bench:
    """The functions, and the server that they talk to. Closing the stack ends the server."""

    def __init__(self, scratch: Path, stack: ExitStack) -> None:
        certificates = make_certificates(scratch, HOSTS)
        bundles = make_bundles(small_handlers(scratch), Machine(python=THIS_PYTHON))
        self._libraries = brought_by_lambda(scratch)
        self._bundles = {
            name: _trusting(getattr(bundles, name), scratch / name, certificates)
            for name in ("api", "executor")
        }
        every = scratch / "every.pem"  # botocore's own list, and ours
        every.write_text(Path(DEFAULT_CA_BUNDLE).read_text() + certificates.authority.read_text())
        all_roots = {"AWS_CA_BUNDLE": str(every)}
        self._answers = Answers()
        plain = stack.enter_context(_server(self._answers, None))
        tls = stack.enter_context(_server(self._answers, certificates))
        self._variants: dict[str, tuple[int, dict[str, str]]] = {
            PLAIN: (plain, {"DUETIME_ENDPOINT_URL": f"http://127.0.0.1:{plain}"}),
            TLS: (tls, {}),
            "with botocore's list": (tls, all_roots),
            "32 calls at once": (tls, MANY),
            "both of these": (tls, all_roots | MANY),
        }

    def orders(self) -> dict[tuple[str, str], Json]:
        batch = request("/v1/tasks/batch", {"tasks": [SPEC] * BATCH})
        due = list(due_tasks(MESSAGES, SystemClock().now()))
        self._answers.hold([item for _, item in due])
        calls = {
            f"API: a batch of {BATCH}": ("api", batch, MANIFEST),
            f"executor: {MESSAGES} messages": (
                "executor",
                {"Records": [message for message, _ in due]},
                HANDLERS,
            ),
        }
        return {
            (name, variant): {
                "path": [str(self._bundles[role]), str(self._libraries)],
                "environment": ENVIRONMENT | {"DUETIME_HANDLERS": handlers} | environment,
                "handler": f"lambdas.{role}.handle",
                "event": event,
                "port": port,
            }
            for name, (role, event, handlers) in calls.items()
            for variant, (port, environment) in self._variants.items()
        }


def _trusting(bundle: Path, copy: Path, certificates: Certificates) -> Path:
    """Copies a bundle, and adds our server to the authorities that it trusts."""
    shutil.copytree(bundle, copy)
    with (copy / roots.FILE.relative_to(ROOT)).open("a") as file:
        file.write(certificates.authority.read_text())
    return copy


class Answers:
    """The answers of DynamoDB and SQS to these two functions."""

    def __init__(self) -> None:
        self._items: dict[bytes, Json] = {}  # of leased tasks, by id
        self._config = config_row(SystemClock().now())

    def hold(self, items: list[Json]) -> None:
        for item in items:
            self._items[item["pk"]["S"].removeprefix("task#").encode()] = item

    def to(self, operation: str, body: bytes) -> Json:
        match operation:
            case "GetItem":
                return {"Item": self._config}
            case "UpdateItem":
                found = TASK_KEY.search(body)
                assert found is not None
                return {"Attributes": self._items[found[1]]}
            case "SendMessageBatch":
                entries = json.loads(body)["Entries"]
                return {"Successful": [{"Id": entry["Id"], "MessageId": "1"} for entry in entries]}
        return {}


@contextmanager
def _server(answers: Answers, certificates: Certificates | None) -> Iterator[int]:
    """Runs a server in this process, whose CPU is not measured; yields its port."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer goes out in one piece

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            self._send(json.dumps(answers.to(operation, body)).encode())

        def do_GET(self) -> None:
            self._send(b"healthy")

        def _send(self, answer: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """Ignores the closed connections of functions that ended."""

    server = Server(("127.0.0.1", 0), Endpoint)
    if certificates is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.server)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    sys.exit(main())
