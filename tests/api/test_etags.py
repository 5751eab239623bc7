"""ETag and If-None-Match of a task."""

import pytest

from duetime.api.http import Response
from duetime.core.change import Applied
from duetime.core.delivery import delivery_of
from duetime.core.steps.lease import lease, renew
from duetime.core.task import Progress
from tests.api.service import Service
from tests.factories import a_task


def read(service: Service, task_id: str, tag: str = "", method: str = "GET") -> Response:
    headers = {"if-none-match": tag} if tag else {}
    return service.call(method, f"/v1/tasks/{task_id}", b"", headers=headers)


def test_task_that_has_not_changed_is_answered_without_a_body(any_service: Service):
    task_id = any_service.submit().body["id"]
    tag = read(any_service, task_id).headers["etag"]

    again = read(any_service, task_id, tag)

    assert (again.status, again.encoded(), again.headers["etag"]) == (304, b"", tag)
    assert read(any_service, task_id, tag, method="HEAD").status == 304
    assert read(any_service, task_id, method="HEAD").headers["etag"] == tag


def test_change_of_a_task_changes_its_tag(service: Service):
    """A start, its progress, the request to stop it."""
    task = a_task()
    service.store.put([task])
    tags = [read(service, task.id).headers["etag"]]
    [started] = service.store.apply([lease(delivery_of(task, 0), now=task.due_at, holder="me")])
    assert isinstance(started, Applied)
    tags.append(read(service, task.id, tags[-1]).headers["etag"])
    for fraction in (0.1, 0.2):
        progress = Progress(fraction=fraction)
        service.store.apply([renew(started.stored, now=task.due_at, progress=progress)])
        tags.append(read(service, task.id, tags[-1]).headers["etag"])
    service.call("DELETE", f"/v1/tasks/{task.id}", b"")
    tags.append(read(service, task.id, tags[-1]).headers["etag"])

    assert len(set(tags)) == 5


@pytest.mark.parametrize("form", ["*", '"x", {tag}', "{strong}", ' "a" ,{strong} '])
def test_tag_in_any_form_matches(service: Service, form: str):
    task_id = service.submit().body["id"]
    tag = read(service, task_id).headers["etag"]

    given = form.format(tag=tag, strong=tag.removeprefix("W/"))
    assert read(service, task_id, given).status == 304


@pytest.mark.parametrize("tag", ['"x"', "W/", "garbage", ","])
def test_other_tag_gets_the_task(service: Service, tag: str):
    task_id = service.submit().body["id"]

    assert read(service, task_id, tag).status == 200


def test_task_that_there_is_not_has_no_tag(service: Service):
    response = read(service, "nowhere", "*")

    assert response.status == 404
    assert "etag" not in response.headers
