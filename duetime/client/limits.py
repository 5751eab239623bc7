"""Limits: how fast, and how many at once, tasks may start. Tasks name them."""

from collections.abc import Iterator

from duetime.client import limit_calls as calls
from duetime.client.limit_types import Limit, LimitPage, LimitRateFields
from duetime.client.transport import Transport


class Limits:
    """Each method takes the `namespace` of the limit: `default` if it is left out."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(
        self,
        name: str,
        *,
        rate: LimitRateFields | None = None,
        concurrency: int | None = None,
        namespace: str | None = None,
    ) -> Limit:
        """Creates or replaces a limit: `rate={"count": 5, "period": 1}`, a `concurrency` from 1 to
        100, or both."""
        call = calls.put(name, rate=rate, concurrency=concurrency, namespace=namespace)
        return self._transport.run(call)

    def get(self, name: str, *, key: str | None = None, namespace: str | None = None) -> Limit:
        """Returns a limit, and how it is used: with this key, or by tasks without a key."""
        return self._transport.run(calls.get(name, key=key, namespace=namespace))

    def page(
        self,
        *,
        namespace: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> LimitPage:
        """Returns one page; the namespace `*` means all."""
        call = calls.page(namespace=namespace, key=key, limit=limit, cursor=cursor)
        return self._transport.run(call)

    def list(self, *, namespace: str | None = None, key: str | None = None) -> Iterator[Limit]:
        """Yields every limit by its name; the namespace `*` means all. Reads page by page."""
        return self._transport.iterate(calls.every(namespace=namespace, key=key))

    def delete(self, name: str, *, drain: bool = False, namespace: str | None = None) -> None:
        """Deletes a limit. One that is in use raises Conflict; with `drain` it takes no new tasks,
        and goes when the last task under it has ended."""
        self._transport.run(calls.delete(name, drain=drain, namespace=namespace))
