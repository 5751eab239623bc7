"""Logging: the format of records, and the task that they belong to."""
