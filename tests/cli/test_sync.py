"""`duetime manifest`, `duetime sync`, and schedules by name."""

from pathlib import Path
from typing import Any

import pytest

from duetime.client import Client
from duetime.handlers import registry
from tests.cli.test_commands import data

ECHO = {"type": "python", "handler": "echo"}
SHOP = """
from duetime import cron, every, task


@task("echo", schedule=cron("0 9 * * 1-5", tz="Europe/Berlin"))
def daily(payload, ctx): ...


@task("fail", priority="low", schedule=every("10m", name="often", payload={"full": False}))
def often(payload, ctx): ...
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the command, with handlers that the API of the tests has too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    found = tmp_path / "handlers"
    found.mkdir()
    (found / "shop.py").write_text(SHOP)
    assert {"echo", "fail"} <= registry.names()
    return found


def actions(result: Any) -> list[tuple[str, str]]:
    return [(step["action"], step["name"]) for step in data(result)["schedules"]]


def test_manifest_is_printed_for_people_and_for_machines(duetime: Any):
    shown = duetime("manifest")

    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == [
        "App shop",
        "  echo  shop.py:5",
        '    echo: cron "0 9 * * 1-5" Europe/Berlin  shop.py:5',
        '  fail  shop.py:9  {"priority":"low"}',
        "    often: every 600 s  shop.py:9",
    ]
    found = data(duetime("manifest", "handlers/shop.py", "--app", "other", "--json"))
    assert (found["app"], list(found["handlers"])) == ("other", ["echo", "fail"])
    assert found["schedules"][1]["task"]["payload"] == {"full": False}


def test_manifest_and_sync_refuse_a_computed_argument_with_its_line(duetime: Any, folder: Path):
    (folder / "shop.py").write_text(SHOP.replace('"10m"', "10 * 60"))

    for command in ("manifest", "sync"):
        refused = duetime(command)
        assert refused.exit_code == 1
        assert "handlers/shop.py:9: the argument of a schedule must be a literal" in refused.stderr


def test_manifest_and_sync_refuse_a_payload_that_does_not_fit(duetime: Any, folder: Path):
    (folder / "shop.py").write_text(SHOP.replace("often(payload, ctx)", "often(force: bool)"))

    for command in ("manifest", "sync"):
        refused = duetime(command)
        assert refused.exit_code == 1
        reason = "payload.full: is not a parameter of handler 'fail'"
        assert f"handlers/shop.py:9: {reason}" in refused.stderr


def test_sync_prints_what_it_does_as_a_diff(live: Any, folder: Path):
    assert live("sync", "--dry-run").stdout.startswith("App shop, generation 1: would sync\n")
    lines = live("sync").stdout.splitlines()
    assert lines[0] == "App shop, generation 1: synced"
    assert [line.split()[:4] for line in lines[1:]] == [
        ["+", "create", "echo", "shop.py:5"],
        ["+", "create", "often", "shop.py:9"],
    ]
    only = SHOP.partition('@task("fail"')[0].replace("0 9 *", "0 8 *")
    (folder / "shop.py").write_text(only)
    assert [line.split()[:3] for line in live("sync").stdout.splitlines()[1:]] == [
        ["~", "change", "echo"],
        ["‖", "removed", "often"],
    ]
    assert actions(live("sync", "--prune", "--json")) == [("same", "echo"), ("pruned", "often")]


def test_empty_code_is_refused_and_an_app_can_be_retired(live: Any, folder: Path):
    live("sync")
    (folder / "shop.py").write_text("from duetime import task\n@task('echo')\ndef f(p, ctx): ...")

    refused = live("sync")

    assert refused.exit_code == 1
    fact = "App shop declares no schedule, and has 2 from code."
    assert f"{fact} To pause them, sync with --allow-empty." in refused.stderr
    emptied = actions(live("sync", "--allow-empty", "--json"))
    assert sorted(emptied) == [("removed", "echo"), ("removed", "often")]
    assert live("sync", "--retire").exit_code == 2
    gone = actions(live("sync", "--app", "shop", "--retire", "--prune", "--json"))
    assert {action for action, _ in gone} == {"pruned"}


def test_folder_whose_last_handler_is_gone_can_be_synced_empty(live: Any, folder: Path):
    live("sync")
    (folder / "shop.py").write_text("")

    assert "handlers registers no handler" in live("sync").stderr
    emptied = actions(live("sync", "--allow-empty", "--json"))
    assert sorted(emptied) == [("removed", "echo"), ("removed", "often")]


def test_unknown_app_is_not_retired_and_nothing_is_stored(live: Any, system: Any):
    live("sync")
    before = system.ports.schedules.apps()

    refused = live("sync", "--app", "nosuch", "--retire")

    assert refused.exit_code == 4
    reason = "There is no app 'nosuch' that has declared schedules; known: shop."
    assert reason in refused.stderr
    assert system.ports.schedules.apps() == before


def test_handler_of_another_app_is_refused_with_the_option_that_helps(live: Any):
    live("sync")

    refused = live("sync", "handlers/shop.py", "--app", "handlers")

    assert refused.exit_code == 1
    assert "is declared by app 'shop' at shop.py:5" in refused.stderr
    assert "If both are one app, give its name with --app." in refused.stderr
    assert live("sync", "handlers/shop.py", "--app", "shop").exit_code == 0


def test_plan_has_its_places_and_ids_in_columns(live: Any, folder: Path):
    (folder / "shop.py").write_text(SHOP.replace('@task("fail"', '\n\n@task("fail"'))

    lines = live("sync").stdout.splitlines()[1:]

    assert [line[21:34] for line in lines] == ["shop.py:5   0", "shop.py:11  0"]


def test_resume_by_hand_is_kept_and_said(live: Any, folder: Path):
    live("sync")
    (folder / "shop.py").write_text(SHOP.partition('@task("fail"')[0])
    assert "(" not in live("sync").stdout
    assert live("sync").stdout.rstrip().endswith("(paused by an earlier sync)")

    live("schedules", "resume", "often")

    assert live("sync").stdout.rstrip().endswith("(resumed by hand, and stays active)")
    assert data(live("schedules", "show", "often", "--json"))["status"] == "active"


def test_schedule_is_found_by_name_and_detached(live: Any):
    live("sync")

    shown = live("schedules", "show", "often")
    assert "shop.py:9, by app shop" in shown.stdout
    refused = live("schedules", "delete", "often", "--yes")
    assert refused.exit_code == 1
    assert "declared at shop.py:9 by app shop" in refused.stderr
    assert live("schedules", "pause", "often", "--note", "later").exit_code == 0
    assert data(live("schedules", "show", "often", "--json"))["status"] == "paused"
    assert live("schedules", "detach", "often").stdout.startswith("Detached ")
    assert live("schedules", "delete", "often", "--yes").exit_code == 0
    missing = live("schedules", "show", "often")
    assert missing.exit_code == 4
    assert "There is no schedule 'often' in namespace default." in missing.stderr


def test_name_of_a_declared_and_another_schedule_is_not_unique(live: Any, front: Any):
    fields = {"rule": {"type": "rate", "every": 60}, "task": {"target": ECHO}}
    with Client(front.url) as client:
        client.schedules.put("often", **fields)
    live("sync")

    for command in ("show", "pause", "delete"):
        refused = live("schedules", command, "often", *(["--yes"] if command == "delete" else []))
        assert refused.exit_code == 1
        assert "2 schedules have that name; use an id: " in refused.stderr
