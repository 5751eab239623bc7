"""The pytest plugin in a project that is not this one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

APP = """
from duetime import task

@task("foreign.remind")
def remind(email: str) -> str:
    return email

def sign_up(email: str) -> None:
    remind.submit_in("24h", email=email)
"""
TESTS = """
import pytest
from app import remind, sign_up

def test_reminder(duetime_world):
    sign_up("ada@example.com")
    duetime_world.assert_submitted(remind, email="ada@example.com", due_in="24h")
    duetime_world.advance("24h")
    assert duetime_world.runs(remind)[0].status == "SUCCEEDED"

def test_each_test_has_a_world_of_its_own(duetime_world):
    assert duetime_world.submitted() == []

@pytest.mark.duetime(mode="inline", start="2028-01-01T00:00Z")
def test_marker_sets_the_options(duetime_world):
    assert remind.submit(email="ada@example.com").status() == "SUCCEEDED"
    assert duetime_world.now.year == 2028

def test_undeclared_url(duetime_world):
    duetime_world.client.submit(target={"type": "http", "url": "https://api.shop/charge"})
    duetime_world.drain()
"""
WITHOUT_EXTRAS = """
import sys
packages = {packages!r}
sys.modules.update(dict.fromkeys(packages))
from duetime import task
from duetime.testing import perform, world

@task("foreign.double")
def double(number: int) -> int:
    return 2 * number

assert perform(double, number=4) == 8
with world(serve=True) as w:
    assert double.submit(number=4).wait() == 8
    {more}
print("done")
"""
EVERY = ["boto3", "botocore", "aws_lambda_powertools", "uvicorn", "starlette", "typer", "rich"]
EVERY += ["moto", "croniter", "urllib3", "psycopg", "pytest"]


# Of the plugins of this environment only ours: the others take seconds to load.
OPTIONS = ("-p", "duetime", "-p", "no:cacheprovider", "--strict-markers")


@pytest.fixture(autouse=True)
def _few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def foreign(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(app=APP, test_app=TESTS)
    return pytester


def test_fixture_serves_a_foreign_project(foreign: pytest.Pytester):
    result = foreign.runpytest_subprocess(*OPTIONS)

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *UndeclaredRequest: a task sent POST https://api.shop/charge, and no route answers"
            ' it. Declared: none. Declare it: w.http.post("https://api.shop/charge").replies(200)'
        ]
    )


@pytest.mark.long
def test_fixture_serves_the_processes_of_xdist(foreign: pytest.Pytester):
    result = foreign.runpytest_subprocess(*OPTIONS, "-p", "xdist", "-n2", "-k", "not undeclared")
    result.assert_outcomes(passed=3)


def test_plugin_loads_nothing_of_the_kit_at_the_start_of_pytest(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            ours = {name for name in sys.modules if name.startswith("duetime")}
            rest = {"duetime", "duetime.version", "duetime.testing", "duetime.testing.plugin"}
            assert ours == rest
            assert "httpx" not in sys.modules
        """
    )
    pytester.runpytest_subprocess(*OPTIONS).assert_outcomes(passed=1)


def python(more: str = "pass") -> subprocess.CompletedProcess[str]:
    code = WITHOUT_EXTRAS.format(packages=EVERY, more=more)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_world_of_handlers_needs_no_package_of_an_extra():
    ran = python()
    assert (ran.stdout, ran.stderr) == ("done\n", "")


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (
            "w.client.submit(target={'type': 'http', 'url': 'https://api.shop'}); w.drain()",
            "What runs http tasks in tests is not installed",
        ),
        (
            "w.client.schedules.create(rule={'type': 'cron', 'expression': '* * * * *'},"
            " task={'target': {'type': 'python', 'handler': 'foreign.double'}})",
            "What cron schedules need in tests is not installed",
        ),
    ],
    ids=["http", "cron"],
)
def test_missing_extra_is_named(more: str, what: str):
    ran = python(more)
    assert f"NotInstalled: {what}: pip install 'duetime[testing]'" in ran.stderr


def test_public_names_are_typed(tmp_path: Path):
    """A user's tests pass mypy --strict, and mistakes are found."""
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "test_typed.py").write_text(
        """
from app import remind
from duetime.testing import AttemptRecord, TaskRecord, World, perform, world

def test_it(duetime_world: World) -> None:
    found: TaskRecord = duetime_world.assert_submitted(remind, email="a")
    attempts: list[AttemptRecord] = duetime_world.attempts(remind.submit(email="a"))
    text: str = perform(remind, email="a")
    with world(mode="inline", seed=3) as w:
        w.advance("24h")
        w.http.post("https://api.shop").replies(503, 200, json={"ok": True})

def mistakes(w: World) -> None:
    w.advance(None)  # error
    number: int = perform(remind, email="a")  # error
    world(mode="eager")  # error
    w.runs(5)  # error
"""
    )
    cache = Path(__file__).parents[2] / ".mypy_cache"
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "test_typed.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (tmp_path / "test_typed.py").read_text().splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if line.endswith("# error")]
    found = [int(line.split(":")[1]) for line in ran.stdout.splitlines() if ": error:" in line]
    assert found == wrong, ran.stdout + ran.stderr
