"""A filter as the parameters of a query, or as the fields of a body."""

from collections.abc import Mapping, Sequence
from typing import Any

from duetime.client.types import Tags, TaskFilter


def filter_query(which: TaskFilter) -> dict[str, Any]:
    query: dict[str, Any] = {**which}
    tag, upcoming = which.get("tag"), which.get("upcoming")
    for name in ("status", "lane"):
        if query.get(name) is not None and not isinstance(query[name], str):
            query[name] = ",".join(query[name])
    if tag is not None:
        query["tag"] = tag_texts(tag)
    query["upcoming"] = "false" if upcoming is False else None
    return query


def filter_body(which: TaskFilter) -> dict[str, Any]:
    tag = which.get("tag")
    return {**which, "tag": None if tag is None else tag_texts(tag)}


def tag_texts(tag: Tags) -> Sequence[str]:
    if isinstance(tag, str):
        return [tag]
    return [f"{key}:{text}" for key, text in tag.items()] if isinstance(tag, Mapping) else tag
