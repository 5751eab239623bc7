"""The HTTP API in front of the `api` function: authorization, throttling, CORS, domain."""

import json
from pathlib import Path
from typing import cast

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as certificates
from constructs import Construct

from duetime.api.access import READING_POSTS
from duetime.aws import schema
from duetime.aws.settings import PREFIX
from infra.function import FunctionInputs, RoleFunction, log_group
from infra.objects import Objects
from infra.stage import Stage

CALLS, PAGE, CALLBACKS = "/v1/{proxy+}", "/docs", "/v1/callbacks/{token}"
READS = [http.HttpMethod.GET]
CHANGES = [http.HttpMethod(name) for name in ("POST", "PUT", "PATCH", "DELETE")]

SIGNED_WITH = ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"]

LOGGED = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "caller": "$context.identity.userArn",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "error": "$context.integrationErrorMessage",
    "refused": "$context.error.message",
}


class Api(Construct):
    """`objects` is where it stores large payloads, if anywhere."""

    def __init__(
        self, scope: Construct, name: str, given: FunctionInputs, objects: Objects | None = None
    ) -> None:
        super().__init__(scope, name)
        stage, table = given.stage, given.table
        self.role_function = RoleFunction(
            self,
            "api",
            given,
            role="api",
            memory=stage.api_memory,
            timeout=Duration.seconds(29),  # API Gateway waits for 30
            environment={**stage.otel, **_scopes(stage)},
            statements=[
                table.allow("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "Query"),
                table.allow("BatchWriteItem"),  # deletes a schedule, or a replaced plan
                table.allow("Scan", "DeleteItem"),  # a purge
                table.allow("ConditionCheckItem"),  # a sync of declared schedules
                table.allow_on(schema.LISTING_INDEX, "Query"),
                table.allow_on(schema.DEAD_INDEX, "Query"),
                table.allow_on(schema.WAKE_INDEX, "Query", "Scan"),  # lists by due time
                given.queues.allow("SendMessage", "GetQueueAttributes"),
                *(objects.allow("GetObject", "PutObject") if objects else []),
            ],
        )
        if objects:
            objects.acknowledge_on(self.role_function.role)
        self._synced = self._sync_after_deployment(given.bundle) if stage.handlers else None
        self._own_name = stage.domain.name if stage.domain else None
        self.domain = self._domain(stage)
        self.api = http.HttpApi(
            self,
            "Http",
            api_name=f"duetime-{stage.name}",
            default_authorizer=_authorizer(stage),
            cors_preflight=_cors(stage),
            create_default_stage=False,
            disable_execute_api_endpoint=self.domain is not None,
        )
        function = integrations.HttpLambdaIntegration("Api", self.role_function.function)
        for path, methods, scopes in _routes(stage):
            self.api.add_routes(
                path=path, methods=methods, integration=function, authorization_scopes=scopes
            )
        if stage.callbacks:
            self._add_callbacks(function)
        self._stage(stage)

    def _add_callbacks(self, function: integrations.HttpLambdaIntegration) -> None:
        """Adds the one route without an authorizer. The token of a callback has 128 random bits,
        and the throttle of the stage holds for it, too."""
        self.api.add_routes(
            path=CALLBACKS,
            methods=[http.HttpMethod.POST],
            integration=function,
            authorizer=http.HttpNoneAuthorizer(),
        )

    def _sync_after_deployment(self, bundle: Path) -> CustomResource:
        """Has CloudFormation call the function itself when its bundle, which has the manifest of
        the handlers, has changed; once the function and its permissions are there."""
        synced = CustomResource(
            self,
            "Schedules",
            service_token=self.role_function.function.function_arn,
            resource_type="Custom::DuetimeSchedules",
            properties={"Bundle": bundle.name},
            service_timeout=Duration.minutes(2),
        )
        synced.node.add_dependency(self.role_function.function, self.role_function.role)
        return synced

    def sync_after(self, *others: Construct) -> None:
        """Has the schedules synced after these, too: a scanner of the release before may not be
        able to read them, and an executor of the deployment before may lack their handlers."""
        if self._synced:
            self._synced.node.add_dependency(*others)

    @property
    def url(self) -> str:
        return f"https://{self._own_name}" if self._own_name else self.api.api_endpoint

    def _stage(self, stage: Stage) -> None:
        default = http.HttpStage(
            self,
            "Default",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=http.ThrottleSettings(
                rate_limit=stage.requests_per_second, burst_limit=stage.burst
            ),
            domain_mapping=(
                http.DomainMappingOptions(domain_name=self.domain) if self.domain else None
            ),
        )
        # API Gateway adds each log group to an account policy that has room for about ten names;
        # all groups with this prefix share one entry.
        access_log = f"/aws/vendedlogs/duetime/{stage.name}/access"
        made = cast(http.CfnStage, default.node.default_child)
        made.access_log_settings = http.CfnStage.AccessLogSettingsProperty(
            destination_arn=log_group(self, "AccessLog", stage, name=access_log).log_group_arn,
            format=json.dumps(_logged(stage)),
        )

    def _domain(self, stage: Stage) -> http.DomainName | None:
        if stage.domain is None:
            return None
        certificate = certificates.Certificate.from_certificate_arn(
            self, "Certificate", stage.domain.certificate
        )
        return http.DomainName(
            self, "Domain", domain_name=stage.domain.name, certificate=certificate
        )


def _logged(stage: Stage) -> dict[str, str]:
    """The path of a callback has its token, which ends the wait of a step: with callbacks the log
    names the route instead."""
    return {**LOGGED, "path": "$context.routeKey"} if stage.callbacks else LOGGED


def _authorizer(stage: Stage) -> http.IHttpRouteAuthorizer:
    if stage.jwt is None:
        return authorizers.HttpIamAuthorizer()
    return authorizers.HttpJwtAuthorizer("Jwt", stage.jwt.issuer, jwt_audience=stage.jwt.audience)


def _scopes(stage: Stage) -> dict[str, str]:
    """Returns the setting from which the function knows what a caller may do."""
    scopes = stage.jwt.scopes if stage.jwt else None
    return {f"{PREFIX}SCOPES": f"{scopes.read} {scopes.operate}"} if scopes else {}


def _routes(stage: Stage) -> list[tuple[str, list[http.HttpMethod], list[str] | None]]:
    """A token needs one of its route's scopes, so the scope `operate` also allows reads. API
    Gateway takes the most specific route."""
    if stage.jwt is None or stage.jwt.scopes is None:
        return [(CALLS, [*READS, *CHANGES], None), (PAGE, READS, None)]
    read, operate = stage.jwt.scopes.read, stage.jwt.scopes.operate
    reading = [read, operate]
    return [
        (CALLS, READS, reading),
        (CALLS, CHANGES, [operate]),
        (PAGE, READS, reading),
        *((path, [http.HttpMethod.POST], reading) for path in READING_POSTS),
    ]


def _cors(stage: Stage) -> http.CorsPreflightOptions | None:
    if not stage.cors_origins:
        return None
    return http.CorsPreflightOptions(
        allow_origins=stage.cors_origins,
        allow_methods=[http.CorsHttpMethod(method.value) for method in (*READS, *CHANGES)],
        allow_headers=["content-type", "duetime-reason", "idempotency-key", *SIGNED_WITH],
        max_age=Duration.hours(1),
    )
