import pytest

from lambdas.core.lifecycle import Status
from lambdas.core.retention import kept_until
from lambdas.core.times import DAY
from tests.factories import NOW


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.CANCELLED, Status.EXPIRED])
def test_what_is_over_is_kept_for_a_while(status):
    assert kept_until(status, NOW, 7 * DAY) == NOW + 7 * DAY


@pytest.mark.parametrize("status", [s for s in Status if not s.final])
def test_what_goes_on_or_can_be_revived_is_kept(status):
    assert kept_until(status, NOW, 7 * DAY) is None
