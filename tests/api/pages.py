"""The pages of a list."""

from typing import Any

from tests.api.service import Service


def read_all(service: Service, path: str, **query: Any) -> list[list[str]]:
    """Returns the ids on each page of a list, to its end."""
    pages: list[list[str]] = []
    cursor: dict[str, str] = {}
    while not pages or cursor:
        response = service.get(path, **query, **cursor)
        assert response.status == 200, response.body
        pages.append([item["id"] for item in response.body["items"]])
        following = response.body["next_cursor"]
        cursor = {"cursor": following} if following else {}
    return pages


def flat(pages: list[list[str]]) -> list[str]:
    return [task_id for page in pages for task_id in page]
