from lambdas.aws.cursor_store import DynamoCursorStore
from lambdas.aws.task_store import DynamoTaskStore
from lambdas.core.times import MINUTE
from tests.factories import a_task
from tests.handlers.conftest import Aws, Deployment, recorded


def test_a_body_may_come_in_base64(deployment: Deployment):
    status, task = deployment.ask(recorded("http_api_post_base64"))
    assert (status, task["payload"], task["idempotency_key"]) == (201, "Zoë", "order-17")

    status, again = deployment.ask(recorded("http_api_post_base64"))
    assert (status, again["id"]) == (200, task["id"])


def test_the_query_arrives(deployment: Deployment):
    _, task = deployment.ask(recorded("http_api_post"))
    deployment.ask(recorded("http_api_post_base64"))

    status, page = deployment.ask(recorded("http_api_get"))

    assert status == 200
    assert [item["id"] for item in page["items"]] == [task["id"]]


def test_delete_cancels(deployment: Deployment):
    _, task = deployment.ask(recorded("http_api_post"))
    event = recorded("http_api_delete") | {"rawPath": f"/v1/tasks/{task['id']}"}

    status, cancelled = deployment.ask(event)

    assert (status, cancelled["status"]) == (200, "CANCELLED")
    assert deployment.read(task["id"])["status"] == "CANCELLED"


def test_a_body_that_is_not_json_is_a_problem(deployment: Deployment):
    status, problem = deployment.ask(recorded("http_api_post") | {"body": "{"})
    assert (status, problem["status"]) == (400, 400)

    status, problem = deployment.ask(recorded("http_api_delete"))
    assert status == 405


def test_a_warm_function_lists_what_a_newer_one_puts_into_more_shards(
    deployment: Deployment, aws: Aws
):
    deployment.ask(recorded("http_api_post"))
    cursors = DynamoCursorStore(aws.dynamodb, deployment.table, shards=32)
    known = cursors.shards(deployment.clock.now())
    newer = DynamoTaskStore(
        aws.dynamodb, deployment.table, shards=lambda: known, clock=deployment.clock
    )
    newer.put([a_task(now=deployment.clock.now()) for _ in range(30)])
    newer.close()

    deployment.clock.advance(MINUTE)
    event = recorded("http_api_get") | {"rawPath": "/v1/tasks", "rawQueryString": "limit=100"}
    status, page = deployment.ask(event)

    assert (status, len(page["items"])) == (200, 31)
