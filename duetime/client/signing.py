"""Signatures for API Gateway (AWS Signature Version 4).

botocore finds the credentials and signs, so that keys, profiles, SSO and roles work as they do
for every AWS tool. It is slow to load, so this module is imported only to sign.
"""

from collections.abc import AsyncGenerator, Generator

import httpx
from anyio import to_thread
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import BotoCoreError, ProfileNotFound
from botocore.session import Session

from duetime.client.errors import NotSigned

SERVICE = "execute-api"
SIGNED = ("host", "content-type")  # a proxy on the way may change the other headers


class Signature(httpx.Auth):
    requires_request_body = True

    def __init__(self, region: str) -> None:
        self._region = region
        self._session = Session()

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        self._sign(request, self._credentials())
        yield request

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Finds the credentials in a thread: botocore may read files or call AWS for them."""
        self._sign(request, await to_thread.run_sync(self._credentials))
        yield request

    def _sign(self, request: httpx.Request, credentials: ReadOnlyCredentials) -> None:
        signed = AWSRequest(
            method=request.method,
            url=f"https://{request.headers['host']}{request.url.raw_path.decode()}",
            headers={name: request.headers[name] for name in SIGNED},
            data=request.content,
        )
        SigV4Auth(credentials, SERVICE, self._region).add_auth(signed)
        request.headers.update(signed.headers.items())

    def _credentials(self) -> ReadOnlyCredentials:
        """Returns the current credentials; botocore renews those of a role or of SSO."""
        try:
            if found := self._session.get_credentials():
                return found.get_frozen_credentials()
        except ProfileNotFound as error:
            raise NotSigned(str(error), "set another AWS_PROFILE") from error
        except BotoCoreError as error:
            raise NotSigned(str(error)) from error
        raise NotSigned("there are no AWS credentials")
