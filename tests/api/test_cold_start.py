"""A cold API waits for no schedule: their part is loaded by the first call that wants it."""

import subprocess
import sys

ASK = """
import sys
from lambdas.api import handler
from lambdas.api.app import Api
from lambdas.api.http import Request
from types import SimpleNamespace

store = SimpleNamespace(get=lambda ids: {{}})
ports = SimpleNamespace(clock=SimpleNamespace(now=lambda: 0), store=store)
api = Api(ports, handlers=set, version="1")
for path in {paths}:
    assert api.call(Request(method="GET", path=path)).status in (200, 404, 405)
print([name for name in sys.modules if name.startswith({names})])
"""
NAMES = ("croniter", "tzdata", "lambdas.api.schedules", "lambdas.core.schedules", "lambdas.mat")


def loaded_after(*paths: str) -> str:
    code = ASK.format(paths=paths, names=NAMES)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_other_calls_load_nothing_of_schedules():
    assert loaded_after("/v1/health", "/v1/tasks/x/y/z", "/v1/schedule", "/") == "[]"


def test_the_first_call_for_a_schedule_loads_them_but_not_croniter():
    loaded = loaded_after("/v1/health", "/v1/schedules/x/y/z")

    assert "lambdas.api.schedules.routes" in loaded
    assert "croniter" not in loaded
