"""Routes: which one a path belongs to, and those that are added when they are first asked for."""

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

import pytest

from duetime.api.http import Problem, Request, Response, Router

PATH = "/v1/schedules"


def test_request_waits_while_lazy_routes_are_added():
    router, entered, go_on = Router(), Event(), Event()

    def add(to: Router) -> None:
        entered.set()
        go_on.wait(60)
        to.add("GET", PATH, lambda request, parameters: Response(status=200))

    router.add_lazily(PATH, add)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(router.call, Request(method="GET", path=PATH))
        assert entered.wait(60)
        second = threads.submit(router.call, Request(method="GET", path=PATH))
        wait([second], timeout=0.05)  # without the lock it would get a 404 at once
        go_on.set()

        assert (first.result().status, second.result().status) == (200, 200)


def test_lazy_routes_are_added_once():
    router, added = Router(), []
    router.add_lazily(
        PATH, lambda to: added.append(to.add("GET", PATH, lambda *_: Response(status=200)))
    )

    for _ in range(2):
        assert router.call(Request(method="GET", path=PATH)).status == 200
    assert len(added) == 1


def test_path_that_a_route_names_is_not_matched_by_a_parameter():
    router = Router()
    router.add("GET", "/v1/tasks/{id}", lambda *_: Response(status=200))
    router.add("POST", "/v1/tasks/batch", lambda *_: Response(status=201))

    with pytest.raises(Problem) as refused:
        router.call(Request(method="GET", path="/v1/tasks/batch"))

    assert (refused.value.status, refused.value.headers["allow"]) == (405, "POST")
    assert router.call(Request(method="POST", path="/v1/tasks/batch")).status == 201
    assert router.call(Request(method="GET", path="/v1/tasks/batches")).status == 200
