"""A cold API waits for no schedule: their part is loaded by the first call that wants it."""

import subprocess
import sys

ASK = """
import sys
from lambdas import api as handler
from duetime.api.app import Api
from duetime.api.http import Request
from types import SimpleNamespace

store = SimpleNamespace(get=lambda ids: {{}})
clock = SimpleNamespace(now=lambda: 0)
ports = SimpleNamespace(clock=clock, store=store, limits=None, runs=None, pools={{}})
api = Api(ports, handlers=set, version="1")
for path in {paths}:
    assert api.call(Request(method="GET", path=path)).status in (200, 404, 405)
print([name for name in sys.modules if name.startswith({names})])
"""
NAMES = (
    "croniter",
    "tzdata",
    "duetime.api.schedules",
    "duetime.core.schedules",
    "duetime.engine.mat",
    "duetime.api.service_target",
)


def loaded_after(*paths: str) -> str:
    code = ASK.format(paths=paths, names=NAMES)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_calls_for_tasks_load_no_schedule_modules():
    assert loaded_after("/v1/health", "/v1/tasks/x/y/z", "/v1/schedule", "/") == "[]"


def test_first_call_for_a_schedule_loads_its_modules_but_not_croniter():
    loaded = loaded_after("/v1/health", "/v1/schedules/x/y/z")

    assert "duetime.api.schedules.resource" in loaded
    assert "croniter" not in loaded
