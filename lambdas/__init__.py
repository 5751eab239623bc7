"""The Lambda functions: one module for each, with the `handle` that AWS invokes.

- `api`: API Gateway, with one HTTP request.
- `scanner`: an EventBridge rule every minute, with the slice of shards to scan.
- `executor`: SQS, one function for each lane, with up to ten messages.
- `relay`: the stream of the DynamoDB table, with the rows that were written.

Each module parses the event, calls its role in `duetime`, and answers. `duetime.aws.backend` makes
the adapters once per cold start. docs/explanation/architecture.md follows a task through the four
functions.
"""
