"""Calls of AWS services by targets: the port, what is called, and how a call fails.

A target decides what to call; `duetime/aws/services.py` calls it."""

from collections.abc import Mapping
from typing import Any, Protocol

from duetime.core.errors import DuetimeError
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class ServiceCall:
    """Attributes:
    service, operation: As botocore names them, such as `sqs` and `send_message`.
    parameters: As botocore takes them.
    region: None for the region of the environment.
    longest: Seconds that the service may take to answer, at most.
    repeatable: Whether the SDK may repeat a call that got no answer."""

    service: str
    operation: str
    parameters: Mapping[str, Any]
    region: str | None = None
    longest: int = 10
    repeatable: bool = True


class Services(Protocol):
    def call(self, call: ServiceCall, timeout: float) -> Mapping[str, Any]:
        """Returns the answer of the service. Raises ServiceCallFailed. `timeout` is in seconds."""
        ...


class ServiceCallFailed(DuetimeError):
    """An AWS service refused a call or did not answer."""

    def __init__(self, code: str, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.code = code
        self.permanent = permanent
