"""The boxes of a deployment, as the alarms, the dashboard and the outputs use them."""

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import aws_sqs as sqs

from infra.api import Api
from infra.archive import Archive
from infra.executors import Executors
from infra.function import RoleFunction
from infra.queues import StageQueues
from infra.relay import Relay
from infra.scanner import Scanner
from infra.table import TaskTable
from infra.websocket import WebSocket


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    table: TaskTable
    queues: StageQueues
    api: Api
    scanner: Scanner
    executors: Executors
    relay: Relay
    archive: Archive | None
    websocket: WebSocket | None

    def functions(self) -> Iterator[RoleFunction]:
        yield self.api.role_function
        yield self.scanner.role_function
        yield from self.executors.role_functions.values()
        yield self.relay.role_function
        if self.websocket:
            yield self.websocket.role_function

    def failures(self) -> dict[str, sqs.Queue]:
        """The queues that should be empty, by the name of what they hold."""
        letters = {f"dead letters, {q}": made for q, made in self.queues.dead_letters().items()}
        return letters | {
            "failed ticks": self.scanner.failed_ticks,
            "failed records": self.relay.failed_records,
        }
