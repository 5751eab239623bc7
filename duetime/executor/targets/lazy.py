"""The targets of an executor, each made on first use: most executors need one or two of them."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from duetime.core.ports import Clock
from duetime.executor.targets import Target, TargetFailed

if TYPE_CHECKING:
    from duetime.core.service_calls import Services
    from duetime.executor.targets.services import Adapter

Maker = Callable[[], Target]
MakeServices = Callable[[], "Services"]


class LazyTargets(Mapping[str, Target]):
    """`ready` has targets by type, `makers` a function for each other type, called once."""

    def __init__(self, ready: Mapping[str, Target], makers: Mapping[str, Maker]) -> None:
        self._made = dict(ready)
        self._makers = makers
        self._lock = Lock()

    def __getitem__(self, kind: str) -> Target:
        if kind in self._made:
            return self._made[kind]
        if kind not in self._makers:
            message = f"targets of type {kind!r} are not configured here"
            raise TargetFailed("TargetNotAllowed", message, permanent=True)
        with self._lock:
            if kind not in self._made:
                self._made[kind] = self._makers[kind]()
            return self._made[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made.keys() | self._makers.keys())

    def __len__(self) -> int:
        return len(self._made.keys() | self._makers.keys())


def aws_makers(make_services: MakeServices) -> dict[str, Maker]:
    """Returns the targets that need nothing but AWS."""
    services = cache(make_services)

    def made_by(adapter: "Callable[[], Adapter]") -> Maker:
        return lambda: _service_target(services(), adapter())

    return {
        "dynamodb": made_by(_dynamodb),
        "eventbridge": made_by(_eventbridge),
        "lambda": made_by(_lambda),
        "sns": made_by(_sns),
        "sqs": made_by(_sqs),
        "stepfunctions": made_by(_stepfunctions),
    }


def ses_maker(make_services: MakeServices, clock: Clock) -> Maker:
    def make() -> Target:
        from duetime.executor.targets.email import ses_adapter

        return _service_target(make_services(), ses_adapter(clock))

    return make


def rds_maker(make_services: MakeServices, databases: Mapping[str, Mapping[str, str]]) -> Maker:
    def make() -> Target:
        from duetime.executor.targets.rds_data import rds_adapter

        return _service_target(make_services(), rds_adapter(databases))

    return make


def _service_target(services: "Services", adapter: "Adapter") -> Target:
    from duetime.executor.targets.services import ServiceTarget

    return ServiceTarget(services, adapter)


def _dynamodb() -> "Adapter":
    from duetime.executor.targets.dynamodb import DYNAMODB

    return DYNAMODB


def _eventbridge() -> "Adapter":
    from duetime.executor.targets.messages import EVENTBRIDGE

    return EVENTBRIDGE


def _lambda() -> "Adapter":
    from duetime.executor.targets.invocations import LAMBDA

    return LAMBDA


def _sns() -> "Adapter":
    from duetime.executor.targets.messages import SNS

    return SNS


def _sqs() -> "Adapter":
    from duetime.executor.targets.messages import SQS

    return SQS


def _stepfunctions() -> "Adapter":
    from duetime.executor.targets.invocations import STEPFUNCTIONS

    return STEPFUNCTIONS
