"""`duetime limits`, and the options of tasks that name limits, against the real API over HTTP."""

from typing import Any

import pytest

from duetime.cli.exit_codes import ExitCode
from duetime.core.limits.definition import LimitUse
from duetime.core.task import ORDERING_KEY
from tests.cli.test_commands import data, submitted
from tests.factories import a_spec, a_task


def limit(live: Any, name: str, *words: str) -> Any:
    return data(live("limits", "show", name, *words, "--json"))


@pytest.mark.parametrize(
    ("words", "rate", "text"),
    [
        (["--rate", "5/s"], (5, 1.0, 0), "5 every 1 s"),
        (["--rate", "100/m", "--burst", "20"], (100, 60.0, 20), "100 every 1 min, 20 more"),
        (["--rate", "1000/h"], (1_000, 3_600.0, 0), "1000 every 1 h"),
        (["--rate", "3/10s"], (3, 10.0, 0), "3 every 10 s"),
    ],
)
def test_rate_is_set(live: Any, words: list[str], rate: Any, text: str) -> None:
    result = live("limits", "set", "stripe", *words)

    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout.startswith(f"stripe: {text}")
    found = limit(live, "stripe")["rate"]
    assert (found["count"], found["period"], found["burst"]) == rate


def test_limit_is_set_shown_listed_and_deleted(live: Any) -> None:
    live("limits", "set", "stripe", "--rate", "5/s", "--concurrency", "3")
    live("limits", "set", "reports", "--concurrency", "1", "--namespace", "shop")

    shown = live("limits", "show", "stripe", "--key", "acct-7").stdout
    assert shown.splitlines()[0] == "stripe  5 every 1 s; 3 at a time"
    assert "acct-7" in shown
    assert limit(live, "reports", "--namespace", "shop")["concurrency"] == 1
    listed = live("limits", "list").stdout
    assert "stripe" in listed
    assert "reports" not in listed
    everywhere = data(live("limits", "list", "--namespace", "*", "--json"))["items"]
    assert [item["name"] for item in everywhere] == ["stripe", "reports"]

    assert live("limits", "delete", "stripe").stdout == "Deleted stripe\n"
    assert live("limits", "list").stdout.startswith("No limits yet.")
    assert live("limits", "show", "stripe").exit_code == ExitCode.NOT_FOUND


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "--rate: say what to limit"),
        (["--burst", "2", "--concurrency", "1"], "--burst: goes with --rate"),
        (["--rate", "5"], "--rate: '5' does not look like"),
        (["--rate", "x/s"], "--rate: 'x/s' does not look like"),
        (["--rate", "5/x"], "--rate: '5/x' does not look like"),
        (["--rate", "5/"], "--rate: '5/' does not look like"),
        (["--rate", "5/fortnight"], "--rate"),
    ],
)
def test_bad_option_of_a_limit_is_refused(duetime: Any, words: list[str], reason: str) -> None:
    result = duetime("limits", "set", "stripe", *words)

    assert result.exit_code == ExitCode.USAGE
    assert reason in " ".join(result.stderr.split())


def test_refusal_of_the_api_names_the_field(live: Any) -> None:
    result = live("limits", "set", "stripe", "--concurrency", "101")

    assert result.exit_code == ExitCode.NOT_DONE
    assert "concurrency: must be at most 100" in result.stderr


def test_task_is_submitted_and_changed_with_limits(live: Any) -> None:
    live("limits", "set", "stripe", "--rate", "5/s")
    live("limits", "set", "reports", "--concurrency", "1")
    words = ("--handler", "echo", "--in", "1h", "--limit", "stripe:acct:7", "--limit", "reports")
    task = submitted(live, *words, "--on-full", "skip", "--fairness-key", "tenant-7")

    assert task["limits"] == [
        {"name": "stripe", "key": "acct:7", "on_full": "skip"},
        {"name": "reports", "key": None, "on_full": "skip"},
    ]
    assert task["fairness_key"] == "tenant-7"
    shown = live("show", task["id"]).stdout
    assert "stripe:acct:7 or skip, reports or skip" in " ".join(shown.split())

    live("change", task["id"], "--limit", "reports", "--fairness-key", "f")
    changed = data(live("show", task["id"], "--json"))
    assert changed["limits"] == [{"name": "reports", "key": None, "on_full": "queue"}]
    assert changed["fairness_key"] == "f"
    live("change", task["id"], "--unset", "limits", "--unset", "fairness_key")
    reset = data(live("show", task["id"], "--json"))
    assert (reset["limits"], reset["fairness_key"]) == ([], None)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--limit", ":acct-7"], "--limit: ':acct-7' does not look like"),
        (["--limit", "stripe:"], "--limit: 'stripe:' does not look like"),
        (["--on-full", "skip"], "--on-full: goes with --limit"),
    ],
)
def test_bad_limit_of_a_task_is_refused(duetime: Any, words: list[str], reason: str) -> None:
    result = duetime("submit", "--handler", "echo", *words)

    assert result.exit_code == ExitCode.USAGE
    assert reason in " ".join(result.stderr.split())


def test_unknown_limit_is_refused_with_a_suggestion(live: Any) -> None:
    live("limits", "set", "stripe", "--concurrency", "1")

    result = live("submit", "--handler", "echo", "--limit", "strip")

    assert result.exit_code == ExitCode.NOT_DONE
    assert "limits.0.name: there is no limit 'strip'" in result.stderr
    assert "did you mean 'stripe'?" in result.stderr


def test_task_that_waits_is_shown_with_what_it_waits_for(live: Any, system: Any) -> None:
    spec = a_spec(limits=(LimitUse(name="stripe", key="acct-7"),), ordering_key="o")
    held, ordered = a_task(spec=spec, held=0), a_task(spec=spec, held=ORDERING_KEY)
    system.store.put([held, ordered])

    assert "limit stripe:acct-7" in live("show", held.id).stdout
    assert "waiting for" in live("show", ordered.id).stdout
    assert "ordering key o" in live("show", ordered.id).stdout
