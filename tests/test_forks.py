"""A forked child that returns from a handler's code exits there."""

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from duetime.forks import EndForkedChild, check_process


def code_of(act: Callable[[], Any]) -> int:
    """Returns how a forked child exits whose handler does this."""
    with EndForkedChild():
        pid = os.fork()
        if not pid:
            act()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def fail() -> None:
    raise ValueError("in the child")


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda: None, 0),
        (sys.exit, 0),
        (lambda: sys.exit(3), 3),
        (lambda: sys.exit(-1), 255),
        (lambda: sys.exit("words"), 1),
        (fail, 1),
    ],
    ids=["return", "exit", "exit 3", "exit -1", "exit with words", "raise"],
)
def test_forked_child_ends_with_the_code_that_it_asked_for(act: Callable[[], Any], code: int):
    assert code_of(act) == code


def test_parent_process_continues_after_a_fork():
    with EndForkedChild():
        here = os.getpid()
    assert here == os.getpid()
    with pytest.raises(ValueError, match="in the child"), EndForkedChild():
        fail()


def test_other_process_is_refused():
    check_process(os.getpid())
    with pytest.raises(RuntimeError, match="a forked process cannot use"):
        check_process(os.getpid() + 1)
