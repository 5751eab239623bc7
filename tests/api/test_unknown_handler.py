"""A task for a handler that is not registered: the refusal helps to find the right name."""

import pytest

from duetime.api.app import Api
from tests.api.service import Service, refusal


def refused(service: Service, handler: str, *known: str) -> str:
    service.api = Api(service.ports, handlers=lambda: set(known), version="9.9.9")
    response = service.submit(target={"type": "python", "handler": handler})
    return refusal(response)["target.handler"]


@pytest.mark.parametrize(
    ("handler", "near"),
    [
        ("shop.restok", "did you mean 'shop.restock'? "),
        ("restock", "did you mean 'shop.restock'? "),
        ("Shop.Restock", "did you mean 'shop.restock'? "),
        ("mail.sned", "did you mean 'mail.send'? "),
        ("video.encode", ""),
    ],
)
def test_the_nearest_name_is_suggested(service: Service, handler: str, near: str):
    message = refused(service, handler, "shop.restock", "mail.send")
    known = "known: mail.send, shop.restock"
    assert message == f"no handler {handler!r} is registered; {near}{known}"


def test_a_long_list_of_known_handlers_is_cut(service: Service):
    message = refused(service, "shop.h00", *(f"shop.h{n:03d}" for n in range(500)))
    assert "; did you mean 'shop.h" in message
    assert message.endswith("shop.h004, shop.h005 and 494 more")


def test_a_long_name_is_shown_all_the_same(service: Service):
    message = refused(service, "nobody", "x" * 80, "y")
    assert message == f"no handler 'nobody' is registered; known: {'x' * 80} and 1 more"


def test_where_no_handler_is_registered_none_is_suggested(service: Service):
    assert refused(service, "a") == "no handler 'a' is registered; known: none"
