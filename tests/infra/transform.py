"""The synthesized template, changed as little as moto allows."""

from copy import deepcopy
from typing import Any

# Types that moto does not create (it warns), and event sources, which it would drain.
LEFT_OUT = {
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::Authorizer",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",
    "AWS::CDK::Metadata",
    "AWS::CloudWatch::Alarm",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::EventSourceMapping",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
}


def transformed(template: dict[str, Any]) -> dict[str, Any]:
    """Returns the template without these resources and without those that refer to them."""
    kept = deepcopy(template)
    for part in ("Outputs", "Rules", "Parameters"):
        kept.pop(part, None)
    resources = kept["Resources"] = _with_endpoint(kept["Resources"])
    gone = {name for name, made in resources.items() if made["Type"] in LEFT_OUT}
    while gone:
        for name in gone:
            del resources[name]
        gone = {name for name, made in resources.items() if _refers(made, resources)}
    return kept


def _with_endpoint(made: Any) -> Any:
    """Functions know the address of an API, for callbacks or live updates, and the API itself is
    left out."""
    match made:
        case {"Fn::GetAtt": [_, "ApiEndpoint"]}:
            return "https://api.example"
        case dict():
            return {name: _with_endpoint(value) for name, value in made.items()}
        case list():
            return [_with_endpoint(value) for value in made]
    return made


def _refers(made: Any, resources: dict[str, Any]) -> bool:
    """Whether it refers to a resource that is no longer there."""
    match made:
        case {"Ref": str(name)}:
            return not name.startswith("AWS::") and name not in resources
        case {"Fn::GetAtt": [str(name), _]}:
            return name not in resources
        case dict():
            return any(_refers(value, resources) for value in made.values())
        case list():
            return any(_refers(value, resources) for value in made)
    return False
