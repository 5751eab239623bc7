"""Whether the functions of a stage fit into what an account may run at once."""

from infra.stage import FEWEST, Stage
from lambdas.core.lanes import Lane

BESIDE = 2  # at the least: one sandbox of the API and one of the relay

RAISE = (
    "aws service-quotas request-service-quota-increase"
    " --service-code lambda --quota-code L-B99A9384 --desired-value"
)
USUAL = 1_000  # what AWS gives an account that is no longer new


def quota_warning(stage: Stage, quota: int) -> str | None:
    """One sentence if `quota` concurrent executions are too few for the stage."""
    needed = _at_once(stage)
    if needed <= quota:
        return None
    smaller = (stage.model_copy(update={"concurrency": c}) for c in range(FEWEST, needed))
    fitting = [s.concurrency for s in smaller if _at_once(s) <= quota]
    lower = f'set "concurrency": {max(fitting)} in cdk.json, or ' if fitting else ""
    return (
        f"Warning: this account runs at most {quota:,} functions at once in this region and stage"
        f" {stage.name!r} may need {needed:,}, so calls would be throttled: {lower}ask AWS for"
        f" more with `{RAISE} {max(USUAL, 2 * needed)}`."
    )


def _at_once(stage: Stage) -> int:
    return sum(stage.at_once(lane) for lane in Lane) + stage.slices + BESIDE
