"""Schedules by the id or the name that a person types."""

from typing import TYPE_CHECKING

from duetime.core.ids import is_id

if TYPE_CHECKING:
    from duetime.client import Client, Schedule


def find(client: "Client", text: str, namespace: str | None = None) -> "Schedule":
    """Returns a schedule. A text in the form of an id is one, even if a schedule has that name."""
    if is_id(text):
        return client.schedules.get(text)
    return client.schedules.get_by_name(text, namespace=namespace)


def id_of(client: "Client", text: str) -> str:
    return text if is_id(text) else find(client, text)["id"]
