"""The Lambda functions: one module for each, with the `handle` that AWS invokes.

- `api`: API Gateway, with one HTTP request.
- `scanner`: an EventBridge rule every minute, with the slice of shards to scan.
- `executor`: SQS, one function for each lane, with up to ten messages.
- `relay`: the stream of the DynamoDB table, with the rows that were written.
- `websocket`: API Gateway, with a step of a connection for live updates; and the relay, with
  changes to push. Only in a stage with `"live": true`.

Each module parses the event, calls its role in `duetime`, and answers. `duetime.aws.backend` makes
the adapters once per cold start. docs/explanation/architecture.md follows a task through the first
four.
"""
