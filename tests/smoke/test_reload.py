"""`duetime local --reload` as a user starts it."""

import signal
from collections.abc import Callable
from pathlib import Path

from tests.running import Runner, free_port, running, until

OLD = """
from pathlib import Path
from duetime import task

@task("shop.slow")
def slow(payload, ctx):
    Path(payload, "begun").write_text("")
    while not Path(payload, "go-on").exists():
        ctx.heartbeat()
    return version()

@task("shop.alone", isolated=True)
def alone(payload, ctx):
    return version()

def version():
    return 1
"""


def test_runner_reloads_handlers_while_an_attempt_runs(tmp_path: Path) -> None:
    folder = tmp_path / "handlers"
    folder.mkdir()
    file = folder / "shop_reloaded.py"
    file.write_text(OLD)
    options = ("--handlers", str(folder), "--reload")
    with running(tmp_path / "data", free_port(), *options) as runner:
        slow = submit(runner, "shop.slow", str(tmp_path))
        until((tmp_path / "begun").exists)
        assert refused(runner, "shop.added")

        file.write_text(OLD.replace("return 1", "return 2"))
        until(returns(runner, "shop.alone", 2))
        (folder / "added_to_shop.py").write_text(
            "from duetime import task\n\n@task('shop.added')\ndef added(payload, ctx): return 3\n"
        )
        until(lambda: not refused(runner, "shop.added"))

        tried = tmp_path / "tried"
        file.write_text(f"open({str(tried)!r}, 'w')\nraise RuntimeError('broken')\n")
        (folder / "added_to_shop.py").unlink()
        until(tried.exists)
        assert returns(runner, "shop.alone", 2)()
        file.write_text(OLD.replace("return 1", "return 4"))
        until(returns(runner, "shop.alone", 4))
        assert refused(runner, "shop.added")

        (tmp_path / "go-on").write_text("")
        until(lambda: runner.task(slow)["status"] == "SUCCEEDED")
        assert (runner.task(slow)["result"], runner.task(slow)["attempt"]) == (1, 1)
        code, said = runner.end(signal.SIGINT)

    assert code == 0, said
    assert "handlers reloaded" in said
    reason = f"{file}:2: RuntimeError: broken; the loaded ones stay in use"
    assert f"handlers not reloaded: {reason}\n" in said
    assert "Traceback" not in said


def submit(runner: Runner, handler: str, payload: object = None) -> str:
    return runner.submit(target={"type": "python", "handler": handler}, payload=payload)


def refused(runner: Runner, handler: str) -> bool:
    body = {"target": {"type": "python", "handler": handler}, "delay": 3_600}
    return runner.api.post("/tasks", json=body).status_code == 422


def returns(runner: Runner, handler: str, result: int) -> Callable[[], bool]:
    def ran() -> bool:
        task_id = submit(runner, handler)
        until(lambda: runner.task(task_id)["status"] == "SUCCEEDED")
        return bool(runner.task(task_id)["result"] == result)

    return ran
