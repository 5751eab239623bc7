"""A transport with scripted answers."""

from typing import Any

import httpx

from duetime.client import AsyncClient, Client


class Script:
    """Gives its answers in turn and records the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.asked: list[httpx.Request] = []
        self._answers = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        # A copy: a response can be read by one client only.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def client(self, url: str | None = "http://duetime.test", **options: Any) -> Client:
        """Its submissions are sent once, unless the test says otherwise."""
        return Client(url, transport=httpx.MockTransport(self), **{"retries": 0, **options})

    def async_client(self, url: str | None = "http://duetime.test", **options: Any) -> AsyncClient:
        return AsyncClient(url, transport=httpx.MockTransport(self), **{"retries": 0, **options})


def ok(body: Any, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=body)
