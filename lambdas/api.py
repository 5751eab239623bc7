"""The `api` function: answers HTTP API events (payload format 2.0).

After a deployment it also syncs the schedules that the handlers declare."""

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers

from duetime import tracing
from duetime.api.app import Api
from duetime.api.capabilities import HandlerNames
from duetime.api.gateway_callers import caller_of
from duetime.api.health import scanner_health
from duetime.api.http import Request, query_values
from duetime.aws import backend
from duetime.aws.settings import dashboard_url
from duetime.engine.quota_setting import quota_gate
from duetime.handlers import manifest, registry
from duetime.version import VERSION

if TYPE_CHECKING:
    from duetime.api.live import LiveAccess
    from duetime.core.stats.slo import Objectives

logger = Logger(service="api")
copy_config_to_registered_loggers(logger, include={"duetime"})
backend.make_clients(backend.dynamodb, backend.sqs)


@cache
def api() -> Api:
    settings, adapters = backend.settings(), backend.adapters()
    tracing.start("duetime-api")
    return Api(
        adapters.ports,
        handlers=_handlers(settings.handlers),
        described=lambda: _described(settings.handlers),
        stage=settings.stage or None,
        cursors=adapters.cursors,
        version=VERSION,
        longest_timeout=settings.longest_timeout,
        targets=settings.targets_allowed,
        secrets=lambda: settings.secret_names,
        health=scanner_health(adapters.cursors, adapters.ports.clock),
        quotas=quota_gate(settings.quotas, backend.quota_store),
        crowded_minute=settings.crowded_minute,
        callbacks=settings.callbacks == 1,
        metrics_url=_metrics_url(settings.stage),
        live=_live(settings.live_url),
        objectives=_objectives(settings.objectives),
        workers=backend.worker_store() if settings.pools else None,
    )


def _objectives(text: str) -> "Objectives | None":
    if not text:
        return None
    from duetime.core.stats.slo import parse_objectives

    return parse_objectives(text)


def _metrics_url(stage: str) -> str | None:
    region = os.environ.get("AWS_REGION")
    return dashboard_url(stage, region) if stage and region else None


def _live(url: str) -> "LiveAccess | None":
    """Most deployments have no live updates, and import nothing for them."""
    if not url:
        return None
    from duetime.api.live import LiveAccess

    return LiveAccess(tickets=backend.live_store(), address=lambda _: url)


def _handlers(source: str) -> HandlerNames:
    """A deployed API has only the names of the handlers and the defaults of their tasks: see
    duetime.handlers.manifest."""
    if source.endswith(".json"):
        known = manifest.defaults_in(manifest.load(Path(source)))
        return lambda: known
    if source:
        registry.load(source)
    return registry.defaults


def _described(source: str) -> Sequence[Mapping[str, Any]]:
    from duetime.handlers.descriptions import describe_manifest, describe_registered

    if source.endswith(".json"):
        return describe_manifest(manifest.load(Path(source)))
    return describe_registered()


@logger.inject_lambda_context
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    if "RequestType" in event:  # from CloudFormation, after a deployment: see infra/api.py
        from duetime.api.deployment import sync_after_deployment

        sync_after_deployment(
            event, lambda: (manifest.load(Path(backend.settings().handlers)), api().call)
        )
        return {}
    response = api().call(request_of(event))
    tracing.flush()
    body, binary = response.encoded(), "content-encoding" in response.headers
    return {
        "statusCode": response.status,
        "headers": dict(response.headers),
        "body": b64encode(body).decode() if binary else body.decode(),
        "isBase64Encoded": binary,
    }


def request_of(event: Mapping[str, Any]) -> Request:
    body, context = event.get("body") or "", event["requestContext"]
    return Request(
        method=context["http"]["method"],
        path=event["rawPath"],
        query=query_values(parse_qsl(event.get("rawQueryString", ""), keep_blank_values=True)),
        headers={name.lower(): value for name, value in event.get("headers", {}).items()},
        # Half a surrogate pair is not JSON; the API refuses it.
        body=b64decode(body)
        if event.get("isBase64Encoded")
        else body.encode(errors="surrogatepass"),
        caller=caller_of(context.get("authorizer", {}), backend.settings().scopes),
    )
