"""The files of the console: their headers, their compression, and which paths they take."""

import asyncio
import gzip
import shutil
from pathlib import Path

import httpx
import pytest

from duetime.api.http import Request, Response
from duetime.console.files import BUILT, ConsoleFiles
from duetime.console.headers import CONTENT_SECURITY_POLICY, SECURITY_HEADERS
from duetime.local.asgi import asgi_app

URL = "http://127.0.0.1:8080"
HTML = {"accept": "text/html,application/xhtml+xml"}


def answer(request: Request) -> Response:
    return Response(status=404, body={"path": request.path})


def get(path: str, method: str = "GET", **headers: str) -> httpx.Response:
    async def call() -> httpx.Response:
        app = asgi_app(answer, console=ConsoleFiles())
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(call())


def test_page_is_served_at_the_root_and_never_stored():
    response = get("/")

    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/tasks", "/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/dead", "/v10"])
def test_page_is_served_for_every_route_of_the_console(path: str):
    assert get(path, **HTML).text == get("/").text


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/tasks", "/docs", "/metrics", "/static/none.js", "/static/"]
)
def test_path_of_the_api_or_of_no_file_goes_to_the_api(path: str):
    assert get(path, **HTML).json() == {"path": path}


def test_file_outside_of_the_folder_is_not_served():
    assert ConsoleFiles().find("GET", "/static/../headers.py", {}) is None


def test_unknown_path_is_a_page_only_for_a_browser():
    assert get("/nothing").json() == {"path": "/nothing"}


def test_writes_go_to_the_api():
    assert get("/tasks", method="POST", **HTML).json() == {"path": "/tasks"}


def test_hashed_file_may_be_kept_for_ever():
    script = next(BUILT.glob("app-*.js"))
    response = get(f"/static/{script.name}")

    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.content == script.read_bytes()


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate", "gzip;q=0.5, br;q=0"])
def test_file_is_sent_compressed(accepted: str):
    script = next(BUILT.glob("app-*.js"))
    file = ConsoleFiles().find("GET", f"/static/{script.name}", {"accept-encoding": accepted})

    assert file is not None
    assert file.headers["content-encoding"] == "gzip"
    assert gzip.decompress(file.body) == script.read_bytes()


def test_every_file_has_the_security_headers():
    for path in ("/", *(f"/static/{file.name}" for file in BUILT.glob("*.js"))):
        headers = get(path).headers
        assert {name: headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


def test_policy_allows_no_inline_code_and_no_other_host():
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY
    assert "require-trusted-types-for 'script'" in CONTENT_SECURITY_POLICY
    text = (BUILT / "index.html").read_text()
    assert "<style" not in text
    assert text.count("<script") == text.count("<script src=") + text.count('type="module" src=')


def test_foreign_host_gets_no_page():
    assert get("/", host="evil.example").status_code == 403


def test_source_is_served_as_it_is_now(tmp_path: Path):
    (tmp_path / "index.html").write_text("one")
    files = ConsoleFiles(tmp_path)
    (tmp_path / "index.html").write_text("two")

    file = files.find("GET", "/", {"accept-encoding": "gzip"})

    assert file is not None
    assert file.body == b"two"


def test_built_files_may_be_replaced_under_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As an upgrade of the package does: the page and its parts stay those of one build."""
    folder = tmp_path / "static"
    shutil.copytree(BUILT, folder)
    monkeypatch.setattr("duetime.console.files.BUILT", folder)
    files = ConsoleFiles(folder)
    shutil.rmtree(folder)

    for accepted, suffix in (("br", ".br"), ("gzip", ".gz"), ("identity", "")):
        page = files.find("GET", "/", {"accept-encoding": accepted})
        assert page is not None
        assert page.body == (BUILT / f"index.html{suffix}").read_bytes()
    for script in BUILT.glob("*.js"):
        assert files.find("GET", f"/static/{script.name}", {}) is not None
    assert files.find("GET", "/static/app-00000000.js", {}) is None
