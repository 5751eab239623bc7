"""`GET /metrics` of the local runner: its own counts, in the format of Prometheus."""
