"""The options of `duetime local`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from duetime.console.files import BUILT
from duetime.core.retention import RETENTION
from duetime.core.shares import DEFAULT_WEIGHTS, Weights
from duetime.core.stats.slo import DEFAULTS, Objectives
from duetime.core.times import SECOND, Millis
from duetime.core.wake_policy import AGE_AFTER

LogFormat = Literal["auto", "text", "json"]
Backend = Literal["embedded", "moto", "aws"]


@dataclass(frozen=True, kw_only=True)
class LocalOptions:
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None  # that every request must send
    worker_token: str | None = None  # that may stand in its place for the calls of workers alone
    read_only: bool = False  # whether requests may only read
    metrics_port: int | None = None  # for scrapers; they may use the other one, too
    data: Path = Path(".duetime")
    memory: bool = False
    retention: Millis | None = RETENTION  # None: finished tasks are kept for ever
    archive: Path | None = None  # where removed tasks are written
    handlers: tuple[str, ...] = ()
    reload: bool = False  # import handlers again when their files change
    tick: float = 60.0
    concurrency: int = 100  # tasks at a time, in all lanes
    pools: tuple[str, ...] = ()  # whose tasks wait for workers; this process runs none of them
    workers: int = 0  # processes that run handlers; 0: threads of the runner do
    weights: Weights = DEFAULT_WEIGHTS
    age_after: float = AGE_AFTER / SECOND  # seconds in a lane until a promotion; 0: none
    allow_private: bool = False
    allow_hosts: tuple[str, ...] = ()
    secrets: Path | None = None
    quotas: Path | None = None  # of namespaces
    databases: Mapping[str, str] = field(default_factory=dict)  # name → URL
    smtp: str | None = None
    catch_up: int = 1_000  # a quarter of what one machine can do; the rest is for new work
    crowded_minute: int = 1_000  # tasks; a submission into a fuller minute gets a hint; 0: none
    objectives: Objectives = field(default_factory=lambda: DEFAULTS)  # for drift
    demo: bool = True
    console: Path | None = BUILT  # the files of the web console; None: it is not served
    backend: Backend = "embedded"
    endpoint_url: str | None = None
    log_level: str = "warning"
    log_format: LogFormat = "auto"
