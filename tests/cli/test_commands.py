"""The commands against the real API, over HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from duetime.api.health import Check, Health
from duetime.api.lanes import LaneActivity
from duetime.cli.exit_codes import ExitCode
from duetime.cli.submit import print_refusal
from duetime.client import Client, Unreachable
from duetime.client.submissions import make_id
from duetime.client.transport import Transport
from duetime.core.lanes import Lane, Queue

ECHO = ("submit", "--handler", "echo")
GOOD = {"target": {"type": "python", "handler": "echo"}}
MADE_WITH = Client.__init__.__kwdefaults__  # a command has no other way to be given its sleep


def data(result: Any) -> Any:
    """Returns the JSON of a command with --json, which prints nothing else."""
    assert result.stderr == ""
    return json.loads(result.stdout)


def submitted(live: Any, *words: str, stdin: str | None = None) -> Any:
    return data(live("submit", *words, "--json", stdin=stdin))


def test_health(live: Any) -> None:
    assert data(live("health", "--json"))["status"] == "ok"
    result = live("health")
    assert result.stdout.startswith("ok  http://127.0.0.1:")
    assert "version 9.9.9" in result.stdout
    assert result.exit_code == ExitCode.OK


def test_lanes(live: Any) -> None:
    for number in range(3):
        submitted(live, "--handler", "echo", "--in", str(60 * number), "--priority", "high")
    high, *_ = data(live("lanes", "--json"))["items"]
    assert (high["lane"], high["depth"], high["delayed"]) == ("high", 1, 2)
    header, first, *_ = live("lanes").stdout.splitlines()
    assert header.split() == ["LANE", "WAITING", "OLDEST", "DUE", "SOON", "RUNNING"]
    assert first.split()[:2] == ["high", "1"]


def test_lanes_of_a_runner_show_what_it_knows(live: Any, system: Any) -> None:
    known = LaneActivity(
        weight=60, running=7, in_per_minute=1_200, out_per_minute=900, promoted=3, waiting=2
    )
    system.lanes = lambda: {Queue(lane): known for lane in Lane}
    header, first, *_ = live("lanes").stdout.splitlines()

    columns = "LANE WEIGHT WAITING OLDEST DUE SOON RUNNING IN/MIN OUT/MIN PROMOTED HELD"
    assert " ".join(header.split()) == columns
    assert first.split() == ["high", "60%", "0", "0", "7", "1,200", "900", "3", "2"]


@pytest.mark.parametrize("as_json", [True, False])
def test_watched_lanes_are_shown_until_ctrl_c(
    live: Any, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("duetime.cli.live_table.sleep", sleep)
    shown = live("lanes", "--watch", "--every", "5", *(["--json"] if as_json else [])).stdout

    assert waits == [5, 5, 5]
    assert shown.count("high") == 3


def test_bad_health_prints_its_reasons_and_exits_with_not_done(
    live: Any, system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = [Check(name="store", reason="the disk is full"), Check(name="scanner")]
    monkeypatch.setattr(system.api, "_read_health", lambda: Health(checks=checks, tick_age=12_345))
    result = live("health")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout.startswith("unhealthy  http://127.0.0.1:")
    assert "version 9.9.9" in result.stdout
    assert "last tick 12 s ago" in result.stdout
    assert result.stdout.endswith("\n  store: the disk is full\n")

    result = live("health", "--json")
    assert result.exit_code == ExitCode.NOT_DONE
    report = json.loads(result.stdout)
    assert report["status"] == "unhealthy"
    assert report["checks"] == {"store": "the disk is full", "scanner": "ok"}


def test_every_option_of_submit_arrives(live: Any) -> None:
    words = """--handler echo --payload {"day":1} --in 1h30m --priority HIGH --timeout 2m
        --jitter 5 --expires-at 2035-11-16T09:00:00+01:00 --max-attempts 3 --base-delay 2
        --multiplier 3 --max-delay 1h --retry-jitter 0.25 --namespace shop --tag team=growth
        --tag tier=1 --idempotency-key k1 --ordering-key o1 --on-dead block
        --fairness-key f1
        --unique u1 --unique-while pending --on-conflict reject"""
    task = submitted(live, *words.split(), "--name", "the daily one")
    expected = {
        "target": {"type": "python", "handler": "echo"},
        "payload": {"day": 1},
        "priority": "high",
        "timeout": 120.0,
        "jitter": 5.0,
        "expires_at": "2035-11-16T08:00:00.000Z",
        "name": "the daily one",
        "namespace": "shop",
        "tags": {"team": "growth", "tier": "1"},
        "idempotency_key": "k1",
        "unique": {"key": "u1", "while": "pending", "on_conflict": "reject"},
        "ordering_key": "o1",
        "on_dead": "block",
        "fairness_key": "f1",
        "status": "PENDING",
    }
    assert {key: task[key] for key in expected} == expected
    retry = {"max_attempts": 3, "base_delay": 2, "multiplier": 3, "max_delay": 3600}
    assert task["retry"] == retry | {"jitter": 0.25}


def test_an_http_target_arrives(live: Any) -> None:
    words = ["--http", "http://127.0.0.1:9/x", "--method", "put", "--header", "Accept: a/b"]
    task = submitted(live, *words, "--at", "2035-11-16T09:00:00+01:00")
    assert task["run_at"] == "2035-11-16T08:00:00.000Z"
    assert task["target"] == {
        "type": "http",
        "url": "http://127.0.0.1:9/x",
        "method": "PUT",
        "headers": {"Accept": "a/b"},
    }


def test_a_header_and_a_signature_name_their_secrets(live: Any) -> None:
    words = ["--http", "https://example.com", "--header", "Accept: a/b", "--in", "1h"]
    words += ["--secret-header", "Authorization=stripe", "--sign-with", "shop-hook"]

    assert submitted(live, *words)["target"] == {
        "type": "http",
        "url": "https://example.com",
        "method": "POST",
        "headers": {"Accept": "a/b", "Authorization": {"$secret": "stripe"}},
        "sign": {"$secret": "shop-hook"},
    }


def test_an_address_that_is_a_secret_is_named_and_shown_by_its_name(live: Any) -> None:
    words = ["--secret-url", "shop-hook", "--method", "put", "--header", "Accept: a/b"]
    task = submitted(live, *words, "--in", "1h")

    assert task["target"] == {
        "type": "http",
        "url": {"$secret": "shop-hook"},
        "method": "PUT",
        "headers": {"Accept": "a/b"},
    }
    for command in (["show", task["id"]], ["list"], ["list", "--target", "http"]):
        assert "PUT secret shop-hook" in live(*command).stdout


def test_an_unknown_secret_is_refused_with_its_field(live: Any) -> None:
    words = ["--http", "https://example.com", "--secret-header", "Authorization=strype"]
    result = live("submit", *words)

    assert result.exit_code == ExitCode.NOT_DONE
    assert "target.headers.Authorization: there is no secret 'strype'" in result.stderr
    assert "did you mean 'stripe'?" in result.stderr


def test_the_payload_comes_from_a_file_or_stdin(live: Any, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("[1, 2]")
    from_file = submitted(live, "--handler", "echo", "--payload", f"@{tmp_path / 'p.json'}")
    from_stdin = submitted(live, "--handler", "echo", "--payload", "-", stdin="[3]")
    assert (from_file["payload"], from_stdin["payload"]) == ([1, 2], [3])


def test_submit_prints_the_next_command(live: Any) -> None:
    result = live(*ECHO)
    first, second = result.stdout.splitlines()
    task_id = first.split()[1]
    assert first == f"Submitted {task_id}  echo, due at once"
    assert second == f"Follow it: duetime watch {task_id}"


def test_refused_task_is_reported_field_by_field(live: Any) -> None:
    result = live("submit", "--handler", "nope")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout == ""
    assert result.stderr.splitlines()[1].startswith("target.handler: no handler 'nope'")
    assert "; did you mean 'echo'? known: " in live("submit", "--handler", "ecko").stderr
    result = live(*ECHO, "--timeout", "8d", "--max-attempts", "1000")
    fields = [line.split(":")[0] for line in result.stderr.splitlines()]
    assert fields[1:] == ["timeout", "retry.max_attempts"]


def test_invalid_unicode_is_refused_without_a_stack_trace(live: Any) -> None:
    result = live(*ECHO, "--payload", r'"\ud800"')
    assert result.exit_code == ExitCode.NOT_DONE
    assert live("show", "\udcff").exit_code == ExitCode.NOT_FOUND


def test_submit_with_an_id_can_be_repeated(live: Any) -> None:
    task_id = make_id()
    words = ("--handler", "echo", "--in", "1h", "--id", task_id)
    assert [submitted(live, *words)["id"] for _ in range(2)] == [task_id] * 2
    other = live(*ECHO, "--id", task_id, "--payload", "1")
    assert (other.exit_code, other.stdout) == (ExitCode.NOT_DONE, "")
    assert "id: was used for another task" in other.stderr


def test_submit_with_a_unique_key_that_is_held_returns_its_task_or_is_refused(live: Any) -> None:
    words = ("--handler", "echo", "--in", "1h", "--unique", "k")
    first = submitted(live, *words)
    again = live("submit", *words)
    rejected = live("submit", *words, "--on-conflict", "reject")
    shown = live("show", first["id"])
    replaced = submitted(live, *words, "--on-conflict", "replace")
    assert f"Already submitted {first['id']}" in again.stdout
    assert rejected.exit_code == ExitCode.NOT_DONE
    assert first["id"] in rejected.stderr
    assert "unique key" in shown.stdout
    assert replaced["id"] != first["id"]


def test_options_of_a_unique_key_need_the_key(live: Any) -> None:
    for words in (("--unique-while", "pending"), ("--on-conflict", "reject")):
        result = live(*ECHO, *words)
        assert result.exit_code == ExitCode.USAGE
        assert "goes with --unique" in result.stderr


def test_a_key_that_is_taken_is_refused(live: Any) -> None:
    first = submitted(live, "--handler", "echo", "--idempotency-key", "k")
    assert submitted(live, "--handler", "echo", "--idempotency-key", "k")["id"] == first["id"]
    other = live(*ECHO, "--idempotency-key", "k", "--payload", "1")
    assert (other.exit_code, other.stdout) == (ExitCode.NOT_DONE, "")


def test_submit_reports_a_replay(live: Any) -> None:
    words = (*ECHO, "--idempotency-key", "k")
    task_id = live(*words).stdout.split()[1]
    said = live(*words).stdout.splitlines()[0]
    assert said == f"Already submitted {task_id}  echo, ENQUEUED"
    batch = json.dumps([{**GOOD, "idempotency_key": "k"}])
    assert live("submit", "--from", "-", stdin=batch).stdout.startswith("Already submitted")


@pytest.fixture
def keyed(live: Any, system: Any) -> dict[str, str]:
    """The ids of tasks with keys, one for each way to end."""
    ids = {}
    for key, handler in (("done", "echo"), ("dead", "fail")):
        words = ("--handler", handler, "--idempotency-key", key)
        ids[key] = submitted(live, *words)["id"]
    system.run_due()
    words = ("--handler", "echo", "--in", "1h", "--idempotency-key", "cancelled")
    ids["cancelled"] = submitted(live, *words)["id"]
    live("cancel", ids["cancelled"])
    return ids


def test_submit_with_the_key_of_a_cancelled_task_says_that_nothing_will_run(
    live: Any, keyed: dict[str, str]
) -> None:
    words = (*ECHO, "--in", "1h", "--idempotency-key", "cancelled")
    result = live(*words)
    task_id = keyed["cancelled"]
    said = f"Nothing will run: {task_id}, the task of this key, is CANCELLED. Use another key.\n"
    assert (result.exit_code, result.stderr) == (ExitCode.NOT_DONE, said)
    assert result.stdout == f"Already submitted {task_id}  echo, CANCELLED\n"
    as_json = live(*words, "--json")
    assert (as_json.exit_code, as_json.stderr) == (ExitCode.NOT_DONE, said)
    assert json.loads(as_json.stdout)["id"] == task_id
    watched = live(*words, "--watch")
    assert (watched.exit_code, watched.stderr) == (ExitCode.NOT_DONE, said)


def test_submit_with_the_key_of_a_dead_task_says_how_to_retry_it(
    live: Any, keyed: dict[str, str]
) -> None:
    result = live("submit", "--handler", "fail", "--idempotency-key", "dead")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr.endswith(f" is DEAD. Use another key, or duetime retry {keyed['dead']}.\n")


def test_submit_with_the_key_of_a_task_that_succeeded_is_no_failure(
    live: Any, keyed: dict[str, str]
) -> None:
    result = live(*ECHO, "--idempotency-key", "done")
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout.startswith(f"Already submitted {keyed['done']}  echo, SUCCEEDED\n")


def test_a_batch_with_the_key_of_a_dead_task_ends_with_an_error(
    live: Any, keyed: dict[str, str]
) -> None:
    dead = {"target": {"type": "python", "handler": "fail"}, "idempotency_key": "dead"}
    batch = json.dumps([GOOD, dead, {**GOOD, "idempotency_key": "done"}])
    result = live("submit", "--from", "-", stdin=batch)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout.splitlines()[-1] == "3 of 3 submitted."
    assert result.stderr.startswith(f"Nothing will run: {keyed['dead']}, the task of this key,")
    assert live("submit", "--from", "-", "--json", stdin=batch).exit_code == ExitCode.NOT_DONE


def test_one_task_from_a_file(live: Any, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"target": {"type": "python", "handler": "echo"}}')
    assert submitted(live, "--from", str(tmp_path / "t.json"))["status"] == "ENQUEUED"


def test_a_batch_of_which_some_are_refused(live: Any) -> None:
    stdin = json.dumps([GOOD, {"target": {"type": "odd"}}, {**GOOD, "nme": 1}])
    result = live("submit", "--from", "-", stdin=stdin)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout.splitlines()[-1] == "1 of 3 submitted."
    wrong = [line.split(":")[0] for line in result.stderr.splitlines()]
    assert wrong == ["tasks[1].target.type", "tasks[2].nme"]


def test_batch_reports_which_key_is_taken(live: Any) -> None:
    keyed = {**GOOD, "idempotency_key": "k"}
    result = live("submit", "--from", "-", stdin=json.dumps([keyed, {**keyed, "payload": 1}]))
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr.startswith("tasks[1].idempotency_key: was used")


def test_refusal_in_a_batch_without_field_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    problem = {"title": "Try again", "detail": "The store does not answer."}
    print_refusal(7, {"status": 503, "error": problem})
    assert capsys.readouterr().err == "tasks[7]: Try again: The store does not answer.\n"


def test_a_long_list_goes_in_several_batches(live: Any) -> None:
    result = live("submit", "--from", "-", "--json", stdin=json.dumps([GOOD] * 101))
    assert [r["status"] for r in data(result)["results"]] == [201] * 101
    assert result.exit_code == ExitCode.OK


def test_empty_list_suggests_a_command(live: Any) -> None:
    assert "duetime submit --handler" in live("list").stdout
    assert live("list", "--status", "dead").stdout == "No task matches.\n"
    assert data(live("list", "--json")) == {"items": [], "next_cursor": None}


def test_list_continues_at_a_cursor(live: Any) -> None:
    ids = [submitted(live, "--handler", "echo")["id"] for _ in range(3)]
    page = data(live("list", "--limit", "2", "--json"))
    rest = data(live("list", "--cursor", page["next_cursor"], "--json"))
    assert sorted(t["id"] for t in page["items"] + rest["items"]) == sorted(ids)
    assert "There are more" in live("list", "--limit", "2").stdout
    assert "There are more" not in live("list").stdout


def test_list_reads_as_many_pages_as_it_takes(live: Any) -> None:
    live("submit", "--from", "-", stdin=json.dumps([GOOD] * 100))
    live("submit", "--from", "-", stdin=json.dumps([GOOD] * 5))
    assert len(data(live("list", "--all", "--json"))["items"]) == 105
    assert len(data(live("list", "--limit", "103", "--json"))["items"]) == 103
    assert len(data(live("list", "--json"))["items"]) == 20


def test_list_filters(live: Any, system: Any) -> None:
    dead = submitted(live, "--handler", "fail")["id"]
    system.run_due()
    other = submitted(live, "--handler", "echo", "--namespace", "shop")["id"]
    submitted(live, "--handler", "echo")
    assert dead in live("list", "--status", "dead").stdout
    assert [t["id"] for t in data(live("list", "--status", "DEAD", "--json"))["items"]] == [dead]
    shop = data(live("list", "--namespace", "shop", "--json"))["items"]
    assert [t["id"] for t in shop] == [other]


def test_list_takes_every_filter(live: Any) -> None:
    labels = ("--tag", "team=growth", "--name", "restock salt")
    growth = submitted(live, "--handler", "echo", "--in", "2h", *labels)["id"]
    other = submitted(live, "--handler", "echo", "--in", "1h", "--namespace", "shop")["id"]

    def listed(*words: str) -> list[str]:
        return [task["id"] for task in data(live("list", *words, "--json"))["items"]]

    assert listed("--status", "pending,running", "--tag", "team:growth") == [growth]
    assert listed("--tag", "team", "--name", "restock", "--handler", "echo") == [growth]
    assert listed("--target", "http") == listed("--since", "2d", "--before", "1d") == []
    assert listed("--order", "soonest", "--all-namespaces") == [other, growth]
    assert listed("-A", "--since", "1h") == [other, growth]
    assert listed("-A", "--due-since", "90m") == listed("--lane", "medium,low") == [growth]
    assert listed("-A", "--due-since", "-1h", "--due-before", "90m") == [other]
    assert listed("--with-key", "order-17") == listed("--error-type", "Http503") == []
    assert listed("--run", growth) == []
    assert growth in live("list", "--order", "soonest").stdout


def test_show_prints_the_payload_or_the_result_alone(live: Any) -> None:
    task_id = submitted(live, "--handler", "echo", "--payload", '{"name": "Ada"}')["id"]

    assert data(live("show", task_id, "--payload")) == {"name": "Ada"}
    assert live("show", task_id, "--result").exit_code == ExitCode.NOT_FOUND
    assert live("show", task_id, "--result", "--payload").exit_code == ExitCode.USAGE


def test_list_leaves_out_future_runs(live: Any) -> None:
    words = ("schedules", "create", "--every", "1m", "--handler", "echo", "--json")
    schedule_id = data(live(*words))["id"]
    mine = submitted(live, "--handler", "echo")["id"]

    def listed(*words: str) -> list[str]:
        return [task["id"] for task in data(live("list", *words, "--json"))["items"]]

    assert listed() == [mine]
    assert listed("--schedule", schedule_id) == []
    assert live("list", "--schedule", schedule_id).stdout.splitlines() == [
        "No task matches.",
        "Future runs of schedules are not shown: --upcoming.",
    ]
    runs = listed("--schedule", schedule_id, "--upcoming")
    assert len(runs) > 2
    assert listed("--upcoming") == listed("--status", "ENQUEUED") == [*runs, mine]
    assert listed("--upcoming", "--limit", "2") == runs[:2]
    assert listed("--limit", "1") == [mine]


def test_show_has_the_attempts(live: Any, system: Any) -> None:
    task_id = submitted(live, "--handler", "fail")["id"]
    system.run_due()
    shown = data(live("show", task_id, "--json"))
    assert (shown["status"], shown["attempts"][0]["outcome"]) == ("DEAD", "failed")
    result = live("show", task_id)
    assert result.exit_code == ExitCode.OK
    assert result.stdout.count("PermanentError: it must fail") == 3, "its traceback ends so too"


@pytest.mark.parametrize("command", ["show", "watch", "cancel"])
def test_show_of_an_unknown_task(live: Any, command: str) -> None:
    result = live(command, "01NOPE")
    assert result.exit_code == ExitCode.NOT_FOUND
    assert result.stdout == ""
    assert result.stderr == "Not found: There is no task 01NOPE.\n"


def test_cancel_continues_after_a_refusal(live: Any, system: Any) -> None:
    done = submitted(live, "--handler", "echo")["id"]
    system.run_due()
    first, last = (submitted(live, "--handler", "echo", "--in", "1h")["id"] for _ in range(2))
    result = live("cancel", first, done, "01NOPE", last)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout == f"{first} is CANCELLED\n{last} is CANCELLED\n"
    assert [done in line for line in result.stderr.splitlines()] == [True, False]


def test_cancel_of_a_running_task_is_requested(live: Any, system: Any) -> None:
    task_id = submitted(live, "--handler", "echo")["id"]
    system.lease()
    assert live("cancel", task_id).stdout == f"{task_id} is RUNNING and being stopped\n"
    assert data(live("cancel", task_id, "--json"))["items"][0]["cancel_requested"]
    assert "cancel requested" in live("show", task_id).stdout


@pytest.mark.parametrize(
    ("handler", "code", "end"),
    [
        ("report", ExitCode.OK, ["after 1 attempt", "50% half", "result  [1]"]),
        ("fail", ExitCode.NOT_DONE, ["DEAD", "error   PermanentError: it must fail"]),
    ],
)
def test_exit_code_of_watch_follows_the_task(
    live: Any, system: Any, handler: str, code: ExitCode, end: list[str]
) -> None:
    task_id = submitted(live, "--handler", handler, "--payload", "[1]")["id"]
    system.run_due()
    result = live("watch", task_id)
    assert result.exit_code == code
    assert all(words in result.stdout for words in end)
    as_json = live("watch", task_id, "--json")
    assert (as_json.exit_code, data(as_json)["id"]) == (code, task_id)


def test_large_payload_and_result_are_printed_by_show(live: Any, system: Any, tmp_path: Path):
    payload = ["a row of text"] * 30_000
    file = tmp_path / "big.json"
    file.write_text(json.dumps(payload))
    task_id = submitted(live, "--handler", "echo", "--payload", f"@{file}")["id"]
    system.run_due()

    end = live("watch", task_id).stdout.splitlines()[-1]
    assert end == f"result  duetime show {task_id} --result prints it"
    assert f"GET /v1/tasks/{task_id}/payload" in live("show", task_id).stdout.replace("\n", "")
    for part in ("--payload", "--result"):
        assert json.loads(live("show", task_id, part).stdout) == payload


def test_watch_of_a_task_that_never_ran(live: Any) -> None:
    task_id = submitted(live, "--handler", "echo", "--in", "1h")["id"]
    live("cancel", task_id)
    result = live("watch", task_id)
    assert result.exit_code == ExitCode.NOT_DONE
    assert "CANCELLED  before its first attempt" in result.stdout


def test_watch_gives_up(live: Any) -> None:
    result = live(*ECHO, "--in", "1h", "--watch", "--wait", "0")
    assert result.exit_code == ExitCode.TIMED_OUT
    assert "  PENDING    due in " in result.stdout.splitlines()[1]
    assert result.stderr.endswith("is still PENDING after 0 s\n")


def test_submit_and_watch_follows_to_the_end(
    live: Any, system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task runs between the first look and the second."""
    monkeypatch.setitem(MADE_WITH, "sleep", lambda _seconds: system.run_due())
    result = live("submit", "--handler", "echo", "--payload", "[1]", "--watch")
    assert result.exit_code == ExitCode.OK
    statuses = [line.split()[1] for line in result.stdout.splitlines()[1:3]]
    assert statuses == ["ENQUEUED", "SUCCEEDED"]
    assert result.stdout.splitlines()[-1] == "result  [1]"


def test_submit_and_watch_prints_the_ended_task_alone(
    live: Any, system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MADE_WITH, "sleep", lambda _seconds: system.run_due())
    result = live("submit", "--handler", "fail", "--watch", "--json")
    assert result.exit_code == ExitCode.NOT_DONE
    assert data(result)["status"] == "DEAD"


def test_watch_outlives_a_restart(
    live: Any, system: Any, front: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner is away for one look, and back at the next."""
    gone = iter([True, False])
    send = Transport._send

    def look(transport: Transport, request: Any) -> Any:
        if next(gone, False):
            raise Unreachable(transport.server.url)
        return send(transport, request)

    def pause(_seconds: float) -> None:
        system.run_due()
        monkeypatch.setattr(Transport, "_send", look)

    monkeypatch.setitem(MADE_WITH, "sleep", pause)
    result = live(*ECHO, "--watch")
    assert result.exit_code == ExitCode.OK
    assert result.stderr.count("trying again") == 1


def test_ctrl_c_while_watching(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []

    def interrupt(seconds: float) -> None:
        paused.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setitem(MADE_WITH, "sleep", interrupt)
    result = live(*ECHO, "--in", "1h", "--watch", "--every", "2m")
    assert paused == [pytest.approx(120, abs=60)]
    assert result.exit_code == ExitCode.INTERRUPTED
    assert result.stderr == ""
