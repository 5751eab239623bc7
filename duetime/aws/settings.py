"""The settings of a function, read from its environment into one frozen value."""

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from urllib.parse import urljoin

from duetime.core.allowed_targets import AllowedTargets
from duetime.core.lanes import MAX_POOLS, POOL_NAME, Lane, Queue, queues_of
from duetime.core.retention import RETENTION
from duetime.core.task import LONGEST_TIMEOUT
from duetime.core.times import DAY, SECOND, Millis
from duetime.core.value import value
from duetime.core.wake_policy import AGE_AFTER

PREFIX = "DUETIME_"
MAX_RETENTION_DAYS = 3650
MIN_AGE_AFTER = 300  # seconds: later than a lost message is sent again, by a tick once a minute
STATS_IN_TABLE = "table"

_REQUIRED = ("table", "queues")


@value(frozen=True, kw_only=True, slots=True)
class Settings:
    table: str
    queues: str  # their URLs, as JSON: see queue_urls
    pools: str = ""  # the longest timeout of each pool in seconds, as JSON
    stage: str = ""
    shards: int = 16
    catch_up: int = 100  # overdue tasks per second and lane, over all slices
    age_after: int = AGE_AFTER // SECOND  # seconds in a lane until a promotion; 0: none
    at_once_high: int = 0  # concurrent executors of a lane; 0 if unknown
    at_once_medium: int = 0
    at_once_low: int = 0
    retention_days: int = RETENTION // DAY
    longest_timeout: int = 840  # seconds of an attempt; a function has 15 minutes in all
    handlers: str = ""  # module or folder of Python handlers; for the API a file of names
    allow_hosts: str = ""  # private hosts that executors may call, separated by commas
    secrets: str = ""  # names of the secrets that tasks may use, separated by commas
    archive_bucket: str = ""  # where the relay writes removed tasks; empty: nowhere
    objects_bucket: str = ""  # for large payloads and results; empty: they are refused
    targets: str = ""  # what targets may act on, as JSON: see targets_allowed
    quotas: str = ""  # of namespaces, as JSON: see duetime.core.quotas
    crowded_minute: int = 1_000  # tasks; a submission into a fuller minute gets a hint; 0: none
    stats: str = ""  # "table": the relay counts in rows of the table, for GET /v1/stats
    scopes: str = ""  # of a JWT, for `read` and `operate`; empty: every token may do everything
    objectives: str = ""  # for drift: see duetime.core.stats.slo; empty: the default
    callbacks: int = 0  # 1: the API accepts the callbacks of steps
    callback_url: str = ""  # of the API, which executors give to steps; empty: they get none
    live_url: str = ""  # of the WebSocket API, as wss://…; empty: there are no live updates
    live_function: str = ""  # which the relay invokes to push changes
    live_origins: str = ""  # sites whose pages may connect, separated by commas
    endpoint_url: str = ""  # of another DynamoDB and SQS, for experiments

    def __post_init__(self) -> None:
        if self.catch_up < 1:
            raise ValueError(f"{_variable('catch_up')} must be at least 1, not {self.catch_up}")
        if self.age_after and self.age_after < MIN_AGE_AFTER:
            raise ValueError(
                f"{_variable('age_after')} must be 0 or at least {MIN_AGE_AFTER},"
                f" not {self.age_after}"
            )
        # A task must outlive its idempotency key: otherwise a replay within that day runs it again.
        if not 1 <= self.retention_days <= MAX_RETENTION_DAYS:
            raise ValueError(
                f"{_variable('retention_days')} must be from 1 to {MAX_RETENTION_DAYS},"
                f" not {self.retention_days}"
            )
        if not 1 <= self.longest_timeout <= LONGEST_TIMEOUT:
            raise ValueError(
                f"{_variable('longest_timeout')} must be from 1 to {LONGEST_TIMEOUT},"
                f" not {self.longest_timeout}"
            )
        self._check_queues()
        if self.stats not in ("", STATS_IN_TABLE):
            raise ValueError(f"{_variable('stats')} must be {STATS_IN_TABLE}, not {self.stats!r}")
        if self.crowded_minute < 0:
            raise ValueError(
                f"{_variable('crowded_minute')} must be at least 0, not {self.crowded_minute}"
            )

    def _check_queues(self) -> None:
        pools = self.pool_timeouts
        if len(pools) > MAX_POOLS:
            raise ValueError(f"{_variable('pools')} must have at most {MAX_POOLS} pools")
        for pool, longest in pools.items():
            if not POOL_NAME.fullmatch(pool):
                raise ValueError(f"{_variable('pools')}: {pool!r} is not the name of a pool")
            if not 1 <= longest <= LONGEST_TIMEOUT:
                raise ValueError(
                    f"{_variable('pools')}: the timeout of {pool} must be from 1 to"
                    f" {LONGEST_TIMEOUT}, not {longest}"
                )
        given = _mapping(_variable("queues"), self.queues)
        names = [str(queue) for pool in (None, *pools) for queue in queues_of(pool)]
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"{_variable('queues')} has no URL of {', '.join(missing)}")

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        given = {}
        for field in fields(cls):
            variable = _variable(field.name)
            if (text := environment.get(variable)) is not None:
                given[field.name] = _number(variable, text) if field.type is int else text
        missing = [_variable(name) for name in _REQUIRED if name not in given]
        if missing:
            raise ValueError(f"not set: {', '.join(missing)}")
        return cls(**given)  # type: ignore[arg-type]

    def environment(self) -> dict[str, str]:
        """Returns the variables from which `read` makes these settings, without defaults."""
        given = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            _variable(name): str(value)
            for name, (value, default) in given.items()
            if value != default
        }

    @property
    def queue_urls(self) -> dict[Queue, str]:
        """Reads a map from the names of queues, such as `high` and `batch/high`, to their URLs. A
        URL may be relative to that of `high`: the environment of a function has little room."""
        given = _mapping(_variable("queues"), self.queues)
        start = given[Lane.HIGH]
        return {Queue.parse(name): urljoin(start, url) for name, url in given.items()}

    @property
    def pool_timeouts(self) -> dict[str, int]:
        """Returns the longest timeout of each pool, in seconds."""
        given = _mapping(_variable("pools"), self.pools) if self.pools else {}
        return {pool: int(longest) for pool, longest in given.items()}

    @property
    def at_once(self) -> dict[Lane, int]:
        return {
            Lane.HIGH: self.at_once_high,
            Lane.MEDIUM: self.at_once_medium,
            Lane.LOW: self.at_once_low,
        }

    @property
    def hosts_allowed(self) -> list[str]:
        return self.allow_hosts.split(",") if self.allow_hosts else []

    @property
    def secret_names(self) -> list[str]:
        return self.secrets.split(",") if self.secrets else []

    @property
    def targets_allowed(self) -> AllowedTargets:
        """For each type of target the patterns of its resources; for `sql` an object of databases,
        by name."""
        given = self._targets()
        return AllowedTargets(patterns={kind: list(names) for kind, names in given.items()})

    @property
    def databases(self) -> Mapping[str, Mapping[str, str]]:
        """Returns `cluster`, `secret` and `database` of each database that `sql` tasks may use."""
        found: Mapping[str, Mapping[str, str]] = self._targets().get("sql", {})
        return found

    def _targets(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(self.targets) if self.targets else {}
        return found

    @property
    def retention(self) -> Millis:
        return self.retention_days * DAY


def queue_setting(urls: Mapping[Queue, str]) -> str:
    """Returns the text that `queue_urls` reads."""
    return json.dumps({str(queue): url for queue, url in urls.items()})


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _mapping(variable: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{variable} must be an object in JSON, not {text!r}")
    return found


def _number(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{variable} must be a whole number, not {text!r}") from None


def metrics_namespace(stage: str) -> str:
    """Returns one namespace per stage, so that two stages in one account stay apart."""
    return f"Duetime/{stage}" if stage else "Duetime"


def dashboard_name(stage: str) -> str:
    return f"duetime-{stage}"


def dashboard_url(stage: str, region: str) -> str:
    """Returns the address of a stage's dashboard in CloudWatch."""
    console = f"https://{region}.console.aws.amazon.com/cloudwatch/home?region={region}"
    return f"{console}#dashboards/dashboard/{dashboard_name(stage)}"


# Not from Settings: a role creates its metrics when its module is imported.
METRICS_NAMESPACE = metrics_namespace(os.environ.get(_variable("stage"), ""))
