"""Limits: how fast, how many at once, and in which order tasks may start."""
