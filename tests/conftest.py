"""Settings of all tests: what Hypothesis draws, how files are shared among processes, when a test
hangs, logging."""

import faulthandler
import gc
import logging
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import quick_moto

gc.disable()  # while modules are imported: all of them stay; `pytest_runtestloop` enables it again

# Loaded before any test module is imported: `@settings(...)` takes what it does not name from the
# profile of that moment. `HYPOTHESIS_PROFILE=wide` draws fresh and many; run it after a change to
# a rule.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    print_blob=True,
    report_multiple_bugs=False,  # several would be an ExceptionGroup
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


HANGS = 600  # seconds: a test that takes so long ends the run, with every thread's stack
ARMED_ANEW = 60  # seconds
_watched: dict[str, Any] = {"armed_at": -ARMED_ANEW}


def pytest_configure(config: pytest.Config) -> None:
    _watched["stderr"] = os.fdopen(os.dup(2), "w")  # that of the run, not what a test captures


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """Does what pytest's `faulthandler_timeout` does, which starts and ends a thread for each test:
    on a busy machine that takes longer than most tests."""
    now = time.monotonic()
    if now - _watched["armed_at"] >= ARMED_ANEW:
        after = HANGS + ARMED_ANEW
        faulthandler.dump_traceback_later(after, file=_watched["stderr"], exit=True)
        _watched["armed_at"] = now
    return (yield)


def pytest_unconfigure() -> None:
    faulthandler.cancel_dump_traceback_later()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out a file that takes seconds to collect, all of it long tests."""
    quick = config.getoption("markexpr").startswith("not long")
    return True if quick and collection_path.name == "test_schemathesis_limits.py" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs tests/infra first, since it takes the longest and only one process can do it, and then
    the files of the console, each of which takes long and is not divided."""
    first = ("tests/infra/", "tests/console/")
    items.sort(key=lambda item: [not item.nodeid.startswith(folder) for folder in first])


def pytest_collection_finish() -> None:
    """What was imported stays; the garbage collector would look through it again and again."""
    quick_moto.install()
    gc.collect()
    gc.freeze()


def pytest_runtestloop() -> None:
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With loadfile a process takes whole files, and makes the fixtures of each module once. Here
    tests/infra counts as one: its files share synthesized stacks and the bundles on the disk. The
    tests of the simulation share nothing, and each is taken alone, as are the long tests: most take
    seconds, and few share more than a folder."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "loadfile":
        return None

    long = "long and" in config.getoption("markexpr")

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            if file.startswith("tests/infra/"):
                return "tests/infra"
            alone = file.startswith("tests/simulation/") or (long and "/console/" not in file)
            return nodeid if alone else file

    return ByFile(config, log)
