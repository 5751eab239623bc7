"""The metrics of `GET /metrics`. The dashboard and the alert rules in docs/observability use the
same list. No label grows with the number of tasks: no id, namespace or handler is one."""

from enum import StrEnum

from duetime.core.value import value


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@value(frozen=True, kw_only=True, slots=True)
class Family:
    """`name` is as Prometheus stores it: that of a counter ends with `_total`."""

    name: str
    kind: Kind
    text: str
    labels: tuple[str, ...] = ()


LANE = ("lane",)

SUBMITTED = Family(
    name="duetime_tasks_submitted_total",
    kind=Kind.COUNTER,
    text="New tasks: sent at once (fast), or left to the scanner (scanned).",
    labels=("lane", "path"),
)
SUBMIT_DURATION = Family(
    name="duetime_submit_duration_seconds",
    kind=Kind.HISTOGRAM,
    text="How long the answer to a `POST /v1/tasks` takes.",
)
FINISHED = Family(
    name="duetime_tasks_finished_total",
    kind=Kind.COUNTER,
    text="Tasks that reached a final status, or DEAD.",
    labels=("lane", "status"),
)
ATTEMPTS = Family(
    name="duetime_attempts_total",
    kind=Kind.COUNTER,
    text="Attempts that ended.",
    labels=("lane", "outcome"),
)
DRIFT = Family(
    name="duetime_task_drift_seconds",
    kind=Kind.HISTOGRAM,
    text="From the due time to the start of an attempt.",
    labels=LANE,
)
DURATION = Family(
    name="duetime_attempt_duration_seconds",
    kind=Kind.HISTOGRAM,
    text="From the start of an attempt to its end.",
    labels=LANE,
)
PLANNED_DRIFT = Family(
    name="duetime_planned_drift_seconds",
    kind=Kind.HISTOGRAM,
    text="Drift of first attempts of tasks that were known 5 s ahead.",
    labels=LANE,
)
DEPTH = Family(
    name="duetime_lane_depth", kind=Kind.GAUGE, text="Messages that are ready.", labels=LANE
)
RUNNING = Family(
    name="duetime_lane_running", kind=Kind.GAUGE, text="Attempts that run now.", labels=LANE
)
OLDEST = Family(
    name="duetime_lane_oldest_seconds",
    kind=Kind.GAUGE,
    text="For how long the oldest ready message has waited.",
    labels=LANE,
)
SLOTS = Family(name="duetime_slots", kind=Kind.GAUGE, text="Attempts that may run at once.")
PROMOTED = Family(
    name="duetime_tasks_promoted_total",
    kind=Kind.COUNTER,
    text="Tasks that were moved from the lane to the next higher one.",
    labels=LANE,
)
TICK_AGE = Family(
    name="duetime_tick_age_seconds", kind=Kind.GAUGE, text="Since the last tick of the scanner."
)
TICK_DURATION = Family(
    name="duetime_tick_duration_seconds", kind=Kind.HISTOGRAM, text="How long a tick takes."
)
CURSOR_LAG = Family(
    name="duetime_cursor_lag_seconds",
    kind=Kind.GAUGE,
    text="How far the scanner's oldest cursor is behind its normal position.",
)
HELD_BACK = Family(
    name="duetime_held_back",
    kind=Kind.GAUGE,
    text="Overdue tasks that the last tick left for the next one.",
)
CLAIMS = Family(
    name="duetime_claims_total",
    kind=Kind.COUNTER,
    text="Claims of the scanner: won, or lost to another write.",
    labels=("lane", "result"),
)
SET_ASIDE = Family(
    name="duetime_set_aside_total", kind=Kind.COUNTER, text="Unreadable rows that were set aside."
)
RELAY_AGE = Family(
    name="duetime_relay_age_seconds",
    kind=Kind.GAUGE,
    text="The age of the change that the relay handles now; 0 if it is idle.",
)
DEAD_LETTERS = Family(
    name="duetime_dead_letters",
    kind=Kind.GAUGE,
    text="Tasks that are DEAD; the SQLite store counts up to 100,000.",
)
SCHEDULES = Family(
    name="duetime_schedules",
    kind=Kind.GAUGE,
    text="Schedules of the SQLite store.",
    labels=("status",),
)
LEDGER = Family(
    name="duetime_ledger_total",
    kind=Kind.COUNTER,
    text="Fire times of schedules: fired once their run has started; otherwise why they have none.",
    labels=("outcome",),
)
DEFERRED = Family(
    name="duetime_limit_deferred_total",
    kind=Kind.COUNTER,
    text="How often tasks had to wait for a limit.",
    labels=("limit",),
)
LIVE_CONNECTIONS = Family(
    name="duetime_live_connections", kind=Kind.GAUGE, text="Clients of the live updates."
)
LIVE_FRAMES = Family(
    name="duetime_live_frames_total",
    kind=Kind.COUNTER,
    text="Frames of the live updates: sent, dropped for a client that is too slow, or for one that"
    " has gone.",
    labels=("result",),
)
COMMIT = Family(
    name="duetime_store_commit_seconds",
    kind=Kind.HISTOGRAM,
    text="How long a transaction of the SQLite store takes, until it is stored.",
)
STORE_BYTES = Family(
    name="duetime_store_bytes", kind=Kind.GAUGE, text="The size of the SQLite file."
)
BUILD = Family(name="duetime_build_info", kind=Kind.GAUGE, text="Always 1.", labels=("version",))

FAMILIES = (
    *(SUBMITTED, SUBMIT_DURATION, FINISHED, ATTEMPTS, DRIFT, DURATION, PLANNED_DRIFT),
    *(DEPTH, RUNNING, OLDEST, SLOTS, PROMOTED),
    *(TICK_AGE, TICK_DURATION, CURSOR_LAG, HELD_BACK, CLAIMS, SET_ASIDE, RELAY_AGE),
    *(DEAD_LETTERS, SCHEDULES, LEDGER, DEFERRED, LIVE_CONNECTIONS, LIVE_FRAMES),
    *(COMMIT, STORE_BYTES, BUILD),
)
