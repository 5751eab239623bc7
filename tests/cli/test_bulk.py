"""`duetime cancel`, `retry` and `shift` by filter and `duetime dlq discard`, over HTTP."""

import itertools
import re
import shlex
from datetime import datetime, timedelta
from typing import Any

import pytest

from duetime.api import bulk as api_bulk
from duetime.cli import bulk_run, output
from duetime.cli.exit_codes import ExitCode
from duetime.client import Client
from tests.api.dead import a_dead_task
from tests.cli.test_commands import data, submitted

GROWTH = ("--tag", "team:growth")


@pytest.fixture
def growth(live: Any) -> Any:
    """Submits that many tasks with a tag, due in an hour; their ids."""

    def submit(count: int) -> list[str]:
        words = ("--handler", "echo", "--in", "1h", "--tag", "team=growth")
        return [submitted(live, *words)["id"] for _ in range(count)]

    return submit


@pytest.fixture
def status(live: Any) -> Any:
    return lambda task_id: data(live("show", task_id, "--json"))["status"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "can_ask", lambda: True)


def due(live: Any, task_id: str) -> datetime:
    return datetime.fromisoformat(data(live("show", task_id, "--json"))["due_at"])


@pytest.mark.usefixtures("asked")
def test_tagged_tasks_are_counted_and_cancelled_after_a_question(
    live: Any, growth: Any, status: Any
) -> None:
    ids = growth(3)
    other = submitted(live, "--handler", "echo", "--in", "1h")["id"]
    assert live("cancel", *GROWTH, "--dry-run").stdout == "3 tasks would be cancelled.\n"

    result = live("cancel", *GROWTH, "--status", "pending", stdin="y\n")

    assert (result.exit_code, result.stdout) == (ExitCode.OK, "Cancelled 3 tasks.\n")
    assert "Cancel 3 tasks? [y/N]" in result.stderr
    assert {status(task_id) for task_id in ids} == {"CANCELLED"}
    assert status(other) == "PENDING"
    assert live("cancel", *GROWTH).stdout == "No task matches.\n"


@pytest.mark.usefixtures("asked")
def test_bulk_command_that_is_not_confirmed_changes_nothing(
    live: Any, growth: Any, status: Any
) -> None:
    [task_id] = growth(1)
    result = live("cancel", *GROWTH, stdin="n\n")
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_DONE, "")
    assert result.stderr.endswith("Nothing was changed.\n")
    assert status(task_id) == "PENDING"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("cancel",), "ID"),
        (("retry",), "ID"),
        (("shift", "--by", "1h"), "--tag"),
        (("shift", *GROWTH), "--by"),
        (("shift", *GROWTH, "--by", "soon", "--yes"), "--by"),
        (("shift", *GROWTH, "--by", "--1h", "--yes"), "--by"),
        (("cancel", "01ID", *GROWTH), "ID"),
        (("cancel", "01ID", "--dry-run"), "--dry-run"),
        (("retry", "01ID", "--cursor", "c"), "--cursor"),
        (("cancel", *GROWTH), "--yes"),
        (("cancel", *GROWTH, "--status", "LATE"), "--status"),
        (("cancel", *GROWTH, "--target", "typo"), "--target"),
        (("cancel", "--since", "whenever", "--yes"), "--since"),
        (("dlq", "discard"), "--all"),
        (("dlq", "discard", "--all", "--namespace", "n", "--yes"), "--all"),
        (("dlq", "discard", "01ID", "--cursor", "c"), "--cursor"),
        (("dlq", "discard", "--all"), "--yes"),
    ],
    ids=" ".join,
)
def test_wrong_bulk_command_line_names_the_option(
    duetime: Any, words: tuple[str, ...], option: str
) -> None:
    result = duetime(*words)
    assert result.exit_code == ExitCode.USAGE
    assert option in result.stderr


def test_every_option_reaches_the_filter(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def note(client: Client, **fields: Any) -> Any:
        seen.append(fields)
        fields["on_part"](total := {"matched": 0, "not_changed": [], "next_cursor": None})
        return total

    monkeypatch.setattr(Client, "cancel_many", note)
    words = "--tag a:b --tag c --status PENDING --status RETRYING --namespace * --name mail"
    more = "--handler h --target python --schedule s --parent p --before 1h --lane low,batch/high"
    state = "--error-type Http503 --with-key order-17 --due-before 2040-01-01T00:00:00+01:00"
    since = ("--since", "2026-01-01T00:00:00+01:00")
    live("cancel", *words.split(), *more.split(), *state.split(), *since, "--yes")

    [fields] = seen
    before = fields.pop("created_before")
    assert before.endswith("+00:00")
    assert {n: v for n, v in fields.items() if n != "on_part"} == {
        "tag": ["a:b", "c"],
        "status": ["PENDING", "RETRYING"],
        "namespace": "*",
        "name": "mail",
        "handler": "h",
        "target": "python",
        "schedule_id": "s",
        "parent_id": "p",
        "lane": ["low", "batch/high"],
        "error_type": "Http503",
        "with_key": "order-17",
        "due_before": "2040-01-01T00:00:00+01:00",
        "created_since": "2026-01-01T00:00:00+01:00",
        "dry_run": False,
        "cursor": None,
    }


def test_dead_tasks_are_retried_by_filter(live: Any, system: Any, status: Any) -> None:
    wanted, other = a_dead_task(tags={"team": "growth"}), a_dead_task()
    system.store.put([wanted, other])
    result = live("retry", *GROWTH, "--yes")
    assert (result.exit_code, result.stdout) == (ExitCode.OK, "Retried 1 task.\n")
    assert (status(wanted.id), status(other.id)) == ("RETRYING", "DEAD")


@pytest.mark.parametrize(("by", "hours"), [("1h", 1), ("-30m", -0.5)])
def test_tagged_tasks_are_shifted(live: Any, growth: Any, by: str, hours: float) -> None:
    [task_id] = growth(1)
    before = due(live, task_id)
    total = data(live("shift", *GROWTH, "--by", by, "--yes", "--json"))
    assert (total["matched"], total["changed"]) == (1, 1)
    assert due(live, task_id) - before == timedelta(hours=hours)


def test_task_that_is_not_changed_is_reported(
    live: Any, growth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_run, "MAX_REPORTED", 1)
    first, second = growth(2)
    far = submitted(live, "--handler", "echo", "--in", "9h", "--tag", "team=growth")["id"]
    result = live("shift", *GROWTH, "--by", "-2h", "--yes")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout == "Shifted 1 task.\n"
    assert result.stderr.splitlines() == [
        f"{second} was not shifted: it would be due in the past",
        "… and 1 more; --json prints all of them.",
    ]
    assert first != far


def stopping_after(count: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets that many parts be reported, and then raises."""
    from duetime.client.bulk import Total

    add, parts = Total.add, itertools.count(1)

    def add_or_raise(total: Total, part: Any) -> Any:
        cursor = add(total, part)
        if next(parts) == count:
            raise error
        return cursor

    monkeypatch.setattr(Total, "add", add_or_raise)


@pytest.mark.parametrize("operation", ["cancel", "shift"])
def test_stopped_command_prints_how_to_go_on_and_the_rest_is_done_once(
    live: Any, growth: Any, status: Any, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    monkeypatch.setattr(api_bulk, "BATCH", 1)
    monkeypatch.setattr(api_bulk, "TIME_LIMIT", 0)  # one page a call
    ids = growth(3)
    before = {task_id: due(live, task_id) for task_id in ids}
    words = [operation, *GROWTH, *(["--by", "1h"] if operation == "shift" else [])]
    with monkeypatch.context() as patched:
        stopping_after(1, KeyboardInterrupt(), patched)
        stopped = live(*words, "--yes")
    assert stopped.exit_code == ExitCode.INTERRUPTED
    assert stopped.stdout == f"{'Cancelled' if operation == 'cancel' else 'Shifted'} 1 task.\n"
    [line] = stopped.stderr.splitlines()
    command = re.fullmatch(r"Stopped before the end\. Go on with: duetime (.+)", line)[1]
    assert "--cursor" in command

    done = live(*shlex.split(command), "--yes")

    assert done.exit_code == ExitCode.OK
    assert done.stdout.endswith(" 2 tasks.\n")
    if operation == "cancel":
        assert {status(task_id) for task_id in ids} == {"CANCELLED"}
        return
    # From the start again with its key: no task moves twice.
    again = shlex.split(command.partition(" --cursor")[0])
    assert live(*again, "--yes").stdout == "Shifted 3 tasks.\n"
    assert {due(live, task_id) - before[task_id] for task_id in ids} == {timedelta(hours=1)}


def test_command_that_gets_no_answer_prints_how_to_go_on(
    live: Any, growth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duetime.client import ApiError

    growth(1)
    monkeypatch.setattr(
        Client, "cancel_many", lambda *_, **__: (_ for _ in ()).throw(ApiError(503, "Try again"))
    )
    result = live("cancel", *GROWTH, "--yes")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr.splitlines() == [
        "Stopped before the end. Go on with: duetime cancel --tag team:growth",
        "Try again",
    ]


def test_progress_is_shown_on_a_terminal(
    live: Any, growth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    growth(2)
    shown: list[int] = []

    class Bar:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def add_task(self, description: str, total: int | None) -> int:
            assert description == "Cancelled"
            return 7

        def update(self, row: int, completed: int) -> None:
            shown.append(completed)

    monkeypatch.setattr("rich.progress.Progress", Bar)
    monkeypatch.setattr(bulk_run, "stderr_is_terminal", lambda: True)
    live("cancel", *GROWTH, "--yes")
    assert shown == [2]


def test_discard_by_id_and_by_filter(live: Any, system: Any, status: Any) -> None:
    first, second, third = (a_dead_task(error_type=e) for e in ("A", "B", "B"))
    system.store.put([first, second, third])
    assert live("dlq", "discard", first.id).stdout == "Discarded 1 task.\n"
    result = live("dlq", "discard", "--error-type", "B", "--dry-run")
    assert result.stdout == "2 tasks would be discarded.\n"
    assert live("dlq", "discard", "--error-type", "B", "--yes").stdout == "Discarded 2 tasks.\n"
    assert {status(task.id) for task in (first, second, third)} == {"CANCELLED"}
    again = live("dlq", "discard", first.id)
    assert again.exit_code == ExitCode.NOT_DONE
    assert again.stderr == f"{first.id} was not discarded: it is CANCELLED\n"


@pytest.mark.usefixtures("asked")
def test_all_dead_letters_are_discarded_after_a_question(live: Any, system: Any) -> None:
    system.store.put([a_dead_task() for _ in range(2)])
    result = live("dlq", "discard", "--all", stdin="y\n")
    assert result.stdout == "Discarded 2 tasks.\n"
    assert "Discard 2 tasks? [y/N]" in result.stderr
    assert live("dlq", "list").stdout == "No dead letters.\n"
