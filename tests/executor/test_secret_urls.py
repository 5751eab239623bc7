"""An `http` target whose URL is a secret, against real servers: where it goes, and what is kept."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.secrets import Secret, read_secret
from duetime.core.task import Task
from duetime.core.times import SECOND
from duetime.executor.executor import Executor
from duetime.executor.targets.address_policy import PUBLIC_ONLY, AddressPolicy
from duetime.executor.targets.http import HttpTarget
from duetime.executor.targets.ip_ranges import Kind
from duetime.webhooks import verify
from tests.factories import result_of
from tests.sink import Answer, Sink, a_sink
from tests.world import World

PATH = "/services/T00hunter/B00/hunter2%2b?sig=hunter3&v=1"
SENT = PATH.replace("%2b", "%2B")  # as urllib3 normalises it
HOOK = {"$secret": "slack-hook"}


class Secrets:
    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.fails: Exception | None = None

    def set(self, name: str, value: str, **fields: Any) -> None:
        self.given[name] = {"value": value, "hosts": ["127.0.0.1"]} | fields

    def get(self, name: str) -> Secret | None:
        if self.fails:
            raise self.fails
        return read_secret(name, self.given[name]) if name in self.given else None


@pytest.fixture(scope="module")
def shared_sink() -> Iterator[Sink]:
    with a_sink() as sink:
        yield sink


@pytest.fixture
def sink(shared_sink: Sink) -> Sink:
    shared_sink.asked.clear()
    shared_sink.answer = Answer()
    return shared_sink


@pytest.fixture(autouse=True)
def secrets(world: World, sink: Sink) -> Secrets:
    world.chance.luck = 0
    secrets = Secrets()
    secrets.set("slack-hook", hook(sink))
    use(world, secrets, AddressPolicy(kinds=frozenset({Kind.LOOPBACK})))
    return secrets


def use(world: World, secrets: Secrets, policy: AddressPolicy) -> None:
    world.executor = Executor(world.ports, {"http": HttpTarget(world.clock, policy, secrets)})


def hook(sink: Sink) -> str:
    return f"http://127.0.0.1:{sink.port}{PATH}"


@pytest.fixture
def leaks(world: World, caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Returns where a part of a value is: in the bytes of the database, or in the log."""
    caplog.set_level(logging.DEBUG)

    def search() -> list[str]:
        with world.store.port._database.read() as connection:
            stored = connection.serialize()
        formatter = logging.Formatter()
        records = [formatter.format(record) + str(record.__dict__) for record in caplog.records]
        places = {"store": stored, "log": "\n".join(records).encode()}
        assert b"$secret" in stored
        return [name for name, data in places.items() if b"hunter" in data]

    return search


def call(world: World, url: Any = HOOK, payload: Any = None, **fields: Any) -> Task:
    """Returns the task after one attempt."""
    task_id = world.submit(
        target={"type": "http", "url": url, **fields}, payload=payload, timeout=5
    )
    world.deliver()
    return world.task(task_id)


def error_of(task: Task) -> tuple[str, str]:
    assert task.current is not None
    assert task.current.error is not None
    return task.current.error.type, task.current.error.message


def test_secret_url_is_called_and_the_store_keeps_its_name(world: World, sink: Sink, leaks: Any):
    task = call(world, payload={"text": "Backup done"})

    [asked] = sink.asked
    assert (asked.method, asked.path, asked.body) == ("POST", SENT, b'{"text":"Backup done"}')
    assert task.status is Status.SUCCEEDED
    assert task.spec.target["url"] == HOOK
    assert leaks() == []


@pytest.mark.parametrize("value", ["{{scheduled_for}}", "{{{{x", "{{no such name}}"])
def test_template_inside_a_secret_url_is_not_expanded(
    world: World, sink: Sink, secrets: Secrets, value: str
):
    secrets.set("slack-hook", f"http://127.0.0.1:{sink.port}/{value.replace(' ', '')}")
    call(world)

    [asked] = sink.asked
    assert asked.path.startswith("/%7B%7B")


HOSTS = "is not for the host of the URL that it holds"
NOT_A_URL = "cannot be the URL: its value must be an http:// or https:// URL"


@pytest.mark.parametrize(
    ("value", "fields", "reason"),
    [
        ("https://hunter.example/x", {}, HOSTS),
        ("https://127.0.0.1.hunter.example/x", {}, HOSTS),
        ("https://hunter.example/@127.0.0.1", {}, HOSTS),
        ("https://127.0.0.1/hunter", {"namespaces": ["shop"]}, "is not for namespace 'default'"),
        ("Bearer-hunter2", {"namespaces": ["shop"]}, "is not for namespace 'default'"),
        ("Bearer-hunter2", {}, NOT_A_URL),
        ("hunter2", {"hosts": ["hunter2"]}, NOT_A_URL),
        ("ftp://127.0.0.1/hunter", {}, NOT_A_URL),
        ("https://", {}, NOT_A_URL),
        (
            "https://hunter:hunter@127.0.0.1/",
            {},
            "cannot be the URL: its value must have no credentials in it; send them as a header",
        ),
        (
            "https://127.0.0.1/hunter\n",
            {},
            "cannot be the URL: its value must have no spaces or control characters",
        ),
        (
            "https://127.0.0.1/" + "hunter" * 400,
            {},
            "cannot be the URL: its value must have at most 2048 characters",
        ),
        (
            "http://hooks.example/hunter",
            {"hosts": ["hooks.example"]},
            "is not sent to 'hooks.example' without TLS;"
            ' list "http://hooks.example" in its hosts for that',
        ),
    ],
)
def test_secret_that_is_no_url_of_its_hosts_is_refused_for_good_and_not_shown(
    world: World,
    sink: Sink,
    secrets: Secrets,
    leaks: Any,
    value: str,
    fields: Any,
    reason: str,
):
    secrets.set("slack-hook", value, **fields)
    task = call(world)

    assert task.status is Status.DEAD
    assert error_of(task) == ("SecretRefused", f"target.url: secret 'slack-hook' {reason}")
    assert sink.asked == []
    assert leaks() == []


@pytest.mark.parametrize(
    "value",
    [
        "http://127.0.0.1\\@localhost:{port}/",
        "http://127.0.0.1@localhost:{port}/",
        "http://127.0.0.1#@localhost:{port}/",
        "http://localhost:{port}/?@127.0.0.1",
        "http://localhost:{port}/\\127.0.0.1",
    ],
)
def test_secret_url_that_parsers_read_differently_goes_to_no_other_host(
    world: World, sink: Sink, secrets: Secrets, value: str
):
    secrets.set("slack-hook", value.format(port=sink.port))
    call(world)

    assert [a for a in sink.asked if a.headers["Host"].startswith("localhost")] == []


def test_secret_url_meets_the_address_policy_when_it_runs(
    world: World, sink: Sink, secrets: Secrets, leaks: Any
):
    use(world, secrets, PUBLIC_ONLY)
    task = call(world)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "AddressRefused")
    assert "allow_hosts" in error_of(task)[1]
    assert sink.asked == []
    assert leaks() == []


def test_secret_url_that_redirects_is_not_followed(world: World, sink: Sink, leaks: Any):
    with a_sink() as elsewhere:
        sink.answer = Answer(status=307, headers={"Location": elsewhere.url})
        task = call(world)

    assert (task.status, len(sink.asked), elsewhere.asked) == (Status.DEAD, 1, [])
    assert leaks() == []


def test_secret_url_that_does_not_exist_fails_for_good(world: World, sink: Sink):
    task = call(world, {"$secret": "gone"})

    assert task.status is Status.DEAD
    assert error_of(task) == ("SecretNotFound", "target.url: no secret 'gone'")


def test_store_that_does_not_answer_for_a_secret_url_costs_no_attempt(
    world: World, secrets: Secrets
):
    secrets.fails = Unavailable("Read timeout")
    task = call(world)

    assert (task.status, error_of(task)[1]) == (
        Status.RETRYING,
        "target.url: secret 'slack-hook' could not be read: Read timeout",
    )
    assert task.current is not None
    assert task.current.outcome is Outcome.SNOOZED


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize(
    "body",
    [
        "no hook at {url}",
        "POST {path} is unknown",
        "token hunter2+ of T00hunter: sig hunter3",
        '{{"path": "{path}", "sig=hunter3": ["hunter2%2B"]}}',
    ],
    ids=["url", "path", "pieces", "json"],
)
def test_answer_that_repeats_a_secret_url_is_kept_without_it(
    world: World, sink: Sink, leaks: Any, body: str, status: int
):
    text = body.format(url=hook(sink), path=SENT)
    sink.answer = Answer(status=status, body=text.encode())
    task = call(world)

    kept = json.dumps(result_of(task)) if status == 200 else error_of(task)[1]
    assert "***" in kept
    assert "hunter" not in kept
    assert leaks() == []


def test_secret_url_is_masked_as_it_is_sent(world: World, sink: Sink, secrets: Secrets):
    secrets.set("slack-hook", f"http://127.0.0.1:{sink.port}/x/../T00/B00/k17")
    sink.answer = Answer(body=b"nothing at /T00/B00/k17")
    task = call(world)

    assert sink.asked[0].path == "/T00/B00/k17"
    assert result_of(task)["body"] == "nothing at ***"


def test_secret_url_that_nothing_listens_at_is_not_shown(
    world: World, secrets: Secrets, leaks: Any
):
    secrets.set("slack-hook", "http://127.0.0.1:9/services/hunter2")
    task = call(world)

    assert error_of(task)[0] == "ConnectionFailed"
    assert error_of(task)[1].startswith("***: ")
    assert leaks() == []


def test_header_and_signature_beside_a_secret_url_are_bound_to_its_host(
    world: World, sink: Sink, secrets: Secrets
):
    secrets.set("key", "Bearer k")
    secrets.set("other", "Bearer o", hosts=["api.stripe.com"])
    fields = {"headers": {"Authorization": {"$secret": "key"}}, "sign": {"$secret": "key"}}
    task = call(world, payload=7, **fields)
    refused = [
        call(world, headers={"X-Key": {"$secret": "other"}}),
        call(world, sign={"$secret": "other"}),
    ]

    [asked] = sink.asked
    assert asked.headers["Authorization"] == "Bearer k"
    now = world.clock.now() / SECOND
    assert verify(dict(asked.headers), asked.body, "Bearer k", clock=lambda: now) == task.id
    assert [error_of(task) for task in refused] == [
        ("SecretRefused", f"target.{field}: secret 'other' is not for host '127.0.0.1'")
        for field in ("headers.X-Key", "sign")
    ]
