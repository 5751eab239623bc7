"""Sessions of a server on this machine: its token, the cookie made from it, and foreign pages."""

import asyncio
import json
from collections.abc import Mapping

import httpx
import pytest

from duetime.api.callers import ALL_RIGHTS, ONLY_WORK, READ_ONLY
from duetime.api.http import Problem, Request, Response
from duetime.core.value import replace
from duetime.local.asgi import asgi_app
from duetime.local.sessions import Sessions, may_serve_pages

TOKEN, HOST = "t0ken-of-ada", "duetime.example:8080"
JSON = {"content-type": "application/json"}
SESSIONS = Sessions(token=TOKEN, port=8080)


def a_request(
    path: str = "/v1/tasks", headers: Mapping[str, str] | None = None, method: str = "GET"
) -> Request:
    return Request(method=method, path=path, headers={"host": HOST, **(headers or {})})


def signing_in(body: object, headers: Mapping[str, str] = JSON) -> Request:
    headers = {"host": HOST, **headers}
    return Request(method="POST", path="/auth", headers=headers, body=json.dumps(body).encode())


def refused(sessions: Sessions, request: Request) -> Problem:
    with pytest.raises(Problem) as problem:
        sessions.sign_in(request) if request.path == "/auth" else sessions.admit(request)
    return problem.value


def cookie_of(sessions: Sessions = SESSIONS) -> str:
    """Returns the name and the value."""
    answer = sessions.sign_in(signing_in({"token": TOKEN}))
    return answer.headers["set-cookie"].partition(";")[0]


def test_server_without_a_token_takes_every_request():
    assert Sessions().admit(a_request()).caller.rights == ALL_RIGHTS


def test_bearer_token_is_admitted():
    for scheme in ("Bearer", "bearer"):
        request = a_request(headers={"authorization": f"{scheme} {TOKEN}"})
        assert SESSIONS.admit(request).caller.rights == ALL_RIGHTS


def test_worker_token_has_the_right_to_work_alone():
    sessions = Sessions(token=TOKEN, worker_token="w0rker", port=8080)
    headers = {"authorization": "Bearer w0rker"}

    assert sessions.admit(a_request(headers=headers)).caller.rights == ONLY_WORK
    assert SESSIONS.worker_token is None
    assert refused(SESSIONS, a_request(headers=headers)).status == 401
    for wrong in ("Bearer w0rker2", "Bearer", "Basic w0rker"):
        assert refused(sessions, a_request(headers={"authorization": wrong})).status == 401
    assert refused(sessions, signing_in({"token": "w0rker"})).status == 401
    read_only = replace(sessions, read_only=True)
    assert read_only.admit(a_request(headers=headers)).caller.rights == frozenset()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer \u00e9\udcff"},
        {"cookie": f"duetime_8080={TOKEN}"},  # the token itself is no session
        {"cookie": "duetime_8080"},
    ],
)
def test_request_without_the_token_is_refused(headers: dict[str, str]):
    problem = refused(SESSIONS, a_request(headers=headers))

    assert (problem.status, problem.headers) == (401, {"www-authenticate": "Bearer"})


def test_cookie_of_a_sign_in_is_admitted_beside_others():
    cookie = f'theme="a, b"; {cookie_of()}; {{broken'

    assert SESSIONS.admit(a_request(headers={"cookie": cookie})).caller.rights


def test_cookie_is_for_this_site_and_not_for_scripts():
    answer = SESSIONS.sign_in(signing_in({"token": TOKEN}))

    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert answer.status == 204
    assert name.startswith("duetime_8080=")
    assert TOKEN not in name
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]


def test_session_ends_with_its_token_and_belongs_to_its_port():
    cookie = {"cookie": cookie_of()}

    assert refused(Sessions(token="another", port=8080), a_request(headers=cookie)).status == 401
    assert refused(Sessions(token=TOKEN, port=8081), a_request(headers=cookie)).status == 401


@pytest.mark.parametrize(
    ("origin", "status"),
    [(f"http://{HOST}", 200), ("https://evil.example", 403), ("null", 403)],
)
def test_cookie_with_a_foreign_origin_is_refused_on_every_host(origin: str, status: int):
    request = a_request(headers={"cookie": cookie_of(), "origin": origin}, method="POST")

    if status == 200:
        assert SESSIONS.admit(request).caller.rights
    else:
        assert refused(SESSIONS, request).status == status


def test_program_with_a_token_may_send_any_origin():
    headers = {"authorization": f"Bearer {TOKEN}", "origin": "https://app.example"}

    assert SESSIONS.admit(a_request(headers=headers)).caller.rights


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (signing_in({"token": "wrong"}), 401),
        (signing_in({"token": TOKEN, "and": 1}), 422),
        (signing_in({"token": 7}), 422),
        (signing_in(TOKEN), 422),
        (signing_in({"token": TOKEN}, {}), 415),  # what a form of another site can send
        (signing_in({"token": TOKEN}, JSON | {"origin": "https://evil.example"}), 403),
        (a_request("/auth"), 405),
    ],
)
def test_sign_in_that_is_refused(request_: Request, status: int):
    assert refused(SESSIONS, request_).status == status


def test_server_without_a_token_has_no_sign_in():
    assert refused(Sessions(), signing_in({"token": TOKEN})).status == 404


def test_read_only_server_gives_the_right_to_read_alone():
    request = a_request(headers={"authorization": f"Bearer {TOKEN}"})

    assert Sessions(read_only=True).admit(request).caller.rights == READ_ONLY
    assert Sessions(token=TOKEN, read_only=True).admit(request).caller.rights == READ_ONLY


def test_pages_are_served_to_other_machines_only_with_a_token():
    assert may_serve_pages("127.0.0.1", None)
    assert may_serve_pages("localhost", None)
    assert may_serve_pages("0.0.0.0", TOKEN)
    assert not may_serve_pages("0.0.0.0", None)
    assert not may_serve_pages("duetime.example", None)


def test_application_admits_a_page_after_its_sign_in():
    seen: list[Request] = []

    def call(request: Request) -> Response:
        seen.append(request)
        return Response(status=200, body={})

    async def visit() -> list[int]:
        app = asgi_app(call, sessions=Sessions(token=TOKEN, port=8080, read_only=True))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as page:
            answers = [
                await page.get("/v1/tasks"),
                await page.post("/auth", json={"token": TOKEN}),
                await page.get("/v1/tasks"),
            ]
        return [answer.status_code for answer in answers]

    assert asyncio.run(visit()) == [401, 204, 200]
    [request] = seen
    assert request.caller.rights == READ_ONLY
