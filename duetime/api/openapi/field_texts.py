"""Descriptions of the fields in request bodies, by their schema in the document.

They are here and not in the models that read the bodies, because a cold start loads those.
tests/api/test_openapi.py fails for a field without a text.
"""

from collections.abc import Mapping

Texts = Mapping[str, str]

_RULES: Texts = {
    "rule": "The rule that says when. Give `rule` or `rules`.",
    "rules": "Several rules: the schedule fires when any of them does.",
    "exclude": "Times at which the schedule does not fire.",
}
_TASK: Texts = {
    "target": "What the task does. At most 16 KiB.",
    "payload": "Any JSON: the body of an HTTP call, or the argument of a handler. At most 256 KiB;"
    " for `http` and `python` targets 5 MiB, where large payloads have a place.",
    "run_at": "When the task is due; a time in the past means now. At most 10 years ahead. Give"
    " `run_at` or `delay`, or neither for now.",
    "delay": "Seconds from now until the task is due.",
    "priority": "The lane that the task runs in.",
    "timeout": "Seconds that one attempt may take: up to 604,800 (7 days) on the local runner, and"
    " up to 840 on AWS.",
    "retry": "When a failed attempt is tried again.",
    "jitter": "Adds 0 to this many seconds at random to the due time, to spread a spike.",
    "expires_at": "A task that has not started by then is EXPIRED. It must be after the due time.",
    "name": "A name for people.",
    "namespace": "Whose task it is. Lists show one namespace.",
    "ordering_key": "Stored and returned; it has no effect yet.",
    "idempotency_key": "The same as the header `Idempotency-Key`; do not send both.",
    "tags": "Up to 10 texts to find the task by.",
}

FIELD_TEXTS: Mapping[str, Texts] = {
    "TaskInput": _TASK,
    "TaskTemplateInput": _TASK,
    "RetryInput": {
        "max_attempts": "How often the task is tried, the first attempt included.",
        "base_delay": "Seconds before the second attempt.",
        "multiplier": "Each further delay is this many times longer.",
        "max_delay": "The longest delay, in seconds.",
        "jitter": "Adds 0 to this many seconds at random to each delay.",
    },
    "HttpTarget": {
        "type": "Sends an HTTP request. A 2xx succeeds; 408, 425, 429 and 5xx are retried; anything"
        " else fails for good.",
        "url": "An `http://` or `https://` URL without credentials.",
        "method": "The method of the request.",
        "headers": "Headers of the request. Duetime adds `Idempotency-Key` (the id of the task) and"
        " `Duetime-Attempt`. Answers show `***` for a header whose name looks like a secret.",
    },
    "PythonTarget": {
        "type": "Calls a handler.",
        "handler": "The name that the handler is registered with. An unknown name is refused.",
    },
    "BatchInput": {"tasks": "The tasks, each as in a single submission."},
    "RedriveInput": {
        "ids": "The ids of the tasks.",
        "namespace": "Filter: tasks of this namespace.",
        "error_type": "Filter: tasks whose last error has exactly this type.",
        "died_after": "Filter: tasks that died then or later.",
        "died_before": "Filter: tasks that died before.",
        "all": "Every dead task.",
        "dry_run": "Only count; change nothing.",
        "limit": "The most to redrive in this call; not with `ids`. By default 1,000.",
        "cursor": "The `next_cursor` of the previous call; not with `ids`.",
    },
    "ScheduleInput": {
        **_RULES,
        "name": "A name for people.",
        "task": "What every run does: a task without the fields that say when.",
        "starts_at": "The first moment at which the schedule may fire. At most 10 years ahead.",
        "ends_at": "The schedule fires before this moment.",
        "max_runs": "How often the rule fires in total.",
        "jitter": "Adds 0 to this many seconds at random to the start of each run.",
        "misfire": "What happens to a run that cannot start in time.",
        "overlap": "What happens to a run that is due while another one is not over: it starts"
        " anyway, is skipped, waits, or cancels the older one.",
        "pause_on_failure": "Pause the schedule after this many DEAD runs in a row.",
    },
    "MisfireInput": {
        "policy": "Of the missed runs, start the latest, start all in their order, or none.",
        "grace": "A run that would start more than this many seconds late is missed; below 5 it"
        " counts as 5.",
        "window": "A run that was missed more than this many seconds ago is skipped in any case.",
        "per_minute": "With `run_all`: how many missed runs start in a minute.",
    },
    "CronRule": {
        "type": "Fires at the local times that an expression names.",
        "expression": "Minute, hour, day of the month, month and weekday; `@daily` and the like;"
        " EventBridge's `cron(…)` or `rate(…)`.",
        "timezone": "An IANA name. Without it, the `CRON_TZ` of the expression, or UTC.",
        "seconds": "Where the second is in an expression of six fields; required there.",
        "days": "What a day must match if both the day of the month and the weekday are"
        " restricted. By default `either`.",
        "dst": "What happens when the clocks change.",
    },
    "DaylightSavingPolicy": {
        "gap": "A local time that does not exist: run at the first instant after the gap, or skip.",
        "overlap": "A local time that exists twice: run the first time, the last, or both.",
    },
    "RateRule": {
        "type": "Fires at every interval, however long a run takes.",
        "every": "The interval in seconds.",
        "anchor": "The interval counts from here. By default, when the schedule was created.",
    },
    "DelayRule": {
        "type": "Fires when the previous run ended, after a delay. It must be the only rule.",
        "delay": "Seconds after the end of the previous run.",
    },
    "ExcludedDates": {
        "type": "Leaves out whole local days.",
        "dates": "Days such as `2026-12-24`.",
        "timezone": "An IANA name.",
    },
    "PreviewInput": {
        **_RULES,
        "after": "Show fire times after this moment. By default, after now.",
        "count": "How many fire times.",
    },
    "NoteInput": {"note": "Why, for people to read."},
    "BackfillInput": {
        "from": "The first fire time that may run.",
        "to": "Fire times before this moment run. It must not be in the future.",
        "overlap": "`allow`: side by side; any other: one after another. By default as in the"
        " schedule.",
        "per_minute": "How many runs start in a minute.",
    },
    "NothingInput": {},
}

# A field of an answer without a text of its own means what it means in the request.
SAME_FIELDS: Mapping[str, str] = {
    "Task": "TaskInput",
    "TaskTemplate": "TaskInput",
    "RetryPolicy": "RetryInput",
    "Schedule": "ScheduleInput",
    "Misfire": "MisfireInput",
}
