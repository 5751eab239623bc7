"""The WebSocket API in front of the `websocket` function: live updates for operators.

Only a stage with `"live": true` has it. Every caller first gets a single-use ticket from the HTTP
API; the function itself is the authorizer that takes it.
"""

import json
from dataclasses import replace
from typing import cast

from aws_cdk import CfnElement, Duration, Stack
from aws_cdk import aws_apigatewayv2 as websocket
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws import schema
from infra.function import FunctionInputs, RoleFunction, log_group
from infra.policies import acknowledge, allow
from infra.stage import Stage

STAGE = "live"
VERBS = ("POST", "DELETE")  # of the calls on connections: post to one, close it
TICKET = "route.request.querystring.ticket"  # without one, API Gateway answers 401 by itself
MEMORY = 256  # it waits most of the time: for API Gateway, and until a reset is due
TIMEOUT = Duration.seconds(29)  # of a frame: API Gateway waits for 30
MAX_PUSH_AGE = Duration.minutes(1)  # an older push says nothing new

# The query string has the ticket, and no field here shows it.
LOGGED = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "ip": "$context.identity.sourceIp",
    "actor": "$context.authorizer.actor",
    "event": "$context.eventType",
    "route": "$context.routeKey",
    "connection": "$context.connectionId",
    "status": "$context.status",
    "error": "$context.integrationErrorMessage",
    "refused": "$context.error.message",
}


class WebSocket(Construct):
    def __init__(self, scope: Construct, name: str, given: FunctionInputs) -> None:
        super().__init__(scope, name)
        stage = given.stage
        self.api = websocket.WebSocketApi(
            self,
            "Api",
            api_name=f"duetime-{stage.name}-live",
            description="Live updates",
            route_selection_expression="$request.body.op",  # no op has a route: all are $default
        )
        self.url = f"{self.api.api_endpoint}/{STAGE}"
        self.role_function = RoleFunction(
            self,
            "websocket",
            _with_address(given, self.url),
            role="websocket",
            memory=MEMORY,
            timeout=TIMEOUT,
            statements=[_rows(given), self._posts()],
            retry_attempts=0,  # a push is a hint: its client reads again anyway
            max_event_age=MAX_PUSH_AGE,
        )
        self._acknowledge_connections()
        self._add_routes()
        self._stage(stage)

    @property
    def may_be_invoked(self) -> iam.PolicyStatement:
        """For the relay, which has it push changes."""
        return allow(["lambda:InvokeFunction"], self.role_function.function.function_arn)

    def _posts(self) -> iam.PolicyStatement:
        """To post to the connections of this API and to close them, and nothing else."""
        return allow(["execute-api:ManageConnections"], *(self._connections(v) for v in VERBS))

    def _connections(self, verb: str) -> str:
        return Stack.of(self).format_arn(
            service="execute-api",
            resource=self.api.api_id,
            resource_name=f"{STAGE}/{verb}/@connections/*",
        )

    def _acknowledge_connections(self) -> None:
        api = Stack.of(self).get_logical_id(cast(CfnElement, self.api.node.default_child))
        arn = f"arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<{api}>/{STAGE}"
        for verb in VERBS:
            finding = f"IAM5[Resource::{arn}/{verb}/@connections/*]"
            acknowledge(self.role_function.role, finding, "A connection is named when it opens.")

    def _add_routes(self) -> None:
        function = self.role_function.function
        integration = integrations.WebSocketLambdaIntegration("Function", function)
        takes_tickets = authorizers.WebSocketLambdaAuthorizer(
            "Ticket", function, identity_source=[TICKET]
        )
        self.api.add_route("$connect", integration=integration, authorizer=takes_tickets)
        for name in ("$default", "$disconnect"):
            route = self.api.add_route(name, integration=integration)
            acknowledge(route, "APIG4", "Only $connect takes an authorizer; it guards the others.")

    def _stage(self, stage: Stage) -> None:
        made = websocket.WebSocketStage(
            self,
            "Stage",
            web_socket_api=self.api,
            stage_name=STAGE,
            auto_deploy=True,
            throttle=websocket.ThrottleSettings(
                rate_limit=stage.requests_per_second, burst_limit=stage.burst
            ),
        )
        access_log = f"/aws/vendedlogs/duetime/{stage.name}/live"
        cast(
            websocket.CfnStage, made.node.default_child
        ).access_log_settings = websocket.CfnStage.AccessLogSettingsProperty(
            destination_arn=log_group(self, "AccessLog", stage, name=access_log).log_group_arn,
            format=json.dumps(LOGGED),
        )


def _with_address(given: FunctionInputs, url: str) -> FunctionInputs:
    """The function calls no targets, and its environment lacks their settings."""
    settings = replace(
        given.settings,
        live_url=url,
        live_origins=",".join(given.stage.cors_origins),
        allow_hosts="",
        secrets="",
        targets="",
    )
    return replace(given, settings=settings)


def _rows(given: FunctionInputs) -> iam.PolicyStatement:
    """Only the rows of live updates: the function cannot read a task."""
    statement = given.table.allow(
        "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchWriteItem"
    )
    partitions = [schema.LIVE, schema.ticket_pk("*")]
    statement.add_condition("ForAllValues:StringLike", {"dynamodb:LeadingKeys": partitions})
    return statement
