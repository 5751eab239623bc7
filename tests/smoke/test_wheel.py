"""The wheel, as a user installs it into a project that has a package `lambdas` of its own."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.running import ROOT, free_port, running, until

HANDLERS = """\
import lambdas
from duetime import Client, Context, task

@task("greet")
def greet(payload: dict[str, str], ctx: Context) -> str:
    return f"{lambdas.GREETING} {payload['name']}"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built by setuptools without a network, from a copy: the build leaves files behind."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for package in ("duetime", "lambdas"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, source / package, ignore=ignored)
    build = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (found,) = (source / "dist").glob("*.whl")
    return zipfile.ZipFile(found)


@pytest.fixture(scope="module")
def installed(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    wheel.extractall(site)
    return site


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "lambdas").mkdir()
    (tmp_path / "lambdas" / "__init__.py").write_text('GREETING = "Hello"\n')
    (tmp_path / "handlers.py").write_text(HANDLERS)
    return tmp_path


def test_wheel_has_the_package_with_its_types_and_no_other(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    (metadata,) = {name.partition("/")[0] for name in names} - {"duetime"}
    assert metadata.endswith(".dist-info")
    assert "duetime/py.typed" in names
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "duetime").rglob("*.py")}
    assert modules <= set(names)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (("-c", "import duetime; print(duetime.__file__)"), "{site}/duetime/__init__.py"),
        (("-c", "import duetime, lambdas; print(lambdas.GREETING)"), "Hello"),
        (("-m", "duetime", "--version"), "duetime "),
    ],
    ids=["import", "own lambdas", "version"],
)
def test_installed_package_leaves_the_lambdas_of_the_project_alone(
    installed: Path, project: Path, command: tuple[str, ...], output: str
) -> None:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(output.format(site=installed)), done.stderr


def test_installed_package_runs_the_handlers_of_the_project(installed: Path, project: Path) -> None:
    options = ("--handlers", "handlers")
    with running(project / "data", free_port(), *options, cwd=project, package=installed) as runner:
        target = {"type": "python", "handler": "greet"}
        task_id = runner.submit(target=target, payload={"name": "Ada"})
        until(lambda: runner.ids("SUCCEEDED") == {task_id})
        assert runner.task(task_id)["result"] == "Hello Ada"
