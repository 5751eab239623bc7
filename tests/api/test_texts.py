"""GET /v1/tasks/{id}/payload and /result."""

import json

import pytest

from duetime.core.lifecycle import Status
from tests.api.service import Service
from tests.factories import a_spec, a_task

PAYLOAD = {"größe": [1, 2.5, None], "n": 12345678901234567890}


def test_payload_is_its_json_text(any_service: Service):
    task_id = any_service.submit(payload=PAYLOAD).body["id"]

    response = any_service.get(f"/v1/tasks/{task_id}/payload")

    assert response.status == 200
    assert json.loads(response.encoded()) == PAYLOAD
    assert response.headers == {
        "content-type": "application/json",
        "content-disposition": f'attachment; filename="{task_id}-payload.json"',
    }


@pytest.mark.parametrize("text", ['{"a": 1.0}', f'"{"r" * 9_000}"', "[" * 300 + "]" * 300])
def test_result_is_the_stored_text(any_service: Service, text: str):
    """Also one that is nested too deep for the task's own answer."""
    task = a_task(status=Status.SUCCEEDED, wake=None, result=text)
    any_service.store.put([task])

    response = any_service.get(f"/v1/tasks/{task.id}/result")

    assert response.encoded() == text.encode()
    assert f'"{task.id}-result.json"' in response.headers["content-disposition"]


@pytest.mark.parametrize(
    ("part", "detail"),
    [("payload", "There is no payload of task {}."), ("result", "There is no result of task {}")],
)
def test_text_that_there_is_not_is_not_found(service: Service, part: str, detail: str):
    task = a_task(spec=a_spec(payload=None))
    service.store.put([task])

    response = service.get(f"/v1/tasks/{task.id}/{part}")

    assert response.status == 404
    assert response.body["detail"].startswith(detail.format(task.id))
    assert service.get(f"/v1/tasks/nowhere/{part}").body["detail"] == "There is no task nowhere."


@pytest.mark.parametrize("part", ["payload", "result"])
def test_query_of_a_text_is_refused(service: Service, part: str):
    task_id = service.submit(payload=1).body["id"]

    assert service.get(f"/v1/tasks/{task_id}/{part}", pretty="1").status == 422
