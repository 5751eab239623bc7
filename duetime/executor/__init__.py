"""The executor: takes the lease, runs the target, records the outcome."""
