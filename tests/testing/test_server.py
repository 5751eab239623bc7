"""A world with a port answers requests of other clients."""

import httpx
import pytest

from duetime import Client
from duetime.testing import World, world
from tests.testing.shop import remind


def test_world_serves_its_api_on_a_port_of_this_machine():
    with world(serve=True) as w, Client(w.url, retries=0) as client:
        submission = remind.submit(email="ada@example.com")
        assert client.get(submission.id)["status"] == "ENQUEUED"
        assert [task["id"] for task in client.list(status=["ENQUEUED"])] == [submission.id]
        w.drain()
        assert client.get(submission.id)["status"] == "SUCCEEDED"
        assert client.health()["status"] == "ok"
        assert httpx.head(f"{w.url}/v1/health").content == b""
        with pytest.raises(httpx.ConnectError):
            httpx.get(w.url.replace("127.0.0.1", "127.0.0.2"))
    with pytest.raises(httpx.ConnectError):
        httpx.get(w.url)


def test_world_without_a_port_says_how_to_get_one(w: World):
    with pytest.raises(RuntimeError, match="serve=True"):
        _ = w.url
