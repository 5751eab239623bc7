"""Routes that are added when they are first asked for."""

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

from lambdas.api.http import Request, Response, Router

PATH = "/v1/schedules"


def test_who_asks_while_routes_are_being_added_waits_for_them():
    router, entered, go_on = Router(), Event(), Event()

    def add(to: Router) -> None:
        entered.set()
        go_on.wait(60)
        to.add("GET", PATH, lambda request, parameters: Response(status=200))

    router.add_later(PATH, add)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(router.call, Request(method="GET", path=PATH))
        assert entered.wait(60)
        second = threads.submit(router.call, Request(method="GET", path=PATH))
        wait([second], timeout=0.05)  # it would be told at once that there is no such path
        go_on.set()

        assert (first.result().status, second.result().status) == (200, 200)


def test_routes_are_added_once():
    router, added = Router(), []
    router.add_later(
        PATH, lambda to: added.append(to.add("GET", PATH, lambda *_: Response(status=200)))
    )

    for _ in range(2):
        assert router.call(Request(method="GET", path=PATH)).status == 200
    assert len(added) == 1
