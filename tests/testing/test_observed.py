"""What a test reads and asserts about its world."""

import asyncio
from datetime import UTC, date, datetime

import pytest

from duetime import BadPayload
from duetime.testing import AttemptRecord, World
from tests.testing import shop
from tests.testing.shop import broken, flaky, order, remind, restock, sign_up


def test_submission_is_found_by_its_parameters_and_its_delay(w: World):
    sign_up("ada@example.com")
    found = w.assert_submitted(remind, email="ada@example.com", due_in="24h")
    assert found == w.submitted(remind)[0]
    assert found.due_at == datetime(2027, 1, 5, 9, tzinfo=UTC)
    w.assert_submitted("kit.remind", due_at="2027-01-05T10:00+01:00")
    w.assert_not_submitted(remind, due_in="23h")
    w.assert_not_submitted(remind, email="bob@example.com")
    w.assert_not_submitted(restock)


def test_delay_is_that_of_the_submission_and_not_of_the_assertion(w: World):
    sign_up("ada@example.com")
    w.advance("30h")
    w.assert_submitted(remind, due_in="24h")


def test_value_is_compared_as_its_annotation_converts_it(w: World):
    remind.submit(email="ada@example.com", day=date(2027, 2, 3))
    w.assert_submitted(remind, day=date(2027, 2, 3))
    w.assert_not_submitted(remind, day=date(2027, 2, 4))


def test_parameter_that_was_left_out_has_its_default(w: World):
    remind.submit(email="ada@example.com")
    w.assert_submitted(remind, day=date(2027, 1, 1))
    w.assert_not_submitted(remind, day=date(2027, 1, 2))


def test_members_of_a_whole_payload_are_compared(w: World):
    order.submit(shop.Order("tea", 250))
    w.assert_submitted(order, item="tea")
    w.assert_not_submitted(order, item="salt")


def test_parameter_that_the_handler_does_not_have_is_an_error(w: World):
    sign_up("ada@example.com")
    with pytest.raises(BadPayload, match="mail: is not a parameter"):
        w.assert_not_submitted(remind, mail="ada@example.com")


def test_parameter_whose_name_is_taken_is_given_as_a_mapping(w: World):
    target = {"type": "http", "url": "https://api.shop/charge"}
    w.client.submit(target=target, payload={"count": 3})
    w.assert_submitted("https://api.shop/charge", {"count": 3}, count=1)
    w.assert_not_submitted("https://api.shop/charge", {"count": 4})


def test_name_of_no_handler_is_an_error(w: World):
    with pytest.raises(LookupError, match=r"no handler is registered as 'kit\.remnd'"):
        w.assert_not_submitted("kit.remnd")
    with pytest.raises(LookupError):
        w.kill_executor(during="kit.remnd")


def test_failed_assertion_shows_what_was_submitted(w: World):
    sign_up("ada@example.com")
    with pytest.raises(AssertionError) as raised:
        w.assert_submitted(remind, email="bob@example.com", due_in="24h")
    assert str(raised.value) == (
        "a task of kit.remind with email='bob@example.com', due in 24h expected, 0 found."
        " Submitted:\n  due in 86400 s: {'email': 'ada@example.com'}"
    )
    with pytest.raises(AssertionError, match=r"2 tasks of kit\.remind expected, 1 found"):
        w.assert_submitted(remind, count=2)
    with pytest.raises(AssertionError, match="No task of it was submitted; there are tasks of: k"):
        w.assert_submitted(restock)
    with pytest.raises(AssertionError, match=r"no task of kit\.remind expected, 1 found"):
        w.assert_not_submitted(remind)
    with pytest.raises(ValueError, match="assert_not_submitted"):
        w.assert_submitted(remind, count=0)


def test_record_of_a_failed_task_has_its_error(w: World):
    submission = broken.submit()
    w.drain()
    [run] = w.runs(broken)
    [attempt] = w.attempts(run)
    assert run.id == submission.id
    assert attempt.error == run.error
    assert run.error is not None
    assert (run.error.type, run.error.message) == ("PermanentError", "never works")
    assert "in broken" in (run.error.traceback or "")


def test_traceback_has_the_frames_of_the_handler_alone(w: World):
    submission = flaky.submit(fails=1)
    w.drain()
    _check_traceback(w.attempts(submission)[0])


def test_traceback_in_an_async_test_has_the_frames_of_the_handler_alone(w: World):
    async def main() -> None:
        w.drain()

    submission = flaky.submit(fails=1)
    asyncio.run(main())
    _check_traceback(w.attempts(submission)[0])


def _check_traceback(attempt: AttemptRecord) -> None:
    assert attempt.error is not None
    first, frame, *_, last = (attempt.error.traceback or "").splitlines()
    assert first == "Traceback (most recent call last):"
    assert frame.startswith(f'  File "{shop.__file__}", line ')
    assert frame.endswith(", in flaky")
    assert last == "ValueError: attempt 1 fails"
    assert (attempt.error.traceback or "").count("File ") == 1


def test_runs_are_in_the_order_of_their_starts(w: World):
    late = remind.submit_in("2m", email="ada@example.com")
    soon = remind.submit_in("1m", email="bob@example.com")
    high = remind.options(priority="high", tags={"team": "growth"}).submit_in("2m", email="c@d.e")
    w.advance("5m")
    assert [run.id for run in w.runs()] == [soon.id, high.id, late.id]
    assert (w.runs()[1].priority, w.runs()[1].tags) == ("high", {"team": "growth"})
