"""Scale-in protection: ECS does not stop a worker that runs tasks when it needs fewer of them.

The agent of ECS, at ECS_AGENT_URI, keeps the protection for an hour, so it is renewed. A spot
reclaim ignores it."""

import json
import logging
from collections.abc import Mapping
from urllib.request import Request, urlopen

from duetime.core.times import MINUTE, Millis

log = logging.getLogger(__name__)

AGENT = "ECS_AGENT_URI"
EXPIRES: Millis = 60 * MINUTE
RENEW_AFTER: Millis = 30 * MINUTE
RETRY_AFTER: Millis = MINUTE  # after the agent has not answered
TIMEOUT = 5.0  # seconds


class ScaleInProtection:
    """Does nothing outside ECS."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get(AGENT)
        self._protected = False
        self._renew_at: Millis = 0
        self._retry_at: Millis = 0

    def update(self, *, busy: bool, now: Millis) -> None:
        """`busy`: whether the worker holds a lease. `now` is by the monotonic clock."""
        if self._address is None or now < self._retry_at:
            return
        if busy == self._protected and not (busy and now >= self._renew_at):
            return
        if self._put(enabled=busy):
            self._protected, self._renew_at = busy, now + RENEW_AFTER
        else:
            self._retry_at = now + RETRY_AFTER

    def _put(self, *, enabled: bool) -> bool:
        wanted: dict[str, object] = {"ProtectionEnabled": enabled}
        if enabled:
            wanted["ExpiresInMinutes"] = EXPIRES // MINUTE
        request = Request(
            f"{self._address}/task-protection/v1/state",
            data=json.dumps(wanted).encode(),
            headers={"Content-Type": "application/json"},
            method="PUT",
        )
        try:
            with urlopen(request, timeout=TIMEOUT) as answer:
                answer.read()
        except OSError as error:  # a URLError is one
            fields = {"step": "renew", "protected": enabled}
            log.warning("scale-in protection not changed: %s", error, extra=fields)
            return False
        return True
