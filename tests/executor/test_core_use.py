"""Whether an attempt computed, with a stepped clock."""

import pytest

from duetime.executor.isolation import core_use
from duetime.executor.isolation.core_use import CoreUse


class Thread:
    """How long it has lived, used a core and waited for one, in seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lived = self.used = self.waited = 100.0
        monkeypatch.setattr(core_use, "monotonic", lambda: self.lived)
        monkeypatch.setattr(core_use, "thread_time", lambda: self.used)
        monkeypatch.setattr(core_use, "_waited_for_core", lambda: self.waited)

    def live(self, lived: float, *, used: float, waited: float) -> None:
        self.lived += lived
        self.used += used
        self.waited += waited


@pytest.mark.parametrize(
    ("used", "waited", "computed"),
    [(0.9, 0.0, True), (0.1, 0.0, False), (0.3, 0.6, True), (0.1, 0.1, False)],
)
def test_attempt_computed_if_it_used_a_core_or_waited_for_one(
    monkeypatch: pytest.MonkeyPatch, used: float, waited: float, computed: bool
):
    thread = Thread(monkeypatch)
    use = CoreUse()
    for _ in range(5):  # what the others have used is not counted
        began = use.begin()
        thread.live(1.0, used=used, waited=waited)
        assert use.computed_since(began) is computed


def test_wait_for_a_core_is_read_from_the_kernel_if_it_says_so(monkeypatch: pytest.MonkeyPatch):
    assert core_use._waited_for_core() >= 0

    monkeypatch.setattr(core_use, "WAITED", "/there/is/none")
    assert core_use._waited_for_core() == 0
