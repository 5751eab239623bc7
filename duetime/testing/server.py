"""An HTTP server for the API of a world, on a free port of this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from duetime.api.app import Api
from duetime.testing.in_process import call_api

POLL = 0.01  # seconds until a request to stop is seen


@contextmanager
def serving(api: Api) -> Iterator[str]:
    """Yields the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(POLL,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            answered = call_api(api, self.command, self.path, dict(self.headers.items()), body)
            content = answered.encoded()
            self.send_response(answered.status)
            for name, text in answered.headers.items():
                self.send_header(name, text)
            if answered.status not in (204, 304):
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, format: str, *_args: object) -> None:
            """Prints nothing."""

    return Handler
