"""The files that deploy workers: their commands are those of the real command line, and what stops
a worker waits until it has drained. The steps of the Dockerfile run without a builder."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from duetime.cli import app
from duetime.worker.control_port import ControlPort
from tests.running import ROOT

FILES = ROOT / "examples/worker"
PAGE = (ROOT / "docs/how-to/deploy-workers.md").read_text()
DRAINED = 15  # seconds after the grace period, until an interruption is recorded
LANES = ("high", "medium", "low")


@cache
def read(name: str) -> str:
    return (FILES / name).read_text()


def dockerfile() -> list[tuple[str, str]]:
    """The instructions, each with its arguments."""
    text = re.sub(r"\\\n\s*", "", read("Dockerfile"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def last(name: str) -> str:
    return [rest for instruction, rest in dockerfile() if instruction == name][-1]


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(read("compose.yaml"))["services"])


def task_definition() -> dict[str, Any]:
    [container] = json.loads(read("ecs-on-ec2/task-definition.json"))["containerDefinitions"]
    return dict(container)


def pod() -> dict[str, Any]:
    documents = yaml.safe_load_all(read("kubernetes/worker.yaml"))
    [deployment] = [each for each in documents if each["kind"] == "Deployment"]
    return dict(deployment["spec"]["template"]["spec"])


def unit() -> dict[str, str]:
    pairs = re.findall(r"^(\w+)=(.*)$", read("systemd/duetime-worker@.service"), re.MULTILINE)
    return dict(pairs)


def systemd_command() -> list[str]:
    _, worker, *arguments = shlex.split(unit()["ExecStart"].replace("%i", "batch"))
    assert worker == "worker"
    return arguments


WORKERS = {
    "Dockerfile": json.loads(last("CMD")),
    "compose.yaml": compose()["worker"]["command"],
    "task-definition.json": task_definition()["command"],
    "worker.yaml": pod()["containers"][0]["args"],
    "systemd": systemd_command(),
}


def parsed(command: str, arguments: list[str]) -> dict[str, Any]:
    """What the command line makes of the arguments. Raises UsageError."""
    found = get_command(app).get_command(None, command)  # type: ignore[attr-defined]
    return dict(found.make_context(command, list(arguments)).params)


@pytest.mark.parametrize("file", WORKERS)
def test_command_of_a_worker_is_one_of_the_command_line(file: str):
    options = parsed("worker", WORKERS[file])

    assert options["handlers"]
    if file != "Dockerfile":
        assert options["pool"] == "batch"


def test_runner_of_compose_declares_the_pool_of_its_workers():
    runner, worker = compose()["runner"], parsed("worker", compose()["worker"]["command"])
    options = parsed("local", runner["command"])

    assert runner["entrypoint"] == ["duetime", "local"]
    assert options["pool"] == [worker["pool"]]
    assert worker["url"] == f"http://runner:{options['port']}"


WAITS = {
    "ECS on EC2": (task_definition()["stopTimeout"], "task-definition.json"),
    "Kubernetes": (pod()["terminationGracePeriodSeconds"], "worker.yaml"),
    "systemd": (int(unit()["TimeoutStopSec"]), "systemd"),
    "Compose": (int(compose()["worker"]["stop_grace_period"].removesuffix("s")), "compose.yaml"),
}


@pytest.mark.parametrize("where", WAITS)
def test_what_stops_a_worker_waits_until_it_has_drained(where: str):
    waits, file = WAITS[where]
    grace = int(parsed("worker", WORKERS[file])["grace"])

    assert waits >= grace + DRAINED
    assert re.search(rf"^\| {where} \|.*\| {waits} s \| {grace} \|$", PAGE, re.MULTILINE)


def test_keda_looks_at_every_lane_and_starts_a_pod_for_twice_its_concurrency():
    documents = yaml.safe_load_all(read("kubernetes/worker.yaml"))
    [scaled] = [each for each in documents if each["kind"] == "ScaledObject"]
    triggers = [trigger["metadata"] for trigger in scaled["spec"]["triggers"]]
    concurrency = parsed("worker", WORKERS["worker.yaml"])["concurrency"]

    assert [each["queueURL"].rpartition("batch-")[2] for each in triggers] == list(LANES)
    assert {int(each["queueLength"]) for each in triggers} == {2 * concurrency}
    assert {each["scaleOnInFlight"] for each in triggers} == {"true"}


def test_image_is_not_written_and_its_user_is_not_root():
    assert last("USER") == "10001:10001"
    assert pod()["securityContext"]["runAsUser"] == 10_001
    assert pod()["containers"][0]["securityContext"]["readOnlyRootFilesystem"]
    assert compose()["worker"]["read_only"]


def test_refused_worker_is_not_started_again_by_systemd():
    assert unit()["RestartPreventExitStatus"] == "2"
    assert unit()["KillSignal"] == "SIGTERM"


HEALTH = {
    "Dockerfile": json.loads(last("HEALTHCHECK").partition("CMD ")[2]),
    "task-definition.json": task_definition()["healthCheck"]["command"][1:],
    "worker.yaml": pod()["containers"][0]["livenessProbe"]["exec"]["command"],
}


@pytest.mark.parametrize("file", HEALTH)
def test_check_of_health_asks_the_control_port(file: str):
    python, *arguments = HEALTH[file]
    own = parsed("worker", WORKERS[file])["control_port"]
    assert python == "python"
    assert f"127.0.0.1:{own}/" in arguments[-1]

    for status, expected in (("ok", 0), ("failed", 1)):
        port = ControlPort(0)
        port.start(lambda status=status: {"status": status}, lambda: None)
        code = arguments[-1].replace(f":{own}/", f":{port.port}/")
        done = subprocess.run(
            [sys.executable, *arguments[:-1], code], check=False, capture_output=True
        )
        assert done.returncode == expected


def test_builder_gets_what_the_dockerfile_copies():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    sources = [
        source
        for name, rest in dockerfile()
        if name == "COPY" and not rest.startswith(("--from", "$"))
        for source in rest.split()[:-1]
    ]

    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored


@pytest.mark.long
def test_steps_of_the_image_make_a_worker_that_starts(tmp_path: Path):
    """With the Python of the tests, in a folder that takes the place of the image."""
    root = _image(tmp_path)
    python, *entry = json.loads(last("ENTRYPOINT")), *json.loads(last("CMD"))
    command = [str(root / "opt/duetime/bin" / python[0]), *python[1:], *entry]
    done = subprocess.run(
        [*command, "--url", "http://127.0.0.1:1/?x"],
        check=False,
        cwd=root / "app",
        capture_output=True,
        text=True,
        env={"PATH": str(root / "opt/duetime/bin")},
    )

    assert done.returncode == 2, done.stderr  # it has loaded the handlers, and read its options
    assert "must end with its host" in done.stderr
    assert (root / "app/handlers").is_dir()
    packages = root.glob("opt/duetime/lib/python*/site-packages")
    assert all((each / "duetime/console/static/index.html").exists() for each in packages)


def _image(folder: Path) -> Path:
    """Carries out the first stage of the Dockerfile below the folder."""
    variables = dict(os.environ)
    work, arguments = folder / "build", {}
    for name, given in dockerfile():
        rest = re.sub(r"(?<=[\s=\"'])/(opt|app|build)\b", rf"{folder}/\1", f" {given}").strip()
        if name == "FROM" and not rest.endswith("AS build"):
            break
        if name == "WORKDIR":
            work = Path(rest)
            work.mkdir(parents=True, exist_ok=True)
        elif name == "ARG":
            key, _, value = rest.partition("=")
            arguments[f"${{{key}}}"] = value
        elif name == "ENV":
            pairs = (pair.partition("=") for pair in rest.split())
            variables |= {key: v.replace("$PATH", os.environ["PATH"]) for key, _, v in pairs}
        elif name == "COPY":
            *sources, target = [arguments.get(part, part) for part in rest.split()]
            for source in sources:
                _copy(ROOT / source, work / target, into=target.endswith("/"))
        elif name == "RUN":
            done = subprocess.run(
                ["bash", "-euc", rest],
                check=False,
                cwd=work,
                env=variables,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{rest}: {done.stderr}"
    return folder


def _copy(source: Path, target: Path, *, into: bool) -> None:
    target = target / source.name if into else target
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)
