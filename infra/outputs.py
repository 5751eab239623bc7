"""The outputs of a deployment: its addresses, and the commands to try next."""

from collections.abc import Mapping

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.aws.settings import dashboard_url
from duetime.core.lanes import Lane
from infra.api import Api
from infra.lanes import LaneQueues
from infra.parts import Parts
from infra.stage import Stage
from infra.workers import WorkerInputs, WorkerPolicy


class _Outputs(Construct):
    def _output(self, name: str, value: str, description: str) -> None:
        output = CfnOutput(self, name, value=value, description=description)
        output.override_logical_id(name)


class Outputs(_Outputs):
    def __init__(self, scope: Construct, name: str, *, stage: Stage, parts: Parts) -> None:
        super().__init__(scope, name)
        region = Stack.of(self).region
        self._api(stage, parts.api, region)
        if parts.websocket:
            self._output("LiveUrl", parts.websocket.url, "Live updates, with a ticket of the API")
        self._output("Table", parts.table.name, "The table")
        if parts.archive:
            name = parts.archive.bucket.bucket_name
            self._output("Archive", f"s3://{name}", "Tasks that have left the table")
        for lane in Lane:
            self._lane(parts.queues.lanes, lane, region)
        self._output("Dashboard", dashboard_url(stage.name, region), "Is it on time?")

    def _api(self, stage: Stage, api: Api, region: str) -> None:
        self._output("ApiUrl", api.url, "The API")
        if api.domain is not None:
            target = api.domain.regional_domain_name
            self._output("DomainTarget", target, "Point a CNAME of your domain here")
        call, curl = _calls(stage, api.url, region)
        self._output("TryIt", call, "Call it with the command line of Duetime")
        self._output("TryItWithCurl", curl, "Or without it")

    def _lane(self, lanes: LaneQueues, lane: Lane, region: str) -> None:
        link, letters = (_console(q[lane], region) for q in (lanes.queues, lanes.dead_letters))
        self._output(f"Lane{lane.title()}", link, "The queue of the lane")
        self._output(
            f"DeadLetters{lane.title()}", letters, "Its dead letters, and the redrive button"
        )


class WorkerOutputs(_Outputs):
    """What workers elsewhere need, and where the queues of their pools are.

    `policies` are those for the pools whose workers the stack does not run."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        given: WorkerInputs,
        policies: Mapping[str, WorkerPolicy],
    ) -> None:
        super().__init__(scope, name)
        stack = Stack.of(self)
        variables = stack.to_json_string(given.variables(self))
        self._output("WorkerVariables", variables, "The environment of `duetime worker`")
        for pool, policy in policies.items():
            arn = policy.policy.managed_policy_arn
            self._output(f"WorkerPolicy{_title(pool)}", arn, f"For the role of workers of {pool}")
        for pool, queues in given.queues.pools.queues.items():
            for lane in Lane:
                link = _console(queues.dead_letters[lane], stack.region)
                title = f"DeadLetters{_title(pool)}{lane.title()}"
                self._output(title, link, f"The dead letters of {pool}/{lane}")


def _title(pool: str) -> str:
    """Returns a name without dashes, which an output cannot have. `a-b` and `ab` stay apart, as
    AB and Ab."""
    return "".join(part.capitalize() for part in pool.split("-"))


def _calls(stage: Stage, url: str, region: str) -> tuple[str, str]:
    if stage.jwt is not None:
        return (
            f'.venv/bin/duetime health --url {url} --token "$TOKEN"',
            f'curl -H "Authorization: Bearer $TOKEN" {url}/v1/health',
        )
    signed = f" --sign {region}" if stage.domain else ""
    return (
        f".venv/bin/duetime health --url {url}{signed}",
        f"awscurl --service execute-api --region {region} {url}/v1/health",
    )


def _console(queue: sqs.Queue, region: str) -> str:
    """Returns the link to a queue; the console expects its URL with escaped slashes and colon."""
    account = Stack.of(queue).account
    address = f"https%3A%2F%2Fsqs.{region}.amazonaws.com%2F{account}%2F{queue.queue_name}"
    return f"https://{region}.console.aws.amazon.com/sqs/v3/home?region={region}#/queues/{address}"
