"""The options of `duetime worker`."""

from dataclasses import dataclass

from duetime.core.lanes import Lane


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    name: str
    handlers: tuple[str, ...]
    pool: str | None = None
    lanes: tuple[Lane, ...] = tuple(Lane)
    concurrency: int = 8
    grace: float = 25.0  # seconds that running handlers have to end
    control_port: int | None = None
    spot_notice: bool = False
    endpoint_url: str | None = None  # of DynamoDB and SQS, for tests
    log_level: str = "info"
    log_format: str = "auto"
