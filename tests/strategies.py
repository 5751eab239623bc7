"""Hypothesis strategies for the core: any spec, any draw, and a task of any status.

A task is built directly, not by the steps, so that a step is also tried on tasks that the other
steps would not produce. Tasks that the lifecycle rules out (RUNNING without a holder, finished with
a wake) are not generated.
"""

from dataclasses import replace

from hypothesis import strategies as st

from duetime.core.delivery import new_token
from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.lanes import Lane
from duetime.core.lifecycle import FINISHED, Outcome, Status
from duetime.core.limits.definition import LimitUse, OnDead, OnFull
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.retry import RetryPolicy
from duetime.core.steps.record import Failure
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import Attempt, Progress, Promotion, Spec, Task, TaskError
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR, Millis
from duetime.core.wake_policy import LONGEST_HORIZON, Draw, WakePolicy
from duetime.core.wakes import Wake, WakeKind

EARLIEST: Millis = 50 * YEAR
LATEST: Millis = 150 * YEAR

ALIVE = frozenset(Status) - FINISHED

moments = st.integers(EARLIEST, LATEST)
# Long and short waits: a plain range of days would hardly ever yield milliseconds.
waits = st.one_of(
    st.integers(0, 2 * SECOND), st.integers(0, 10 * MINUTE), st.integers(0, DAY), st.just(YEAR)
)
task_ids = st.builds(new_id, moments, st.integers(0, 2**RANDOM_BITS - 1))
lanes = st.sampled_from(Lane)
nonces = st.integers(0, 2**64 - 1).map(lambda bits: f"{bits:016x}")
shares = st.floats(0, 1, exclude_max=True)
draws = st.builds(Draw, luck=shares, spread=shares, nonce=nonces)
wake_policies = st.builds(
    WakePolicy,
    shards=st.integers(1, 64),
    horizon=st.one_of(st.just(4 * MINUTE), st.integers(1, LONGEST_HORIZON)),
    age_after=st.just(0),
)
aging_policies = st.builds(
    replace, wake_policies, age_after=st.sampled_from([SECOND, 5 * MINUTE, HOUR, DAY])
)
any_policies = wake_policies | aging_policies

# Valid UTF-8: a lone surrogate cannot be stored, and the API refuses it.
texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

retry_policies = st.builds(
    RetryPolicy,
    max_attempts=st.integers(1, 100),
    base_delay=st.floats(0, 86_400),
    multiplier=st.floats(1, 10),
    max_delay=st.floats(0, 86_400),
    jitter=st.floats(0, 86_400),
)
task_errors = st.builds(TaskError, type=texts, message=texts, traceback=st.none() | texts)
failures = st.builds(
    Failure,
    outcome=st.sampled_from([Outcome.FAILED, Outcome.TIMED_OUT]),
    error=task_errors,
    permanent=st.booleans(),
    retry_after=st.none() | waits,
)
progresses = st.builds(Progress, fraction=st.floats(0, 1), message=st.none() | texts)
attempts = st.builds(
    Attempt,
    number=st.integers(1, 1000),
    started_at=moments,
    drift_ms=st.integers(0, HOUR),
    finished_at=st.none() | moments,
    outcome=st.none() | st.sampled_from(Outcome),
    error=st.none() | task_errors,
)


occurrences = st.builds(
    Occurrence,
    schedule_id=task_ids,
    scheduled_for=moments,
    version=st.none() | st.integers(1, 9),
    overlap=st.sampled_from(OverlapPolicy),
    has_follow_up=st.booleans(),
    name=st.none() | texts,
)
limit_uses = st.builds(LimitUse, name=st.just("stripe"), key=texts, on_full=st.sampled_from(OnFull))
promotions = st.builds(Promotion, lane=lanes, at=moments)
specs = st.builds(
    Spec,
    target=st.dictionaries(texts, json_values, max_size=3),
    run_at=moments,
    payload=json_values,
    priority=lanes,
    timeout=st.floats(1, 604_800),
    retry=retry_policies,
    jitter=st.floats(0, 3600),
    expires_at=st.none() | moments,
    name=st.none() | texts,
    namespace=st.sampled_from(["default", "growth"]),
    ordering_key=st.none() | st.just("account-7"),
    idempotency_key=st.none() | st.just("order-4711"),
    tags=st.dictionaries(texts, texts, max_size=3),
    occurrence=st.none() | occurrences,
    shifts=st.lists(st.just("0123456789ab"), max_size=4).map(tuple),
    on_dead=st.sampled_from(OnDead),
    limits=st.lists(limit_uses, max_size=2).map(tuple),
    fairness_key=st.none() | texts,
)


@st.composite
def timed_specs(draw: st.DrawFn) -> Spec:
    """Specs with only the fields that the steps read, so that they are fast to generate."""
    run_at = draw(moments)
    return Spec(
        target={"type": "http", "url": "https://example.org"},
        run_at=run_at,
        priority=draw(lanes),
        retry=draw(retry_policies),
        jitter=draw(st.just(0.0) | st.floats(0, 3600)),
        expires_at=draw(st.none() | waits.map(lambda wait: run_at + 1 + wait)),
    )


@st.composite
def others(draw: st.DrawFn, task: Task) -> Task:
    """The stored task when a role acts on `task`: the same, or a later state of it."""
    return replace(
        task,
        status=draw(st.just(task.status) | st.sampled_from(Status)),
        holder=draw(st.sampled_from([task.holder, task.holder, "somebody-else"])),
        attempt=task.attempt + draw(st.sampled_from([0, 0, 1])),
    )


A_WAIT = Suspension(kind=WaitsFor.RUN, id="01M0000000000000000000000A", run_attempt=1)


@st.composite
def tasks(draw: st.DrawFn, *statuses: Status) -> Task:
    """A task in one of these statuses (any if none is given), with every field that it implies."""
    status = draw(st.sampled_from(sorted(statuses or Status)))
    spec = draw(timed_specs())
    task_id = draw(task_ids)
    budget = spec.retry.max_attempts + draw(st.sampled_from([0, 0, 5]))  # more: it was revived
    attempt = _attempts_made(draw, status, budget)
    due_at = spec.run_at + draw(waits)
    since = due_at + draw(waits)
    running = status is Status.RUNNING
    return Task(
        id=task_id,
        spec=spec,
        status=status,
        token=new_token(due_at, draw(nonces)),
        due_at=due_at,
        wake=_wake(draw, status, task_id, spec.priority, due_at),
        created_at=spec.run_at,
        updated_at=since,
        budget=budget,
        attempt=attempt,
        lease_until=since + draw(waits) if running else None,
        holder=f"holder-{attempt}" if attempt else None,
        current=_attempt(attempt, due_at, since, running=running) if attempt else None,
        previous=_attempt(attempt - 1, due_at, since, running=False) if attempt > 1 else None,
        cancel_requested=draw(st.booleans()) if running else status is Status.CANCELLED,
        sends=draw(st.integers(0, 40)),
        skips=draw(st.integers(0, 3)),
        suspended=A_WAIT if status is Status.WAITING else None,
    )


def _attempts_made(draw: st.DrawFn, status: Status, budget: int) -> int:
    match status:
        case Status.PENDING | Status.ENQUEUED | Status.EXPIRED:
            return 0
        case Status.RETRYING:
            return draw(st.integers(1, max(1, budget - 1)))
        case Status.CANCELLED:
            return draw(st.integers(0, budget))
    return draw(st.integers(1, budget))


def _attempt(number: int, due_at: Millis, since: Millis, *, running: bool) -> Attempt:
    started = Attempt(number=number, started_at=since, drift_ms=since - due_at)
    if running:
        return started
    error = TaskError(type="HTTPError", message="503")
    return replace(started, finished_at=since + SECOND, outcome=Outcome.FAILED, error=error)


def _wake(draw: st.DrawFn, status: Status, task_id: str, lane: Lane, due_at: Millis) -> Wake | None:
    match status:
        case Status.PENDING:
            kind = WakeKind.DISPATCH
        case Status.ENQUEUED | Status.RUNNING:
            kind = WakeKind.WATCH
        case Status.RETRYING:
            kind = draw(st.sampled_from([WakeKind.DISPATCH, WakeKind.WATCH]))
        case _:
            return None
    at = due_at + draw(waits)
    return draw(wake_policies).wake(kind, task_id, lane, at, now=due_at)
