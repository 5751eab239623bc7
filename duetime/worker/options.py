"""The options of `duetime worker`."""

from dataclasses import dataclass

from duetime.core.errors import DuetimeError
from duetime.core.lanes import Lane


class BadConfiguration(DuetimeError):
    """The worker cannot work as it is configured; a restart changes nothing."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    name: str
    handlers: tuple[str, ...]
    pool: str | None = None
    lanes: tuple[Lane, ...] = tuple(Lane)
    concurrency: int = 8
    processes: int | None = None  # that run handlers; None: one for each core; 0: threads do
    grace: float = 25.0  # seconds that running handlers have to end
    control_port: int | None = None
    spot_notice: bool = False
    url: str | None = None  # of a runner; None: AWS
    token: str | None = None  # for the runner
    endpoint_url: str | None = None  # of DynamoDB and SQS, for tests
    log_level: str = "info"
    log_format: str = "auto"
