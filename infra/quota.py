"""The check of a stage against the account's quota of concurrent functions."""

from duetime.core.lanes import Lane
from infra.stage import MIN_CONCURRENCY, Stage

OTHER_FUNCTIONS = 2  # at least one API function and one relay
LIVE_FUNCTIONS = 1  # at least, in a stage with live updates

RAISE = (
    "aws service-quotas request-service-quota-increase"
    " --service-code lambda --quota-code L-B99A9384 --desired-value"
)
USUAL = 1_000  # AWS's default quota for an account that is not new


def quota_warning(stage: Stage, quota: int) -> str | None:
    """Returns a warning if `quota` concurrent executions are too few for the stage."""
    needed = _at_once(stage)
    if needed <= quota:
        return None
    smaller = (stage.model_copy(update={"concurrency": c}) for c in range(MIN_CONCURRENCY, needed))
    fitting = [s.concurrency for s in smaller if _at_once(s) <= quota]
    lower = f'set "concurrency": {max(fitting)} in cdk.json, or ' if fitting else ""
    return (
        f"Warning: this account runs at most {quota:,} functions at once in this region and stage"
        f" {stage.name!r} may need {needed:,}, so calls would be throttled: {lower}ask AWS for"
        f" more with `{RAISE} {max(USUAL, 2 * needed)}`."
    )


def _at_once(stage: Stage) -> int:
    others = stage.slices + OTHER_FUNCTIONS + (LIVE_FUNCTIONS if stage.live else 0)
    return sum(stage.at_once(lane) for lane in Lane) + others
