"""The lease: a time-limited right to run one attempt."""

from lambdas.core.times import MINUTE, SECOND, Millis

LENGTH: Millis = 45 * SECOND
HEARTBEAT: Millis = 10 * SECOND  # a lease outlasts four of these
SILENCE: Millis = 3 * HEARTBEAT  # after so long without a renewal the holder must stop
GRACE: Millis = 5 * SECOND  # for clocks that disagree, before anybody else may act
WATCH_AFTER: Millis = MINUTE  # when the scanner looks at a running task again


def run_out(lease_until: Millis | None, now: Millis) -> bool:
    """Whether the holder must be taken for dead."""
    return lease_until is not None and lease_until + GRACE < now


def renewed(now: Millis) -> Millis:
    return now + LENGTH
