"""GET /v1/limits/{name} shows how a limit is used."""

from typing import Any

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.core.limits.definition import Limit, LimitUse, Rate
from duetime.core.times import SECOND, rfc3339
from tests.world import World

LIMIT = Limit(namespace="default", name="stripe", rate=Rate(count=5, period=10 * SECOND))


def shown(world: World, **query: str) -> Any:
    api = Api(world.ports, handlers=set, version="9.9.9")
    return api.call(Request(method="GET", path="/v1/limits/stripe", query=query)).body


def test_limit_shows_when_the_next_task_may_start(world: World):
    world.ports.limits.put(LIMIT)
    world.submit(limits=(LimitUse(name="stripe", key="acct-7"),))

    assert shown(world)["next_slot"] == rfc3339(world.clock.now())
    world.deliver()

    assert shown(world, key="acct-7")["next_slot"] == rfc3339(world.clock.now() + 2 * SECOND)
    assert shown(world)["next_slot"] == rfc3339(world.clock.now())
    world.advance(3 * SECOND)
    assert shown(world, key="acct-7")["next_slot"] == rfc3339(world.clock.now())
