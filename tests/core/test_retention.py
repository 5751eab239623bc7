import pytest

from duetime.core.lifecycle import Status
from duetime.core.retention import kept_until
from duetime.core.times import DAY
from tests.factories import NOW


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.CANCELLED, Status.EXPIRED])
def test_task_in_a_final_status_is_kept_for_the_retention(status):
    assert kept_until(status, NOW, 7 * DAY) == NOW + 7 * DAY


@pytest.mark.parametrize("status", [s for s in Status if not s.final])
def test_task_that_is_not_final_is_kept(status):
    assert kept_until(status, NOW, 7 * DAY) is None
