"""The stack: every box, wired in the order in which a task passes through them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from aws_cdk import Annotations, Stack, Tags
from constructs import Construct

from duetime.aws.settings import Settings
from duetime.core.lanes import Lane
from infra.alarms import Alarms
from infra.api import Api
from infra.archive import Archive
from infra.bundle import HANDLERS, MANIFEST, Bundles
from infra.dashboard import Dashboard
from infra.executors import Executors
from infra.fargate_pool import FargatePool
from infra.function import FunctionInputs
from infra.lanes import LONGEST_TASK, LaneQueues
from infra.network import PublicNetwork
from infra.objects import Objects
from infra.outputs import Outputs, WorkerOutputs
from infra.parts import Parts
from infra.pool_settings import queue_names
from infra.pools import Pools
from infra.queues import StageQueues
from infra.relay import Relay
from infra.scanner import Scanner
from infra.stage import Stage, compact
from infra.table import TaskTable
from infra.websocket import WebSocket
from infra.workers import WorkerInputs, WorkerPolicy


class DuetimeStack(Stack):
    def __init__(self, scope: Construct, *, stage: Stage, bundles: Bundles, **options: Any) -> None:
        super().__init__(
            scope,
            f"duetime-{stage.name}",
            description="Duetime: runs work when it is due",
            termination_protection=stage.keep_data,
            **options,
        )
        table = TaskTable(self, "Table", stage)
        queues = StageQueues(
            lanes=LaneQueues(self, "Lanes", names=queue_names(stage.name)),
            pools=Pools(self, "Pools", stage),
        )
        given = FunctionInputs(
            stage=stage,
            table=table,
            queues=queues,
            settings=_settings(stage, table, queues),
            bundle=bundles.roles,
        )
        archive = Archive(self, "Archive", stage) if stage.archive else None
        objects = Objects(self, "Objects", stage) if stage.objects else None
        with_objects = _with_objects(given, objects)
        websocket = WebSocket(self, "WebSocket", given) if stage.live else None
        of_api = _with_live_url(with_objects, websocket)
        api = Api(
            self,
            "Api",
            _with_objectives(_with_quotas(_with_handlers(of_api, bundles.api, MANIFEST))),
            objects,
        )
        of_executors = _with_callback_url(_for_handlers(with_objects, bundles.executor), api)
        self.parts = Parts(
            table=table,
            queues=queues,
            api=api,
            scanner=Scanner(self, "Scanner", with_objects, objects),
            executors=Executors(self, "Executors", of_executors, objects),
            relay=Relay(
                self,
                "Relay",
                _with_quotas(_with_archive(with_objects, archive)),
                archive,
                objects,
                websocket,
            ),
            archive=archive,
            websocket=websocket,
        )
        self.parts.api.sync_after(self.parts.scanner, self.parts.executors, self.parts.relay)
        Dashboard(self, "Dashboard", stage=stage, parts=self.parts)
        if stage.alarms != "none":
            Alarms(self, "Alarms", stage=stage, parts=self.parts)
        if stage.alarms == "all" and stage.alarm_email is None:
            warning = (
                f"Stage {stage.name!r} sends its alarms to no one: set alarm_email in cdk.json."
            )
            Annotations.of(self).add_warning_v2("duetime:alarmEmail", warning)
        self.workers = WorkerInputs(
            stage=stage,
            table=table,
            queues=queues,
            settings=_for_workers(of_executors),
            objects=objects,
        )
        policies = self._serve(stage)
        Outputs(self, "Outputs", stage=stage, parts=self.parts)
        if stage.pools:
            WorkerOutputs(self, "WorkerOutputs", given=self.workers, policies=policies)
        Tags.of(self).add("duetime:stage", stage.name)

    def _serve(self, stage: Stage) -> dict[str, WorkerPolicy]:
        """Runs the workers of the pools that have `fargate`, in one network if they name none.
        Returns policies for the workers of the others."""
        policies = {}
        network: PublicNetwork | None = None
        for name, pool in stage.pools.items():
            if pool.fargate is None:
                policies[name] = WorkerPolicy(self, f"Worker-{name}", self.workers, name)
                continue
            if pool.fargate.vpc is None and network is None:
                network = PublicNetwork(self, "Network")
            fields = pool.fargate.model_dump(exclude_unset=True)
            FargatePool(self, f"Pool-{name}", self.workers, pool=name, network=network, **fields)
        return policies


def _with_handlers(given: FunctionInputs, bundle: Path, handlers: str) -> FunctionInputs:
    return replace(given, bundle=bundle, settings=replace(given.settings, handlers=handlers))


def _for_handlers(given: FunctionInputs, bundle: Path) -> FunctionInputs:
    """Executors with handlers know the quotas: a handler may submit tasks."""
    if not given.stage.handlers:
        return _with_handlers(given, bundle, "")
    settings = replace(given.settings, quotas=given.stage.quota_setting)
    return _with_handlers(replace(given, settings=settings), bundle, HANDLERS)


def _with_archive(given: FunctionInputs, archive: Archive | None) -> FunctionInputs:
    bucket = archive.bucket.bucket_name if archive else ""
    return replace(given, settings=replace(given.settings, archive_bucket=bucket))


def _with_objects(given: FunctionInputs, objects: Objects | None) -> FunctionInputs:
    bucket = objects.bucket.bucket_name if objects else ""
    return replace(given, settings=replace(given.settings, objects_bucket=bucket))


def _with_live_url(given: FunctionInputs, websocket: WebSocket | None) -> FunctionInputs:
    url = websocket.url if websocket else ""
    return replace(given, settings=replace(given.settings, live_url=url))


def _with_callback_url(given: FunctionInputs, api: Api) -> FunctionInputs:
    """Executors count nothing: their environment needs the room."""
    url = api.url if given.stage.callbacks else ""
    return replace(given, settings=replace(given.settings, callback_url=url, stats=""))


def _with_quotas(given: FunctionInputs) -> FunctionInputs:
    """These functions make no HTTP calls for tasks: their environment has no room for both
    settings."""
    settings = replace(given.settings, quotas=given.stage.quota_setting, allow_hosts="")
    return replace(given, settings=settings)


def _with_objectives(given: FunctionInputs) -> FunctionInputs:
    """Without minute rows there is nothing to compare with an objective."""
    objectives = given.stage.objectives if given.stage.stats else ""
    return replace(given, settings=replace(given.settings, objectives=objectives))


def _for_workers(given: FunctionInputs) -> Settings:
    """The handlers are an argument of a worker. A container has room for every setting."""
    return replace(given.settings, handlers="", quotas=given.stage.quota_setting)


def _settings(stage: Stage, table: TaskTable, queues: StageQueues) -> Settings:
    timeouts = {name: pool.max_timeout for name, pool in stage.pools.items()}
    return Settings(
        stage=stage.name,
        table=table.name,
        shards=stage.shards,
        catch_up=stage.catch_up,
        age_after=stage.age_after,
        at_once_high=stage.at_once(Lane.HIGH),
        at_once_medium=stage.at_once(Lane.MEDIUM),
        at_once_low=stage.at_once(Lane.LOW),
        retention_days=stage.retention_days,
        longest_timeout=LONGEST_TASK,
        allow_hosts=",".join(stage.allow_hosts),
        secrets=",".join(stage.secrets),
        targets=stage.targets.as_setting() if stage.targets else "",
        crowded_minute=stage.crowded_minute,
        callbacks=int(stage.callbacks),
        stats=stage.stats or "",
        queues=queues.setting(),
        pools=compact(timeouts),
    )
