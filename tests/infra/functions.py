"""The functions of a stack, each in a process that sees only its bundle and Lambda's libraries."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

import botocore

from duetime.core.times import Millis
from infra.bundle import Machine, interpreter

PATIENCE = 300.0  # seconds; a test that waits that long has failed
BROUGHT_BY_LAMBDA = (
    *("boto3", "botocore", "s3transfer", "jmespath", "urllib3"),
    *("dateutil", "six.py"),
)


@dataclass
class Reply:
    answer: Any
    printed: list[Any]


@dataclass
class Function:
    """One function, in a process of its own from its first call on."""

    name: str
    arn: str
    handler: str
    bundle: Path
    environment: dict[str, str]
    libraries: Path
    scratch: Path
    calls: set[tuple[str, ...]] = field(default_factory=set)
    printed: list[Any] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None

    def invoke(self, event: Any, now: Millis, milliseconds: int) -> Reply:
        if self.process is None:
            self.process = self._start()
        order = {"name": self.name, "arn": self.arn, "event": event}
        order |= {"now": now, "milliseconds": milliseconds}
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        give_up = Timer(PATIENCE, self.process.kill)
        give_up.start()
        line = self.process.stdout.readline()
        give_up.cancel()
        assert line, (
            f"{self.name} did not answer: it may wait for its clock, which does not advance"
        )
        reply = json.loads(line)
        assert "error" not in reply, f"{self.name}: {reply['error']}"
        self.calls |= {tuple(call) for call in reply["calls"]}
        printed = [json.loads(line) for line in reply["printed"] if line]
        self.printed += printed
        return Reply(reply["answer"], printed)

    def _start(self) -> subprocess.Popen[str]:
        runtime = Path(__file__).with_name("runtime.py")
        python = interpreter(Machine.this().python)
        command = [str(python), "-I", "-S", str(runtime)]
        command += [str(self.bundle), str(self.libraries), self.handler]
        environment = self.environment | {"PRINTED": str(self.scratch / f"{self.name}.log")}
        environment |= {"AWS_LAMBDA_FUNCTION_NAME": self.name, "PATH": os.environ["PATH"]}
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def brought_by_lambda(scratch: Path) -> Path:
    """Returns Lambda's own libraries, and nothing else that is installed here."""
    folder, installed = scratch / "libraries", Path(botocore.__file__).parents[1]
    if not folder.exists():
        folder.mkdir()
        for name in BROUGHT_BY_LAMBDA:
            (folder / name).symlink_to(installed / name)
    return folder
