"""The local runner: every role in one process, behind the same ports."""
