"""Live updates in the synthesized stack: only where a stage asks for them."""

import json
import re
from typing import Any

import pytest

from infra.quota import quota_warning
from tests.infra.conftest import Synthesize, a_stage, of_type, one
from tests.infra.deployed import _passes
from tests.infra.test_alarms import alarmed
from tests.infra.test_permissions import ALWAYS, GRANTED, granted
from tests.infra.test_stage import JWT
from tests.infra.test_template import MAPPING, named

Template = dict[str, Any]

ROUTE = "AWS::ApiGatewayV2::Route"
SITE = "https://ops.example.com"
PREFIX = "WebSocket"  # of the logical ids of all of it


@pytest.fixture(scope="module")
def live(synthesize: Synthesize) -> Template:
    return synthesize("dev", live=True, cors_origins=[SITE])


def websocket_routes(template: Template) -> dict[str, Any]:
    routes = of_type(template, ROUTE).items()
    return {route["RouteKey"]: route for name, route in routes if name.startswith(PREFIX)}


def test_stage_without_live_updates_has_nothing_of_them(dev: Template):
    assert [name for name in dev["Resources"] if name.startswith(PREFIX)] == []
    assert "live" not in json.dumps(dev).lower().replace("timetolive", "")
    protocols = {api["ProtocolType"] for api in of_type(dev, "AWS::ApiGatewayV2::Api").values()}
    assert protocols == {"HTTP"}


def test_live_updates_change_only_the_api_and_the_relay(dev: Template, synthesize: Synthesize):
    live = synthesize("dev", live=True)
    added = {*live["Resources"]} - {*dev["Resources"]}
    assert all(name.startswith(PREFIX) or "Throttled" in name for name in added)
    changed = {name for name, made in dev["Resources"].items() if live["Resources"][name] != made}
    functions = {name for name in changed if of_type(dev, "AWS::Lambda::Function").get(name)}
    assert {of_type(dev, "AWS::Lambda::Function")[n]["Description"] for n in functions} == {
        "Duetime dev: api",
        "Duetime dev: relay",
    }


def test_connection_opens_with_a_ticket_alone(live: Template):
    routes = websocket_routes(live)
    assert {*routes} == {"$connect", "$default", "$disconnect"}
    assert routes["$connect"]["AuthorizationType"] == "CUSTOM"
    authorizer = one(live, "AWS::ApiGatewayV2::Authorizer")
    assert authorizer["AuthorizerType"] == "REQUEST"
    assert authorizer["IdentitySource"] == ["route.request.querystring.ticket"]
    assert "AuthorizerResultTtlInSeconds" not in authorizer, "a ticket opens one connection"


def test_every_route_and_the_authorizer_invoke_the_one_function(live: Template):
    function = {"Fn::GetAtt": [_logical_id(live, "websocket"), "Arn"]}
    integration = one(live, "AWS::ApiGatewayV2::Integration", PREFIX)
    authorizer = one(live, "AWS::ApiGatewayV2::Authorizer")
    for made in (integration["IntegrationUri"], authorizer["AuthorizerUri"]):
        assert function in made["Fn::Join"][1]
    [id_] = [
        name for name in of_type(live, "AWS::ApiGatewayV2::Integration") if name.startswith(PREFIX)
    ]
    for route in websocket_routes(live).values():
        assert route["Target"]["Fn::Join"][1] == ["integrations/", {"Ref": id_}]


def _logical_id(template: Template, function: str) -> str:
    [found] = [
        name
        for name, made in of_type(template, "AWS::Lambda::Function").items()
        if made["Description"].endswith(f": {function}")
    ]
    return found


def test_access_log_has_no_field_that_shows_a_ticket(live: Template):
    stage = one(live, "AWS::ApiGatewayV2::Stage", PREFIX)
    fields = {*re.findall(r"\$context\.([\w.]+)", stage["AccessLogSettings"]["Format"])}
    assert {"requestId", "connectionId", "status", "eventType"} <= fields
    assert not {field for field in fields if "query" in field.lower() or "path" in field.lower()}


def test_stage_is_throttled_as_the_http_api_is(synthesize: Synthesize):
    template = synthesize("dev", live=True, requests_per_second=70, burst=30)
    settings = one(template, "AWS::ApiGatewayV2::Stage", PREFIX)["DefaultRouteSettings"]
    assert settings == {"ThrottlingRateLimit": 70, "ThrottlingBurstLimit": 30}


def test_functions_know_the_address_and_the_relay_knows_the_function(live: Template):
    known = {
        name: {
            variable.removeprefix("DUETIME_")
            for variable in named(live, name)["Environment"]["Variables"]
            if variable.startswith("DUETIME_LIVE_")
        }
        for name in ("api", "relay", "scanner", "executor-high", "websocket")
    }
    assert known == {
        "api": {"LIVE_URL"},
        "relay": {"LIVE_FUNCTION"},
        "scanner": set(),
        "executor-high": set(),
        "websocket": {"LIVE_URL", "LIVE_ORIGINS"},
    }
    variables = named(live, "websocket")["Environment"]["Variables"]
    assert variables["DUETIME_LIVE_ORIGINS"] == SITE
    [api] = [n for n in of_type(live, "AWS::ApiGatewayV2::Api") if n.startswith(PREFIX)]
    url = {"Fn::Join": ["", [{"Fn::GetAtt": [api, "ApiEndpoint"]}, "/live"]]}
    assert variables["DUETIME_LIVE_URL"] == url
    assert live["Outputs"]["LiveUrl"]["Value"] == url
    assert one(live, "AWS::ApiGatewayV2::Stage", PREFIX)["StageName"] == "live"


def test_websocket_function_may_touch_its_rows_and_its_connections_alone(live: Template):
    allowed = granted(live)["websocket"] - ALWAYS
    on_table = {action for action, on in allowed if on == "table"}
    assert on_table == {
        f"dynamodb:{action}"
        for action in ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchWriteItem")
    }
    others = {(action, on) for action, on in allowed if on != "table"}
    assert {action for action, _ in others} == {"execute-api:ManageConnections"}
    [api] = [n for n in of_type(live, "AWS::ApiGatewayV2::Api") if n.startswith(PREFIX)]
    ends = {tuple(map(json.dumps, json.loads(on)["Fn::Join"][1][-2:])) for _, on in others}
    assert ends == {
        (json.dumps({"Ref": api}), json.dumps(f"/live/{verb}/@connections/*"))
        for verb in ("POST", "DELETE")
    }


def test_websocket_function_cannot_read_a_task(live: Template):
    policy = one(live, "AWS::IAM::Policy", PREFIX)["PolicyDocument"]["Statement"]
    [rows] = [s for s in policy if "dynamodb:GetItem" in s["Action"]]
    only = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["live", "ticket#*"]}}
    assert rows["Condition"] == only


def test_relay_may_invoke_the_websocket_function(live: Template):
    invokes = ("lambda:InvokeFunction", "websocket")
    assert granted(live)["relay"] == GRANTED["relay"] | {invokes} | ALWAYS
    assert granted(live)["api"] == GRANTED["api"] | ALWAYS


def test_push_is_not_repeated_and_soon_dropped(live: Template):
    invoked = one(live, "AWS::Lambda::EventInvokeConfig", PREFIX)
    assert (invoked["MaximumRetryAttempts"], invoked["MaximumEventAgeInSeconds"]) == (0, 60)


def test_rows_of_live_updates_do_not_invoke_the_relay(live: Template):
    [relay] = [m for m in of_type(live, MAPPING).values() if "StartingPosition" in m]
    keys = [
        ("config", "live"),
        ("live", "L0SM9cOFvHcCIhw="),
        ("live", "L0SM9cOFvHcCIhw=#s1"),
        ("ticket#0a1b", "ticket"),
    ]
    for pk, sk in keys:
        for event in ("INSERT", "MODIFY", "REMOVE"):
            record = {"eventName": event, "dynamodb": {"Keys": {"pk": {"S": pk}, "sk": {"S": sk}}}}
            assert not _passes(record, relay["FilterCriteria"]), (event, pk, sk)
    task = {"Keys": {"pk": {"S": "task#1"}, "sk": {"S": "task"}}}
    assert _passes({"eventName": "INSERT", "dynamodb": task}, relay["FilterCriteria"])


def test_websocket_function_has_the_alarms_of_the_others(synthesize: Synthesize):
    alarms = alarmed(synthesize("prod", live=True, alarm_email="ops@example.com"))
    assert "errors, websocket" in alarms
    assert "WebSocket" in json.dumps(alarms["functions are throttled"])


def test_token_that_may_read_gets_a_ticket(synthesize: Synthesize):
    jwt = JWT | {"scopes": {"read": "duetime/read", "operate": "duetime/operate"}}
    scopes = {
        route["RouteKey"]: route["AuthorizationScopes"]
        for name, route in of_type(synthesize("dev", live=True, jwt=jwt), ROUTE).items()
        if not name.startswith(PREFIX)
    }
    assert scopes["POST /v1/live/tickets"] == ["duetime/read", "duetime/operate"]
    assert scopes["POST /v1/{proxy+}"] == ["duetime/operate"]


def test_quota_check_counts_the_websocket_function():
    quota = 100 + 1 + 2
    assert quota_warning(a_stage("prod"), quota) is None
    assert quota_warning(a_stage("prod", live=True), quota)
    assert quota_warning(a_stage("prod", live=True), quota + 1) is None
