"""The clocks of rate limits, which many executors share."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duetime.core.change import Unknown
from duetime.core.limits.definition import Rate
from duetime.core.limits.ports import RateStore
from duetime.core.limits.rate import RateKey, RateState, SlotRequest, blocked, reserved
from duetime.core.quotas import nanos
from duetime.core.times import DAY, MINUTE, SECOND, Millis
from tests.factories import NOW, an_id

STRIPE = RateKey(namespace="default", name="stripe")
RATE = Rate(count=5, period=SECOND)
BURST = Rate(count=2, period=SECOND, burst=2)


def slots(
    rates: RateStore,
    count: int,
    now: Millis = NOW,
    rate: Rate = RATE,
    key: RateKey = STRIPE,
    at_once: bool = False,
) -> list[Millis]:
    request = SlotRequest(key=key, rate=rate, count=count, asked_at=now, at_once=at_once)
    [answer] = rates.reserve([request])
    assert not isinstance(answer, Unknown)
    return list(answer)


def test_reservations_follow_each_other(rates: RateStore):
    first, second = slots(rates, 3), slots(rates, 2, NOW + 100)

    assert [slot - NOW for slot in first] == [0, 200, 400]
    assert [slot - NOW for slot in second] == [600, 800]


def test_idle_limit_starts_from_now(rates: RateStore):
    slots(rates, 3)

    assert slots(rates, 2, NOW + MINUTE) == [NOW + MINUTE, NOW + MINUTE + 200]


def test_each_key_name_and_namespace_has_its_own_clock(rates: RateStore):
    keys = [
        STRIPE,
        replace(STRIPE, key="acct-7"),
        replace(STRIPE, name="mail"),
        replace(STRIPE, namespace="other"),
    ]
    requests = [SlotRequest(key=key, rate=RATE, count=2, asked_at=NOW) for key in keys]

    assert rates.reserve(requests) == [[NOW, NOW + 200]] * 4
    assert rates.states(keys) == [RateState(tat=nanos(NOW + 400))] * 4


def test_request_at_once_takes_only_what_is_free(rates: RateStore):
    assert slots(rates, 5, rate=BURST, at_once=True) == [NOW] * 3
    assert slots(rates, 5, rate=BURST, at_once=True) == []
    assert slots(rates, 5, NOW + 1_000, rate=BURST, at_once=True) == [NOW + 1_000] * 2
    assert slots(rates, 1, NOW + 1_000, rate=BURST) == [NOW + 1_500], "nothing was reserved in vain"


def test_blocked_limit_hands_out_no_time_before_the_end(rates: RateStore):
    slots(rates, 1)
    rates.block(STRIPE, RATE, NOW + MINUTE)

    assert slots(rates, 5, NOW + 1, at_once=True) == []
    assert slots(rates, 2, NOW + 1) == [NOW + MINUTE, NOW + MINUTE + 200]
    [state] = rates.states([STRIPE])
    assert state.blocked_until == NOW + MINUTE


def test_block_of_an_unused_limit(rates: RateStore):
    rates.block(STRIPE, RATE, NOW + MINUTE)
    rates.block(STRIPE, RATE, NOW + SECOND)
    rates.block(STRIPE, RATE, NOW + MINUTE)

    assert slots(rates, 1) == [NOW + MINUTE]


def test_block_behind_times_that_are_handed_out(rates: RateStore):
    slots(rates, 600)
    rates.block(STRIPE, RATE, NOW + MINUTE)

    assert slots(rates, 1) == [NOW + 2 * MINUTE]
    [state] = rates.states([STRIPE])
    assert state.blocked_until == NOW + MINUTE


def test_unused_limit_has_the_empty_state(rates: RateStore):
    assert rates.states([STRIPE]) == [RateState()]


def test_racing_requests_get_different_times(rates: RateStore):
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: slots(rates, 5), range(16)))

    found = sorted(slot for some in taken for slot in some)
    assert found == [NOW + number * 200 for number in range(80)]


steps = st.lists(
    st.tuples(
        st.integers(0, 3_000), st.integers(1, 5), st.sampled_from(["reserve", "at_once", "block"])
    ),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps)
def test_store_does_what_the_rules_say(rates: RateStore, steps: list):
    key, state, now = replace(STRIPE, key=an_id()), RateState(), NOW
    for pause, count, step in steps:
        now += pause
        if step == "block":
            state = blocked(state, BURST, now + count * SECOND)
            rates.block(key, BURST, now + count * SECOND)
            continue
        at_once = step == "at_once"
        request = SlotRequest(key=key, rate=BURST, count=count, asked_at=now, at_once=at_once)
        state, wanted = reserved(state, request)
        assert slots(rates, count, now, BURST, key, at_once) == wanted

    assert rates.states([key]) == [state]


def test_row_that_is_unused_for_a_day_means_nothing(rates: RateStore):
    slots(rates, 5)

    later = NOW + 2 * DAY
    assert slots(rates, 1, later, key=replace(STRIPE, key="other")) == [later]
    assert slots(rates, 1, later) == [later]
