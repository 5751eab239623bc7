"""Prepares the interpreter of a local runner: its imports, its threads, its garbage collection."""

import gc
import sys
from importlib import import_module

# The runner's threads pass small pieces of work to each other all the time; with Python's default
# of 5 ms a ready thread would often wait longer than its work takes.
SWITCH_INTERVAL = 0.001
GARBAGE_THRESHOLD = 20_000  # new objects between collections, which stop every thread

# Modules that the roles import on first use. A runner that has run out of file descriptors could
# not import them, so it does that at its start.
LAZY_MODULES = (
    "duetime.api.dead_letter_groups",
    "duetime.api.handlers",
    "duetime.api.me",
    "duetime.api.purge",
    "duetime.api.stuck",
    "duetime.api.forecast",
    "duetime.api.live",
    "duetime.api.slo",
    "duetime.api.stats",
    "duetime.api.schedules.resource",
    "duetime.api.service_target_models",
    "duetime.core.recurrence.cron",
    "duetime.core.recurrence.exclusions",
    "duetime.core.recurrence.cron_pattern",
    "duetime.core.recurrence.describe",
    "duetime.core.child_ids",
    "duetime.executor.call_handler",
    "duetime.executor.child_fields",
    "duetime.handlers.children",
    "duetime.handlers.payload_schemas",
    "duetime.handlers.submission",
    "duetime.executor.targets.dynamodb",
    "duetime.executor.targets.invocations",
    "duetime.executor.targets.messages",
    "duetime.executor.isolation.process",
    "duetime.executor.gates",
    "duetime.executor.overlap_gate",
    "duetime.executor.slot_gate",
    "duetime.executor.previous_run",
    "duetime.executor.rate_gate",
    "duetime.executor.secrets",
    "duetime.executor.slow_down",
    "duetime.core.webhook_signatures",
    "duetime.engine.materialise",
    "duetime.api.runs",
    "duetime.api.workflows",
    "duetime.core.patterns",
    "duetime.engine.ordered",
    "duetime.engine.unique",
    "duetime.engine.workflows.followups",
    "duetime.engine.workflows.map_results",
    "duetime.engine.workflows.requests",
    "duetime.executor.large_texts",
    "duetime.executor.run_gate",
    "duetime.executor.step_attempt",
)


def import_lazy_modules() -> None:
    for module in LAZY_MODULES:
        import_module(module)


def tune_interpreter() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.freeze()  # loaded modules stay; collections need not look at them
    gc.set_threshold(GARBAGE_THRESHOLD, 20, 20)
