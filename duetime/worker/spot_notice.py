"""Spot notices: EC2 says two minutes ahead that it takes an instance back.

The notice is in the metadata of the instance (IMDSv2), which is asked every few seconds: a token
first, which lasts six hours, then the notice, which is absent until it comes. Fargate sends SIGTERM
instead, and so does ECS on EC2 with ECS_ENABLE_SPOT_INSTANCE_DRAINING.
"""

import logging
from collections.abc import Mapping
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

log = logging.getLogger(__name__)

METADATA = "http://169.254.169.254"
ENDPOINT = "AWS_EC2_METADATA_SERVICE_ENDPOINT"  # the variable of the AWS SDKs for another address
TOKEN_LASTS = "21600"  # seconds
TIMEOUT = 2.0  # seconds of one call
ABSENT, UNAUTHORIZED = 404, 401


class SpotNotice:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get(ENDPOINT, METADATA).rstrip("/")
        self._token: str | None = None
        self._unreachable = False

    def given(self) -> bool:
        """Whether the instance is about to be taken back. An instance without metadata gets no
        notice, which is logged once."""
        try:
            if self._token is None:
                lasts = {"X-aws-ec2-metadata-token-ttl-seconds": TOKEN_LASTS}
                self._token = self._call("PUT", "/latest/api/token", lasts)
            asked = {"X-aws-ec2-metadata-token": self._token}
            self._call("GET", "/latest/meta-data/spot/instance-action", asked)
        except HTTPError as error:
            if error.code == UNAUTHORIZED:
                self._token = None
            elif error.code != ABSENT:
                self._log(str(error))
            return False
        except (URLError, OSError, ValueError) as error:
            self._log(str(error))
            return False
        return True

    def _call(self, method: str, path: str, headers: Mapping[str, str]) -> str:
        request = Request(self._address + path, headers=dict(headers), method=method)
        with urlopen(request, timeout=TIMEOUT) as answer:
            return str(answer.read().decode())

    def _log(self, reason: str) -> None:
        if not self._unreachable:
            log.warning("instance metadata not read: %s", reason, extra={"step": "drain"})
        self._unreachable = True
