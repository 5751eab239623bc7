"""Live updates in DynamoDB: tickets, open connections, and what these want.

All connections and their subscriptions are in one partition, so the relay reads them with one
query. Every row has a TTL, for connections that end without a word. DynamoDB removes a row some
days after that, so a row whose connection must have closed counts as gone.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.clients import translate_errors
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import Item
from duetime.core.live.connections import (
    FRAME_GAP,
    RESET_GAP,
    RESET_GRACE,
    ROW_LIFE,
    Connection,
    OpenCounts,
    Subscription,
)
from duetime.core.live.limits import LIFETIME
from duetime.core.live.tickets import Ticket
from duetime.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LEFTOVER: Millis = ROW_LIFE - LIFETIME  # how long a row is kept after its connection must be closed

_EXISTS = f"attribute_exists({schema.PK})"
_FRAME_FREE = f"{_EXISTS} AND {schema.FRAMED_AT} <= :latest"
_UNPLANNED = f"(attribute_not_exists({schema.RESET_BY}) OR {schema.RESET_BY} <= :now)"


class DynamoLiveStore:
    """The LiveTickets and the LiveConnections of AWS."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._table = Table(client, table)

    def add(self, ticket: Ticket, now: Millis) -> None:
        """First notes that a connection may open, so that every relay looks for one by then."""
        self._table.put({**_key(*schema.LIVE_UNTIL), schema.EXPIRES_AT: _number(now + ROW_LIFE)})
        key = _key(schema.ticket_pk(ticket.hash), schema.TICKET)
        caller = _caller(ticket.actor, ticket.namespaces)
        self._table.put({**key, **caller, **_lifetime(ticket.expires_at, ticket.expires_at)})

    def take(self, hash: str, now: Millis) -> Ticket | None:
        """DynamoDB returns the deleted row to one caller only."""
        with translate_errors():
            answer = self._table.client.delete_item(
                TableName=self._table.name,
                Key=_key(schema.ticket_pk(hash), schema.TICKET),
                ReturnValues="ALL_OLD",
            )
        item = answer.get("Attributes")
        if not item:
            return None
        ticket = Ticket(
            hash=hash,
            expires_at=int(item[schema.EXPIRES_AT]["N"]),
            actor=_actor(item),
            namespaces=_namespaces(item),
        )
        return ticket if ticket.valid(now) else None

    def open(self, connection: Connection) -> None:
        self._table.put(
            {
                **_connection_key(connection.id),
                **_caller(connection.actor, connection.namespaces),
                **_lifetime(connection.closes_at, connection.closes_at + LEFTOVER),
            }
        )

    def counts(self, now: Millis) -> OpenCounts:
        subscriptions: Counter[str] = Counter()
        connections = 0
        for item in self._rows(now, f"{schema.SK}, {schema.EXPIRES_AT}"):
            connection, _, subscription = item[schema.SK]["S"].partition("#")
            if subscription:
                subscriptions[connection] += 1
            else:
                connections += 1
        return OpenCounts(connections=connections, subscriptions=subscriptions)

    def connection(self, id: str, now: Millis) -> Connection | None:
        item = self._table.get(schema.LIVE, id)
        if item is None or _closes_at(item) <= now:
            return None
        return Connection(
            id=id,
            closes_at=_closes_at(item),
            actor=_actor(item),
            namespaces=_namespaces(item),
            greeted=schema.GREETED in item,
        )

    def greet(self, id: str) -> None:
        """A connection whose row is gone is not made again."""
        self._update(_connection_key(id), f"SET {schema.GREETED} = :yes", {":yes": {"BOOL": True}})

    def forget(self, id: str) -> None:
        owned = self._table.query(
            f"{schema.PK} = :live AND begins_with({schema.SK}, :prefix)",
            {":live": schema.LIVE, ":prefix": schema.subscription_sk(id, "")},
            ProjectionExpression=schema.SK,
            ConsistentRead=True,
        )
        keys = [_connection_key(item[schema.SK]["S"]) for item in owned]
        self._table.delete([_connection_key(id), *keys])

    def subscribe(self, subscription: Subscription) -> bool:
        _, stored = self._table.put_if(
            {
                **_subscription_key(subscription.connection, subscription.id),
                **_caller(None, subscription.namespaces),
                **_lifetime(subscription.closes_at, subscription.closes_at + LEFTOVER),
                schema.TEXT: {"S": subscription.message},
                schema.FRAMED_AT: _number(subscription.framed_at),
                schema.RESET_AT: _number(subscription.reset_at),
            },
            KEY_IS_FREE,
            {},
        )
        return stored

    def unsubscribe(self, connection: str, id: str) -> bool:
        _, deleted = self._table.delete_if(
            {"Key": _subscription_key(connection, id), "ConditionExpression": _EXISTS}
        )
        return deleted

    def take_frame(self, connection: str, id: str, now: Millis) -> Subscription | None:
        """Of two pushes at the same time, one takes the frame: the other finds it just taken."""
        return self._update_subscription(
            _subscription_key(connection, id),
            f"SET {schema.FRAMED_AT} = :now",
            {":now": _number(now), ":latest": _number(now - FRAME_GAP)},
            _FRAME_FREE,
        )

    def plan_reset(self, connection: str, id: str, now: Millis) -> Subscription | None:
        """The reset of an invocation that dies is taken over RESET_GRACE after the latest
        time at which it would have been sent."""
        until = now + RESET_GAP + RESET_GRACE
        return self._update_subscription(
            _subscription_key(connection, id),
            f"SET {schema.RESET_BY} = :until",
            {":now": _number(now), ":until": _number(until)},
            f"{_EXISTS} AND {_UNPLANNED}",
        )

    def begin_reset(self, connection: str, id: str, now: Millis) -> bool:
        return self._update(
            _subscription_key(connection, id),
            f"SET {schema.FRAMED_AT} = :now, {schema.RESET_AT} = :now REMOVE {schema.RESET_BY}",
            {":now": _number(now)},
        )

    def leave_reset(self, connection: str, id: str, now: Millis) -> None:
        key = _subscription_key(connection, id)
        self._update(key, f"SET {schema.RESET_BY} = :now", {":now": _number(now)})

    def until(self) -> Millis:
        item = self._table.get(*schema.LIVE_UNTIL)
        return int(item[schema.EXPIRES_AT]["N"]) if item else 0

    def subscriptions(self, now: Millis) -> list[Subscription]:
        return [_subscription(item) for item in self._rows(now) if schema.TEXT in item]

    def _rows(self, now: Millis, names: str | None = None) -> list[Item]:
        options: dict[str, Any] = {"ProjectionExpression": names} if names else {}
        found = self._table.query(f"{schema.PK} = :live", {":live": schema.LIVE}, **options)
        return [item for item in found if _closes_at(item) > now]

    def _update(
        self, key: Item, expression: str, values: dict[str, Any], condition: str = _EXISTS
    ) -> bool:
        return self._written(key, expression, values, condition) is not None

    def _update_subscription(
        self, key: Item, expression: str, values: dict[str, Any], condition: str
    ) -> Subscription | None:
        item = self._written(key, expression, values, condition)
        return _subscription(item) if item else None

    def _written(
        self, key: Item, expression: str, values: dict[str, Any], condition: str
    ) -> Item | None:
        """Returns the row after the update; None if its condition failed."""
        item, written = self._table.update_if(
            {
                "Key": key,
                "UpdateExpression": expression,
                "ConditionExpression": condition,
                "ExpressionAttributeValues": values,
            }
        )
        return item if written else None


def _key(pk: str, sk: str) -> Item:
    return {schema.PK: {"S": pk}, schema.SK: {"S": sk}}


def _connection_key(sk: str) -> Item:
    return _key(schema.LIVE, sk)


def _subscription_key(connection: str, id: str) -> Item:
    return _key(schema.LIVE, schema.subscription_sk(connection, id))


def _lifetime(ends_at: Millis, removed_at: Millis) -> Item:
    return {
        schema.EXPIRES_AT: _number(ends_at),
        schema.REMOVE_AFTER: _number(-(-removed_at // SECOND)),
    }


def _caller(actor: str | None, namespaces: frozenset[str] | None) -> Item:
    item: dict[str, Any] = {}
    if actor is not None:
        item[schema.ACTOR] = {"S": actor}
    if namespaces is not None:  # DynamoDB has no empty set
        item[schema.READS] = {"L": [{"S": name} for name in sorted(namespaces)]}
    return item


def _actor(item: Item) -> str | None:
    return item[schema.ACTOR]["S"] if schema.ACTOR in item else None


def _namespaces(item: Item) -> frozenset[str] | None:
    if schema.READS not in item:
        return None
    return frozenset(name["S"] for name in item[schema.READS]["L"])


def _closes_at(item: Item) -> Millis:
    return int(item[schema.EXPIRES_AT]["N"])


def _subscription(item: Item) -> Subscription:
    connection, _, id = item[schema.SK]["S"].partition("#")
    reset_by = item.get(schema.RESET_BY)
    return Subscription(
        connection=connection,
        id=id,
        message=item[schema.TEXT]["S"],
        closes_at=_closes_at(item),
        namespaces=_namespaces(item),
        framed_at=int(item[schema.FRAMED_AT]["N"]),
        reset_at=int(item[schema.RESET_AT]["N"]),
        reset_by=int(reset_by["N"]) if reset_by else None,
    )


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}
