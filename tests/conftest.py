"""Settings of all tests: what Hypothesis draws, how files are shared among processes, logging."""

import gc
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import quick_moto

# Loaded before any test module is imported: `@settings(...)` takes what it does not name from the
# profile of that moment. `HYPOTHESIS_PROFILE=wide` draws fresh and many; run it after a change to
# a rule.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],  # two shared cores say little about a strategy
)
settings.register_profile("long", settings.get_profile("steady"), max_examples=60)
settings.register_profile(
    "wide", settings.get_profile("steady"), derandomize=False, max_examples=500
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(autouse=True)
def plain_package_logger() -> None:
    """Resets the logger `duetime` before each test: importing a Lambda function configures it for
    the whole process, and then no record reaches `caplog`."""
    logger = logging.getLogger("duetime")
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out a file that takes seconds to collect, all of it long tests."""
    quick = config.getoption("markexpr") == "not long"
    return True if quick and collection_path.name == "test_schemathesis_limits.py" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs tests/infra first: it takes the longest, and only one process can do it."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/infra/"))


def pytest_collection_finish() -> None:
    """What was imported stays; the garbage collector would look through it again and again."""
    quick_moto.install()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With loadfile a process takes whole files, and makes the fixtures of each module once. Here
    tests/infra counts as one: its files share synthesized stacks and the bundles on the disk. The
    tests of the simulation share nothing, and each is taken alone."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "loadfile":
        return None

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            if file.startswith("tests/infra/"):
                return "tests/infra"
            return nodeid if file.startswith("tests/simulation/") else file

    return ByFile(config, log)
