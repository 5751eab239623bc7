"""The settings of a deployment, with their limits. context.py reads them from cdk.json."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from duetime.aws.settings import MAX_RETENTION_DAYS, MIN_AGE_AFTER
from duetime.core.lanes import Lane
from duetime.core.quotas import BadQuota, read_quotas
from duetime.core.stats.slo import parse_objectives
from duetime.tracing import EXPORTERS, is_configured
from infra.formats import (
    AllowedHost,
    Certificate,
    Cluster,
    CreatedOrNamed,
    Email,
    Host,
    Https,
    Origin,
    OtelVariable,
    Scope,
    Secret,
    SecretName,
    Sender,
    StreamArn,
    Word,
    arn_of,
)
from infra.pool_settings import MAX_QUEUE_NAME, NamedPools, too_long_names
from infra.setting_models import SettingModel, Statement, Variables, Vpc

MAX_SECRETS = 30  # each is an ARN in the policy of an executor, which has room for 10 KB
# Characters: the environment of a function has room for 4 KB. `infra.environment` checks the sum.
MAX_SECRET_NAMES = 1_000
MAX_ALLOW_HOSTS = 1_000
MAX_TARGETS = 1_500
MAX_QUOTAS = 900
MIN_LANE_CONCURRENCY, MAX_LANE_CONCURRENCY = (
    2,
    1_000,
)  # what an event source takes as its maximum concurrency
MIN_CONCURRENCY = MIN_LANE_CONCURRENCY * len(Lane)
MIN_WARM_WRITES = 4_000  # units a second of a new table, at no cost
MAX_WARM_WRITES = 40_000  # the default quota of a table
# fmt: off
LOG_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731,
            1096, 1827, 2192, 2557, 2922, 3288, 3653)
# fmt: on


class BadStage(Exception):
    """The context cannot be deployed; the message is one sentence."""


class Scopes(SettingModel):
    """The scopes that a token must have: `read` for GET, `operate` for everything."""

    read: Scope
    operate: Scope


class Jwt(SettingModel):
    """The issuer whose tokens the API accepts: Cognito or any OIDC issuer."""

    issuer: Https
    audience: list[str] = Field(min_length=1)
    scopes: Scopes | None = None  # None: any token of the issuer may do everything


class Domain(SettingModel):
    """A custom domain name for the API."""

    name: Host
    certificate: Certificate  # in the region of the deployment


class Database(SettingModel):
    """A database that `sql` tasks may use, through the RDS Data API."""

    cluster: Cluster
    secret: Secret
    database: str = Field(min_length=1, max_length=64)


class Targets(SettingModel):
    """What tasks may act on, beside `http` and `python`. Executors get the permissions for this and
    nothing else."""

    dynamodb: list[Annotated[str, arn_of("dynamodb")]] = []
    email: list[Sender] = []
    eventbridge: list[Annotated[str, arn_of("eventbridge")]] = []
    functions: list[Annotated[str, arn_of("lambda")]] = Field(default=[], alias="lambda")
    sns: list[Annotated[str, arn_of("sns")]] = []
    sql: dict[Word, Database] = {}
    sqs: list[Annotated[str, arn_of("sqs")]] = []
    stepfunctions: list[Annotated[str, arn_of("stepfunctions")]] = []

    @model_validator(mode="after")
    def _fit_the_environment(self) -> Self:
        if len(self.as_setting()) > MAX_TARGETS:
            raise ValueError(f"is over {MAX_TARGETS:,} characters; use * in the names")
        return self

    def as_setting(self) -> str:
        """Returns the value of Settings.targets; empty if nothing is allowed."""
        return compact(self.model_dump(by_alias=True, exclude_defaults=True))


class Handlers(SettingModel):
    """Your Python handlers, their requirements and their permissions."""

    folder: Path = Field(strict=False)
    requirements: Path | None = Field(
        default=None, strict=False
    )  # default: requirements.txt in the folder
    app: str | None = Field(default=None, pattern="^[A-Za-z0-9._:-]{1,128}$")  # owns the schedules
    environment: Variables = {}
    statements: list[Statement] = []
    vpc: Vpc | None = None

    @model_validator(mode="after")
    def _there(self) -> Self:
        if not self.folder.is_dir():
            raise ValueError(f"there is no folder {str(self.folder)!r}")
        if self.requirements is not None and not self.requirements.is_file():
            raise ValueError(f"there is no file {str(self.requirements)!r}")
        return self

    @property
    def needs(self) -> Path | None:
        beside = self.folder / "requirements.txt"
        return self.requirements or (beside if beside.is_file() else None)


class Weights(SettingModel):
    """The share of each lane in the executors' concurrency, in percent."""

    high: int = Field(default=60, ge=1)
    medium: int = Field(default=30, ge=1)
    low: int = Field(default=10, ge=1)

    @model_validator(mode="after")
    def _all_of_it(self) -> Self:
        total = self.high + self.medium + self.low
        if total != 100:
            parts = f"{self.high} + {self.medium} + {self.low}"
            raise ValueError(f"high, medium and low must add up to 100, not {parts} = {total}")
        return self


class BatchSize(SettingModel):
    """Messages per invocation of an executor, which ends when its longest task does."""

    high: int = Field(default=10, ge=1, le=10)
    medium: int = Field(default=10, ge=1, le=10)
    low: int = Field(default=10, ge=1, le=10)


class Stage(SettingModel):
    """One deployment. docs/how-to/deploy.md describes each setting."""

    name: str
    shards: int = Field(default=16, ge=1, le=256)
    slices: int = Field(default=1, ge=1, le=50)
    catch_up: int = Field(default=100, ge=1, le=10_000)
    age_after: int = Field(default=3_600, ge=0, le=7 * 24 * 3_600)
    concurrency: int = Field(default=100, ge=MIN_CONCURRENCY, le=3 * MAX_LANE_CONCURRENCY)
    weights: Weights = Field(default_factory=Weights)
    batch_size: BatchSize = Field(default_factory=BatchSize)
    retention_days: int = Field(default=30, ge=1, le=MAX_RETENTION_DAYS)
    log_retention_days: int = 14
    keep_data: bool = True
    table_stream_arn: StreamArn | None = None  # of an existing table
    warm_writes: int | None = Field(default=None, ge=MIN_WARM_WRITES, le=MAX_WARM_WRITES)
    archive: CreatedOrNamed = False
    objects: CreatedOrNamed = False
    alarms: Literal["all", "essential", "none"] = "all"
    tracing: bool = False
    otel: dict[OtelVariable, str] = {}  # where API, scanner and executors send spans
    alarm_email: Email | None = None
    jwt: Jwt | None = None
    cors_origins: list[Origin] = []
    requests_per_second: int = Field(default=2_000, ge=1, le=10_000)
    burst: int = Field(default=2_000, ge=1, le=5_000)
    domain: Domain | None = None
    api_memory: int = Field(default=512, ge=128, le=10_240)
    scanner_memory: int = Field(default=1_024, ge=128, le=10_240)
    executor_memory: int = Field(default=512, ge=128, le=10_240)
    architecture: Literal["arm64", "x86_64"] = "arm64"
    handlers: Handlers | None = None
    allow_hosts: list[AllowedHost] = []
    targets: Targets | None = None
    secrets: list[SecretName] = Field(default=[], max_length=MAX_SECRETS)
    quotas: dict[str, dict[str, Any]] = {}
    crowded_minute: int = Field(default=1_000, ge=0, le=1_000_000)
    stats: Literal["table"] | None = None  # None: only CloudWatch counts
    objectives: str = "99%/1s"  # for drift, by lane: `99%/1s, high=99.9%/0.5s`
    callbacks: bool = False  # a public route, whose authorization is the token
    live: bool = False  # a WebSocket API that pushes status changes
    pools: NamedPools = {}  # of workers outside Lambda, by name

    @field_validator("secrets")
    @classmethod
    def _names_fit_the_environment(cls, names: list[str]) -> list[str]:
        if len(",".join(names)) > MAX_SECRET_NAMES:
            raise ValueError(f"is over {MAX_SECRET_NAMES:,} characters; choose shorter names")
        return names

    @field_validator("quotas")
    @classmethod
    def _can_be_used(cls, quotas: dict[str, Any]) -> dict[str, Any]:
        try:
            read_quotas(quotas)
        except BadQuota as error:
            raise ValueError(str(error).removeprefix("quotas").lstrip(".: ")) from None
        if len(compact(quotas)) > MAX_QUOTAS:
            raise ValueError(f"is over {MAX_QUOTAS:,} characters; use * for namespaces alike")
        return quotas

    @field_validator("otel")
    @classmethod
    def _say_where_spans_go(cls, variables: dict[str, str]) -> dict[str, str]:
        if variables and not is_configured(variables):
            raise ValueError(f"must have one of {', '.join(EXPORTERS)}")
        return variables

    @field_validator("objectives")
    @classmethod
    def _are_objectives(cls, text: str) -> str:
        parse_objectives(text)
        return text

    @field_validator("age_after")
    @classmethod
    def _not_before_the_first_watch(cls, seconds: int) -> int:
        if 0 < seconds < MIN_AGE_AFTER:
            raise ValueError(f"must be 0, which is off, or at least {MIN_AGE_AFTER} seconds")
        return seconds

    @field_validator("allow_hosts")
    @classmethod
    def _fit_the_environment(cls, hosts: list[str]) -> list[str]:
        if len(",".join(hosts)) > MAX_ALLOW_HOSTS:
            raise ValueError(f"is over {MAX_ALLOW_HOSTS:,} characters; name ranges or domains")
        return hosts

    @field_validator("log_retention_days")
    @classmethod
    def _known_to_cloudwatch(cls, days: int) -> int:
        if days not in LOG_DAYS:
            raise ValueError(
                f"CloudWatch keeps logs for one of {', '.join(map(str, LOG_DAYS))} days"
            )
        return days

    @model_validator(mode="after")
    def _each_slice_has_a_shard(self) -> Self:
        if self.slices > self.shards:
            raise ValueError(f"slices: {self.slices} slices cannot share {self.shards} shards")
        return self

    @model_validator(mode="after")
    def _private_hosts_are_reached_through_a_vpc(self) -> Self:
        if self.allow_hosts and (self.handlers is None or self.handlers.vpc is None):
            raise ValueError(
                "allow_hosts: needs handlers.vpc; without it no private host can be reached"
            )
        return self

    @model_validator(mode="after")
    def _an_adopted_table_is_warmed_by_its_owner(self) -> Self:
        if self.warm_writes and self.table_stream_arn:
            raise ValueError(
                "warm_writes: the stack does not change the table of table_stream_arn;"
                " use aws dynamodb update-table"
            )
        return self

    @model_validator(mode="after")
    def _names_fit_the_queues(self) -> Self:
        for name in too_long_names(self.name, self.pools):
            raise ValueError(
                f"pools: the queue {name!r} has {len(name)} characters, and SQS takes"
                f" {MAX_QUEUE_NAME}: choose a shorter name of the stage or of the pool"
            )
        return self

    @property
    def quota_setting(self) -> str:
        """Returns the value of Settings.quotas; empty if there are none."""
        return compact(self.quotas)

    @property
    def limits_stored_tasks(self) -> bool:
        return any(quota.get("stored_tasks") is not None for quota in self.quotas.values())

    def at_once(self, lane: Lane) -> int:
        """Returns how many executors of a lane may run concurrently."""
        share: int = getattr(self.weights, lane)
        return min(max(self.concurrency * share // 100, MIN_LANE_CONCURRENCY), MAX_LANE_CONCURRENCY)


def compact(given: Mapping[str, Any]) -> str:
    """Returns JSON for a setting of a function; empty for an empty object."""
    return json.dumps(given, separators=(",", ":")) if given else ""
