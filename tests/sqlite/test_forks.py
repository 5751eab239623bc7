"""A process forked from one that has a store open can neither use it nor harm it."""

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duetime.core.change import Applied
from duetime.core.errors import DataInUse
from duetime.core.listings import Listing
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import a_task
from tests.sqlite.test_files import elsewhere, open_and_close

REFUSED = 7
STDOUT = 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "duetime.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(path)) as store:
        store.put([a_task()])
        store.page(Listing())
        yield store


def in_forked_child(act: Callable[[], object]) -> int:
    """How a child ends that does this."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            act()
            code = 0
        except RuntimeError:
            code = REFUSED
        except AssertionError:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_forked_child_can_neither_read_nor_write(store: SqliteTaskStore):
    assert in_forked_child(lambda: store.page(Listing())) == REFUSED
    assert in_forked_child(lambda: store.put([a_task()])) == REFUSED
    assert in_forked_child(store.check) == REFUSED


def test_forked_child_that_waits_for_no_lock_is_refused_while_another_thread_writes(
    store: SqliteTaskStore,
):
    """A lock that a thread of the parent holds is never released in the child."""
    with store._database._write_lock:
        assert in_forked_child(lambda: store.put([a_task()])) == REFUSED


def test_forked_child_has_none_of_the_files_open(store: SqliteTaskStore, path: Path):
    def look() -> None:
        names = {os.path.realpath(f"/dev/fd/{fd}") for fd in os.listdir("/dev/fd")}
        assert not [name for name in names if str(path.parent) in name]

    with pytest.raises(AssertionError):
        look()
    assert in_forked_child(look) == 0


def test_output_of_a_grandchild_stays_inheritable_although_it_is_dev_null(store: SqliteTaskStore):
    """The numbers of the store's files are /dev/null in the child, like that output."""

    def look() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        assert in_forked_child(lambda: check_inheritable(STDOUT)) == 0

    assert in_forked_child(look) == 0


def check_inheritable(descriptor: int) -> None:
    assert os.get_inheritable(descriptor)


def test_forked_child_leaves_the_locks_of_its_parent(store: SqliteTaskStore, path: Path):
    assert in_forked_child(lambda: None) == 0

    path.with_suffix(".held").unlink()
    assert elsewhere(open_and_close, path) == DataInUse.__name__
    [answer] = store.put([a_task()])
    assert isinstance(answer, Applied)
    assert len(store.page(Listing()).tasks) == 2
