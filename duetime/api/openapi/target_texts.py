"""Descriptions of the fields of targets, by their schema in the document. See field_texts.py."""

from collections.abc import Mapping

from duetime.core.arns import EXAMPLES

Texts = Mapping[str, str]

_MESSAGE: Texts = {
    "attributes": "Message attributes, all text. Duetime adds `duetime-task-id` and"
    " `duetime-attempt`.",
}
_ADDRESS = "such as `ann@example.com` or `Ann <ann@example.com>`"


def _arn(what: str, target_type: str) -> str:
    return f"The ARN of the {what}, such as `{EXAMPLES[target_type]}`."


TARGET_TEXTS: Mapping[str, Texts] = {
    "HttpTarget": {
        "type": "Sends an HTTP request. A 2xx succeeds; 408, 425, 429 and 5xx are retried; anything"
        " else fails for good.",
        "url": "An `http://` or `https://` URL without credentials, or the name of a secret that"
        ' holds one: `{"$secret": "slack-hook"}`. Its host must be among the hosts of the secret.',
        "method": "The method of the request.",
        "headers": "Headers of the request. A value may name a secret instead of holding it:"
        ' `{"$secret": "stripe"}`. Duetime adds `Idempotency-Key` (the id of the task) and'
        " `Duetime-Attempt`. Answers show `***` for a header whose name looks like a secret.",
        "sign": "The secret that signs the request, as in Standard Webhooks: adds the headers"
        " `webhook-id`, `webhook-timestamp` and `webhook-signature`.",
    },
    "PythonTarget": {
        "type": "Calls a handler.",
        "handler": "The name that the handler is registered with. An unknown name is refused.",
    },
    "SqsTarget": {
        **_MESSAGE,
        "type": "Sends the payload to an SQS queue: a string as it is, anything else as JSON.",
        "queue": _arn("queue", "sqs"),
        "group": "The message group; a FIFO queue requires it.",
        "delay": "Seconds until the message can be received; not for a FIFO queue.",
    },
    "SnsTarget": {
        **_MESSAGE,
        "type": "Publishes the payload to an SNS topic: a string as it is, anything else as JSON.",
        "topic": _arn("topic", "sns"),
        "group": "The message group; a FIFO topic requires it.",
        "subject": "One line of up to 100 ASCII characters.",
    },
    "EventBridgeTarget": {
        "type": "Puts an event on a bus. The payload is its detail: an object, or null for none.",
        "bus": _arn("bus", "eventbridge"),
        "source": "The source of the event. It does not begin with `aws.`.",
        "detail_type": "The type of the event.",
        "resources": "The resources of the event. Duetime adds `duetime:task/` and the id.",
    },
    "LambdaTarget": {
        "type": "Invokes a function with the payload as its event.",
        "function": f"{_arn('function', 'lambda')} It may have a version or an alias.",
        "invocation": "`sync` waits for the function and keeps its answer; `async` does not.",
        "envelope": "The event is `task_id`, `attempt` and `payload`, not the payload alone.",
    },
    "StepFunctionsTarget": {
        "type": "Starts an execution with the payload as its input, and does not wait for it.",
        "state_machine": _arn("state machine", "stepfunctions"),
    },
    "WorkflowTarget": {
        "type": "Starts a run of a workflow, and waits for its end without an executor.",
        "workflow": "The name of the workflow, or one version of it: `etl@3`.",
        "input": "The input of the run. It takes the place of `payload`.",
    },
    "DynamoDBTarget": {
        "type": "Writes an item of a DynamoDB table.",
        "table": _arn("table", "dynamodb"),
        "action": "What the payload has: for `put` an `item`, for `delete` a `key`, for `update` a"
        " `key` and `set`, `add` or `remove`.",
        "if_absent": "With `put`: keeps an item that is there. Give the name of the partition key.",
    },
    "EmailTarget": {
        "type": "Sends an e-mail. The payload has a `subject`, and a `text`, an `html` or both.",
        "from": f"The sender, {_ADDRESS}.",
        "to": f"One address or a list, each {_ADDRESS}.",
        "cc": "One address or a list. `to`, `cc` and `bcc` have at most 50 together.",
        "bcc": "One address or a list.",
        "reply_to": "One address or a list.",
    },
    "SqlTarget": {
        "type": "Runs one SQL statement in a transaction.",
        "database": "The name of a database in the settings.",
        "statement": "`:name` is bound to that field of the payload, and never becomes part of the"
        " statement. `:task_id` and `:attempt` are always bound.",
    },
}
