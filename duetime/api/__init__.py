"""The HTTP API: submits, reads, lists, cancels and retries tasks; manages schedules."""
