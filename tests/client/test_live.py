"""`client.live`, against a server in virtual time."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duetime.client import AsyncClient, BadArgument, Client, NotFound, Unreachable, WaitTimeout
from duetime.client import live_calls as calls
from duetime.extras import NotInstalled
from tests.client.live_server import LiveServer

FIRST = f"01M{1:023d}"


def follow(server: LiveServer, until: float, **which: Any) -> list[Any]:
    options = {"chance": lambda: 0.5, "reread": 5.0, "poll": 5.0}
    call = calls.changes(calls.wanted(which), server.patience, **options)  # type: ignore[arg-type]
    return list(server.run(call, until))


def statuses(found: list[Any]) -> list[str]:
    return [change["status"] for change in found]


def test_changes_are_yielded_as_they_are_pushed():
    server = LiveServer()
    server.change(1, "PENDING")
    server.at(1.0, lambda: server.change(1, "RUNNING"))
    server.at(1.2, lambda: server.change(2, "PENDING"))
    found = follow(server, 2)

    assert [(change["task_id"][-1], change["before"], change["status"]) for change in found] == [
        ("1", "PENDING", "RUNNING"),
        ("2", None, "PENDING"),
    ]
    assert server.requests == ["POST /v1/live/tickets", "GET /v1/tasks"]


def test_change_between_the_subscription_and_the_first_read_is_yielded_once():
    server = LiveServer()
    subscribe = server._take

    def take(socket: Any, message: dict[str, Any]) -> None:
        subscribe(socket, message)
        if message["op"] == "subscribe":
            server.change(1, "DEAD", pushes=2)

    server._take = take  # type: ignore[method-assign]

    assert statuses(follow(server, 12)) == ["DEAD"]


def test_subscription_has_the_filter_that_was_asked_for():
    for which, sent in [
        ({}, {"topic": "tasks", "filter": {"namespace": "default"}}),
        ({"namespace": "*", "lane": "low"}, {"topic": "tasks", "filter": {"lane": ["low"]}}),
        (
            {"status": ["DEAD"], "handler": "shop.restock", "schedule_id": None},
            {
                "topic": "tasks",
                "filter": {
                    "namespace": "default",
                    "status": ["DEAD"],
                    "handler": "shop.restock",
                },
            },
        ),
        ({"run_id": "r"}, {"topic": "tasks", "filter": {"run_id": "r"}}),
        ({"task_id": FIRST}, {"topic": "task", "task_id": FIRST}),
    ]:
        assert calls.subscription(calls.wanted(which)) == sent  # type: ignore[arg-type]


def test_filter_beside_a_task_or_a_run_is_refused():
    with pytest.raises(BadArgument, match="does not go with task_id") as refused:
        Client("http://127.0.0.1:1").live(task_id=FIRST, status="DEAD")

    assert refused.value.name == "status"


def test_task_is_followed_from_its_present_state_to_its_end():
    server = LiveServer()
    server.change(1, "PENDING")
    server.at(1, lambda: server.change(1, "RUNNING"))
    progress = {"fraction": 0.4, "message": "page 4"}
    server.at(
        2,
        lambda: server.push_to_all(
            type="progress", task_id=FIRST, progress=progress, updated_at=server._time()
        ),
    )
    server.at(3, lambda: server.change(1, "SUCCEEDED"))
    found = follow(server, 60, task_id=FIRST)

    assert statuses(found) == ["PENDING", "RUNNING", "RUNNING", "SUCCEEDED"]
    assert [change["progress"] for change in found] == [None, None, progress, progress]
    assert server.now == 3


def test_missing_task_is_an_error():
    with pytest.raises(NotFound):
        follow(LiveServer(), 10, task_id=FIRST)


def test_push_that_is_lost_is_found_within_five_seconds():
    server = LiveServer()
    server.at(1, lambda: server.change(1, "DEAD", pushes=0))
    found = follow(server, 5.5)

    assert statuses(found) == ["DEAD"]
    assert found[0]["target"] == "shop.restock"


def test_push_that_comes_twice_is_yielded_once():
    server = LiveServer()
    server.at(1, lambda: server.change(1, "RUNNING", pushes=3))

    assert statuses(follow(server, 12)) == ["RUNNING"]


def test_older_push_that_comes_later_is_not_yielded():
    server = LiveServer()

    def act() -> None:
        server.change(1, "RUNNING")
        server.now += 0.001
        server.change(1, "DEAD")
        server.reorder()

    server.at(1, act)

    assert statuses(follow(server, 12)) == ["DEAD"]


@pytest.mark.parametrize("reordered", [False, True])
def test_states_of_one_millisecond_end_with_that_of_the_api(reordered: bool):
    server = LiveServer()

    def act() -> None:
        server.change(1, "RUNNING")
        server.change(1, "SUCCEEDED")
        if reordered:
            server.reorder()

    server.at(1, act)

    assert statuses(follow(server, 12))[-1] == "SUCCEEDED"


def test_reset_is_followed_by_a_read():
    server = LiveServer()

    def act() -> None:
        server.change(1, "DEAD", pushes=0)
        server.push_to_all(type="reset", reason="lagged")

    server.at(0.5, act)

    assert statuses(follow(server, 1)) == ["DEAD"]


def test_client_connects_again_after_a_restart_and_reads_what_it_has_missed():
    server = LiveServer()
    server.at(1, server.stop)
    server.at(4, lambda: server.change(1, "DEAD"))
    server.at(4, server.start)
    server.at(9, lambda: server.change(2, "DEAD"))
    found = follow(server, 9.1)

    assert len(found) == 2
    assert len([socket for socket in server.sockets if socket.subscribed]) == 2
    tries = server.requests.count("POST /v1/live/tickets")
    assert 4 <= tries <= 10  # the pauses between them grow


def test_client_that_is_sent_away_returns_after_the_time_that_it_was_given():
    server = LiveServer()
    server.at(1, lambda: server.push_to_all(type="bye", reason="shutdown", retry_after=1.7))
    follow(server, 4)

    hellos = [message["at"] for message in server.received if message["op"] == "hello"]
    assert hellos == [0, 2.7]


def test_client_that_gets_no_answer_gives_up_after_its_patience():
    server = LiveServer()
    server.at(1, server.stop)
    with pytest.raises(Unreachable):
        follow(server, 600)

    assert 31 <= server.now <= 38
    assert len(server.silences) == 1


def test_first_read_without_an_answer_is_an_error_at_once():
    server = LiveServer()
    server.stop()
    with pytest.raises(Unreachable):
        follow(server, 600)

    assert server.now == 0


def test_client_reads_where_there_are_no_live_updates():
    server = LiveServer()
    server.has_live = False
    server.at(1, lambda: server.change(1, "DEAD"))

    assert statuses(follow(server, 16)) == ["DEAD"]
    assert server.requests == ["POST /v1/live/tickets", *["GET /v1/tasks"] * 4]


def test_client_above_the_limit_reads_and_tries_again_later():
    server = LiveServer()
    server.refusal = 429
    server.at(1, lambda: server.change(1, "DEAD"))
    server.at(20, lambda: setattr(server, "refusal", None))

    assert statuses(follow(server, 40)) == ["DEAD"]
    assert server.requests.count("POST /v1/live/tickets") == 2
    assert [socket.subscribed is not None for socket in server.sockets] == [True]


def test_client_pings_every_four_minutes():
    server = LiveServer()
    follow(server, 1_000)

    pings = [message["at"] for message in server.received if message["op"] == "ping"]
    assert pings == [240, 480, 720, 960]


def test_client_opens_a_new_socket_two_minutes_before_the_old_one_closes():
    server = LiveServer()
    both: list[int] = []
    server.at(7_080, lambda: both.append(len(server.sockets)))
    server.at(7_081, lambda: server.change(1, "DEAD"))
    found = follow(server, 7_082)

    assert statuses(found) == ["DEAD"]
    assert [socket.open for socket in server.sockets] == [False, True]
    hellos = [message["at"] for message in server.received if message["op"] == "hello"]
    assert hellos == pytest.approx([0, 7_080])


def test_old_socket_is_used_while_a_new_one_cannot_be_opened():
    server = LiveServer()
    server.at(7_000, lambda: setattr(server, "refusal", 429))
    server.at(7_091, lambda: server.change(1, "DEAD"))
    found = follow(server, 7_091.1)

    assert statuses(found) == ["DEAD"]
    assert [socket.open for socket in server.sockets] == [True]


def test_whole_task_is_read_when_it_changes():
    server = LiveServer()
    server.change(1, "PENDING")
    server.at(1, lambda: server.change(1, "RUNNING"))
    server.at(3, lambda: server.change(1, "SUCCEEDED"))
    call = calls.follow_task(FIRST, server.patience, chance=lambda: 0.5, timeout=None, poll=0.5)
    found = list(server.run(call, 60))

    assert statuses(found) == ["PENDING", "RUNNING", "SUCCEEDED"]
    assert server.now == 3


def test_task_that_does_not_end_in_time_is_an_error():
    server = LiveServer()
    server.change(1, "PENDING")
    call = calls.follow_task(FIRST, server.patience, chance=lambda: 0.5, timeout=7, poll=0.5)
    with pytest.raises(WaitTimeout):
        list(server.run(call, 60))

    assert server.now == 7


def test_page_is_read_when_a_task_changes_but_once_a_second():
    server = LiveServer()
    for tenth in range(10, 20):
        server.at(tenth / 10, lambda: server.change(1, "DEAD"))
    call = calls.follow_page(
        {"status": "DEAD"},
        server.patience,
        chance=lambda: 0.5,
        poll=2,
        order=None,
        fields="summary",
        limit=5,
    )
    found = list(server.run(call, 2.5))

    assert [len(page["items"]) for page in found] == [0, 1, 1]
    assert server.received[1]["filter"] == {"namespace": "default"}


def test_page_is_polled_without_the_package_for_websockets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calls, "is_installed", lambda: False)
    server = LiveServer()
    options = {"order": None, "fields": None, "limit": 5}
    call = calls.follow_page({}, server.patience, chance=lambda: 0.5, poll=2, **options)  # type: ignore[arg-type]

    assert len(list(server.run(call, 7))) == 4
    assert {*server.requests} == {"GET /v1/tasks"}


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_missing_package_is_named(client: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calls, "is_installed", lambda: False)

    with pytest.raises(NotInstalled, match=r"duetime\[live\]"):
        client("http://127.0.0.1:1").live(status="DEAD")


tasks_of_test = st.integers(1, 4)
faults = st.one_of(
    st.tuples(
        st.just("change"),
        tasks_of_test,
        st.sampled_from(["PENDING", "RUNNING", "RETRYING", "DEAD", "SUCCEEDED"]),
        st.integers(0, 2),  # pushes
    ),
    st.tuples(st.sampled_from(["reorder", "stop", "start", "reset", "bye"])),
)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.001, 0.3, 2.0, 7.0]), faults), max_size=25))
# The push of an older change of another task is lost.
@example([(0.0, ("change", 2, "PENDING", 0)), (0.3, ("change", 1, "RUNNING", 1))])
@example([(0.3, ("change", 1, "RUNNING", 0)), (0.0, ("change", 1, "DEAD", 2)), (0.0, ("stop",))])
def test_view_of_a_client_equals_the_api_within_five_seconds(history: Any):
    """Pushes get lost, come twice or in another order, and the runner restarts. What a consumer has
    learned is then what the API says, soon after the runner answers again."""
    server = LiveServer()
    server.change(1, "PENDING")
    attempts = dict.fromkeys(range(1, 5), 1)

    def act(kind: str, *details: Any) -> None:
        if kind == "change":
            number, status, pushes = details
            attempts[number] += status == "RUNNING"
            server.change(number, status, attempt=attempts[number], pushes=pushes)
        elif kind in ("reset", "bye"):
            server.push_to_all(type=kind, reason="any", retry_after=0.5)
        else:
            getattr(server, kind)()

    at, changed = 1.0, set()
    for pause, (kind, *details) in history:
        at += pause
        server.at(at, lambda kind=kind, details=details: act(kind, *details))  # type: ignore[misc]
        if kind == "change":
            changed.add(f"01M{details[0]:023d}")
    server.at(at, server.start)
    view = {FIRST: "PENDING"}
    view |= {change["task_id"]: change["status"] for change in follow(server, at + 5.6)}

    expected = {task_id: server.tasks[task_id]["status"] for task_id in changed}
    assert {task_id: view.get(task_id) for task_id in changed} == expected
