"""The data folder: a file that is lost, damaged or not a store ends the runner with a sentence."""

import os
from pathlib import Path

import pytest

from tests.running import Runner, free_port, running, until

HELLO = {"type": "python", "handler": "duetime.hello"}
MOVES_AWAY = """
import os
from duetime import task

os.chdir({elsewhere!r})

@task("moves.away")
def move(payload, ctx):
    os.chdir({elsewhere!r})
"""


@pytest.fixture
def port() -> int:
    return free_port()


def store_in(folder: Path) -> Path:
    """A store that a runner has left behind."""
    with running(folder, free_port()) as runner:
        runner.submit(target=HELLO)
    return folder / "duetime.db"


def damage(file: Path) -> None:
    """Every page but the first, in place: a runner must not meet the file while it is empty."""
    with file.open("r+b") as store:
        store.seek(4_096)
        store.write(bytes(file.stat().st_size - 4_096))


def test_runner_whose_file_is_deleted_acknowledges_nothing_and_ends(tmp_path: Path, port: int):
    with running(tmp_path, port) as runner:
        runner.submit(target=HELLO)
        (tmp_path / "duetime.db").unlink()

        answer = runner.api.post("/tasks", json={"target": HELLO})
        code, said = runner.wait()

    assert answer.status_code == 503
    assert "duetime.db was deleted or moved while Duetime ran" in answer.json()["detail"]
    assert (code, "runner failed: " in said) == (1, True), said
    assert f"{tmp_path}/duetime.db was deleted or moved while Duetime ran" in said
    assert "Traceback" not in said
    assert not (tmp_path / "duetime.db").exists()


def test_runner_whose_file_is_replaced_leaves_the_other_store_alone(tmp_path: Path, port: int):
    other = store_in(tmp_path / "other")
    before = other.read_bytes()
    with running(tmp_path / "data", port) as runner:
        runner.submit(target=HELLO)
        other.replace(tmp_path / "data" / "duetime.db")
        answer = runner.api.post("/tasks", json={"target": HELLO})
        code, said = runner.wait()

    assert (answer.status_code, code) == (503, 1), said
    assert "was replaced while Duetime ran" in said
    assert (tmp_path / "data" / "duetime.db").read_bytes() == before


def test_relative_data_folder_stays_where_it_was_although_a_handler_moves_away(
    tmp_path: Path, port: int
):
    elsewhere = tmp_path / "elsewhere"
    store_in(elsewhere / "here")
    handlers = tmp_path / "moving.py"
    handlers.write_text(MOVES_AWAY.format(elsewhere=str(elsewhere)))
    options = ("--handlers", str(handlers))
    with running(Path("here"), port, *options, cwd=tmp_path) as runner:
        moved = runner.submit(target={"type": "python", "handler": "moves.away"})
        until(lambda: runner.ids("SUCCEEDED") == {moved})

    assert (tmp_path / "here" / "duetime.db").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: os.truncate(file, 0), "duetime.db is empty: put a backup in its place"),
        (damage, "duetime.db is damaged (database disk image is malformed): put a backup"),
        (lambda file: file.write_bytes(b"?" * 9_999), "duetime.db is damaged (file is not a data"),
    ],
    ids=["emptied", "damaged", "overwritten"],
)
def test_runner_does_not_start_on_a_spoilt_store(tmp_path: Path, port: int, spoil, said: str):
    spoil(store_in(tmp_path))

    code, output = Runner(tmp_path, port).wait()

    assert (code, said in output) == (1, True), output
    assert "Traceback" not in output


def test_runner_whose_file_is_damaged_while_it_runs_ends_with_a_sentence(tmp_path: Path, port: int):
    file = store_in(tmp_path)
    with running(tmp_path, port) as runner:
        damage(file)
        answer = runner.api.get("/dead-letters")
        code, said = runner.wait()

    assert answer.status_code == 503
    assert "is damaged" in answer.json()["detail"]
    assert (code, "put a backup in its place" in said) == (1, True), said
    assert "Traceback" not in said
