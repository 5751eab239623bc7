"""Outboxes: submit a task in the same transaction as your own data. See `duetime.outbox.sql`."""
