"""Descriptions of the fields in request bodies, by their schema in the document.

They are here and not in the models that read the bodies, because a cold start loads those.
tests/api/test_openapi.py fails for a field without a text.
"""

from collections.abc import Mapping

from duetime.api.openapi.target_texts import TARGET_TEXTS, Texts

_RULES: Texts = {
    "rule": "The rule that says when. Give `rule` or `rules`.",
    "rules": "Several rules: the schedule fires when any of them does.",
    "exclude": "Times at which the schedule does not fire.",
}
_TASK: Texts = {
    "target": "What the task does. At most 16 KiB.",
    "payload": "What the target gets, any JSON: the body of an HTTP call, the argument of a"
    " handler, the message of a queue. At most 256 KiB; for `http` and `python` targets 5 MiB,"
    " where large payloads have a place.",
    "run_at": "When the task is due; a time in the past means now. At most 10 years ahead. Give"
    " `run_at` or `delay`, or neither for now.",
    "delay": "Seconds from now until the task is due.",
    "priority": "The lane that the task runs in.",
    "pool": "The pool whose workers run the task. By default null: the executors of Duetime itself"
    " do.",
    "timeout": "Seconds that one attempt may take: up to 604,800 (7 days) on the local runner, up"
    " to 840 on AWS, and up to the limit of its pool in a pool.",
    "retry": "When a failed attempt is tried again.",
    "jitter": "Adds 0 to this many seconds at random to the due time, to spread a spike.",
    "expires_at": "A task that has not started by then is EXPIRED. It must be after the due time.",
    "name": "A name for people.",
    "namespace": "Whose task it is. Lists show one namespace, or all with `*`.",
    "ordering_key": "Tasks with one key start one at a time, in the order of their due times.",
    "on_dead": "What happens to the tasks behind this one, with the same `ordering_key`, if it"
    " dies: they go on, or they wait until it is retried or discarded. By default `continue`.",
    "limits": "The limits that the task is under: at most one with a rate, and one with a"
    " concurrency.",
    "fairness_key": "Tasks with different keys take turns within a lane. By default, those of"
    " different namespaces do.",
    "trace": "The `traceparent` (W3C Trace Context) of the span that submits the task. It wins over"
    " the header of the request, and is kept while traces are on.",
    "idempotency_key": "The same as the header `Idempotency-Key`; do not send both.",
    "id": "An id that you make: a ULID whose time is within 5 minutes of now. Send the same request"
    " again until you get an answer; the task is stored once.",
    "unique": "While a task with the same key in the same namespace is live, no second one is"
    " stored.",
    "tags": "Up to 10 texts to find the task by.",
}

_OF_WORKER: Texts = {"worker": "The name of the worker, which no other process has."}
_LEASE: Texts = {"id": "The id of the task.", "holder": "The holder of the lease."}
_BULK: Texts = {
    "namespace": "Only tasks of this namespace; `*` means of all. By default `default`.",
    "status": "Only tasks in these statuses.",
    "schedule_id": "Only runs of this schedule.",
    "parent_id": "Only tasks that the handler of this task has submitted.",
    "tag": "Only tasks with all these tags: `team:growth`, or `team` for any value.",
    "name": "Only tasks whose name begins with this text.",
    "handler": "Only tasks of this Python handler.",
    "target": "Only tasks with this type of target.",
    "lane": "Only tasks in these lanes: `low`, or `batch/low` of the pool `batch`.",
    "error_type": "Only tasks whose last failure has exactly this type.",
    "with_key": "Only tasks with this idempotency key.",
    "run_id": "Refused here: a run decides about its steps.",
    "due_since": "Only tasks that are due then or later.",
    "due_before": "Only tasks that are due earlier.",
    "created_since": "Only tasks that were created then or later.",
    "created_before": "Only tasks that were created earlier.",
    "q": "The same filter in one text, as in the list. It takes no ids here.",
    "upcoming": "`false` leaves out runs of schedules whose fire time is in the future.",
    "dry_run": "Only count; change nothing.",
    "limit": "The most tasks of this call.",
    "cursor": "The `next_cursor` of the previous call.",
}

_SCHEDULE: Texts = {
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
}
_DEFINITION: Texts = {
    "steps": "The steps: 1 to 500, at most 256 KiB and 5,000 needs together.",
    "fail_fast": "Stop the run at the first failure, with the steps that run.",
    "timeout": "Seconds from `run_at` until the run is stopped: 1 second to 366 days, by default 7"
    " days.",
    "priority": "The lane of steps that name none.",
    "tags": "Up to 10 texts to find runs by.",
}
FIELD_TEXTS: Mapping[str, Texts] = {
    "DefinitionInput": _DEFINITION,
    "RunInput": {
        **_DEFINITION,
        "workflow": "The name of a workflow, or one version of it: `etl@3`. Give `workflow` or"
        " `steps`.",
        "input": "What steps refer to as `{{input}}`, any JSON. At most 256 KiB.",
        "name": "A name for people.",
        "namespace": "Whose run it is, and where its workflow is.",
        "idempotency_key": "The same as the header `Idempotency-Key`; do not send both.",
        "run_at": "When the first steps are due; a time in the past means now. Give `run_at` or"
        " `delay`.",
        "delay": "Seconds from now until the first steps are due.",
    },
    "StepInput": {
        "name": "The name, which no other step of the workflow has.",
        "target": "What the step does, as the target of a task; with references such as"
        " `{{steps.extract.result.url}}`. Give one of `target`, `workflow` and `wait`.",
        "workflow": "The workflow that the step runs: its name, one version of it, or a definition."
        " At most 2 levels deep.",
        "wait": "The step only waits.",
        "input": "The input of `workflow`, with references.",
        "payload": "What the target gets, with references.",
        "retry": "When a failed attempt is tried again.",
        "timeout": "Seconds that one attempt may take.",
        "priority": "The lane of the step. By default that of the run.",
        "pool": "The pool whose workers run the step, if it has a target.",
        "limits": "The limits that the step is under. A key may contain references.",
        "ordering_key": "Tasks with one key start one at a time. It may contain references.",
        "tags": "Up to 10 texts to find the task of the step by.",
        "needs": "The steps that must have ended before this one starts.",
        "run_if": "How they must have ended.",
        "when": "A pattern on `input` and `steps`. If it does not match, the step is skipped.",
        "allow_failure": "Its failure does not fail the run.",
        "delay": "Seconds after the step became ready.",
        "map": "Run the step once for each item.",
        "callback": "After its target has succeeded, the step waits for a callback.",
        "finally": "Run the step after every other one has ended, also on cancel.",
    },
    "MapInput": {
        "items": "A list, a number, or one reference to either. At most 10,000.",
        "max_concurrency": "How many items may be under way at once.",
        "tolerated_failures": "How many items may fail without failing the step.",
    },
    "CallbackInput": {"timeout": "Seconds to wait."},
    "WaitInput": {
        "seconds": "Seconds to wait.",
        "until": "The time to wait for.",
        "event": "Not available yet.",
    },
    "RetryRunInput": {
        "steps": "Only these steps, and every step behind them. By default all that failed or were"
        " stopped."
    },
    "CompletionInput": {
        "result": "The result of the step, any JSON. Give `result` or `error`.",
        "error": "The step ends DEAD with this error.",
    },
    "FailureInput": {"type": "The type of the error.", "message": "Why it failed."},
    "TaskInput": _TASK,
    "TaskTemplateInput": _TASK,
    "RetryInput": {
        "max_attempts": "How often the task is tried, the first attempt included.",
        "base_delay": "Seconds before the second attempt.",
        "multiplier": "Each further delay is this many times longer.",
        "max_delay": "The longest delay, in seconds.",
        "jitter": "Adds 0 to this many seconds at random to each delay.",
    },
    "LimitUseInput": {
        "name": "The name of a limit in the namespace of the task.",
        "key": "Each key is counted on its own, such as a customer. Without it, all tasks without a"
        " key share one count.",
        "on_full": "If the limit is full: the task waits for its place, it is cancelled with the"
        " reason `limit`, or the oldest task under the limit is cancelled and it waits for that"
        " place; the last only with a `concurrency`.",
    },
    "LimitInput": {
        "rate": "How often tasks may start.",
        "concurrency": "How many tasks may run at the same time.",
    },
    "LimitRateInput": {
        "count": "How many tasks may start in each period.",
        "period": "Seconds.",
        "burst": "How many more may start at once after a pause.",
    },
    "UniqueInput": {
        "key": "The key. At most one live task of a namespace holds it.",
        "while": "`running`: the task holds the key until it ends. `pending`: until its first"
        " attempt starts.",
        "on_conflict": "If another task holds the key: answer with that task (200), cancel it if it"
        " has not started and store this one (201, else 409), or refuse this one (409).",
    },
    "ChangeInput": {
        "payload": "Replaces the whole payload. Null is a payload.",
        "run_at": "When the task is due; a time in the past means now. Give `run_at` or `delay`.",
        "delay": "Seconds from now until the task is due.",
        "priority": "Moves the task to another lane.",
        "timeout": "Seconds that one attempt may take, of the attempts to come.",
        "retry": "The fields to change; null means the default policy. `max_attempts` counts the"
        " attempts that are used up.",
        "expires_at": "Only before the first attempt; null means never.",
        "on_dead": "What happens to the tasks behind this one, with the same `ordering_key`, if it"
        " dies.",
        "limits": "Replaces all limits; not while the task waits for one.",
        "fairness_key": "Null: by the namespace.",
        "tags": "Replaces all tags.",
    },
    **TARGET_TEXTS,
    "LeaseInput": {
        **_OF_WORKER,
        "pool": "Take tasks of this pool. Null: tasks without a pool.",
        "lanes": "Take tasks of these lanes only. Several share by the weights of the runner.",
        "handlers": "Take tasks for these handlers only. Without a pool, the runner must have them,"
        " too.",
        "max": "The most leases: as many as the worker can start now.",
        "wait": "Seconds to wait for the first.",
        "request": "Names this call. Within 60 seconds a repeated call leases nothing new.",
        "concurrency": "How many tasks the worker runs at a time; shown by `GET /v1/workers`.",
        "host": "Shown by `GET /v1/workers`.",
        "version": "Shown by `GET /v1/workers`.",
    },
    "RenewInput": {
        **_OF_WORKER,
        "leases": "The leases. Each has its own answer.",
        "draining": "The worker takes no more tasks; shown by `GET /v1/workers`.",
    },
    "RenewalInput": {**_LEASE, "progress": "How far the work is. The task shows it."},
    "ProgressInput": {"fraction": "From 0 to 1.", "message": "For people."},
    "ReportInput": {**_OF_WORKER, "outcomes": "The outcomes. Each has its own answer."},
    "OutcomeInput": {
        **_LEASE,
        "outcome": "How the attempt ended. `cancelled` only if a renewal has said so;"
        " `interrupted` if the worker itself ends: this uses up no attempt.",
        "result": "With `succeeded`: JSON of at most 64 KiB.",
        "error": "Required with `failed`.",
        "permanent": "With `failed`: a retry cannot help.",
        "retry_after": "With `failed`: the least seconds until the next attempt.",
        "delay": "With `snoozed`, required: seconds until the next attempt, which uses up none."
        " With `failed`: exactly so many seconds.",
        "limited": "With `snoozed`: the rate limit that was reached. Its other tasks wait, too.",
        "started_after": "Seconds from the lease to the start of the handler, for an exact drift.",
        "log": "Goes to the log of the runner.",
    },
    "ErrorInput": {
        "type": "Such as the name of an exception. 256 characters are kept.",
        "message": "1,000 characters are kept.",
        "traceback": "1,500 characters are kept.",
    },
    "ChildrenInput": {
        **_OF_WORKER,
        "id": "The id of the running task.",
        "holder": "The holder of its lease.",
        "tasks": "The tasks, each as in a single submission, without `id` and `unique`.",
    },
    "ChildInput": {
        **{name: text for name, text in _TASK.items() if name not in ("id", "unique")},
        "step": "Names the child among those of its parent. Without it, its handler and payload"
        " do.",
        "ordinal": "Of children with equal names, which one: 0 is the first. By default the number"
        " of equal ones before it in this call.",
    },
    "BatchInput": {"tasks": "The tasks, each as in a single submission."},
    "RedriveInput": {
        "ids": "The ids of the tasks.",
        "namespace": "Filter: tasks of this namespace.",
        "error_type": "Filter: tasks whose last error has exactly this type.",
        "handler": "Filter: tasks of this handler.",
        "fingerprint": "Filter: tasks of this group, from `GET /v1/dead-letters/groups`.",
        "died_after": "Filter: tasks that died then or later.",
        "died_before": "Filter: tasks that died before.",
        "all": "Every dead task.",
        "dry_run": "Only count; change nothing.",
        "limit": "The most to redrive in this call; not with `ids`. By default 1,000.",
        "cursor": "The `next_cursor` of the previous call; not with `ids`.",
    },
    "BulkInput": _BULK,
    "ShiftInput": {
        **_BULK,
        "by": "Seconds to move by; negative is earlier. Not 0, and at most 10 years.",
        "idempotency_key": "The same as the header `Idempotency-Key`; do not send both. A repeated"
        " shift with the same key moves no task twice.",
    },
    "PurgeInput": {
        "older_than": "Seconds since a task ended.",
        "namespace": "Only tasks of this namespace; without it, of all.",
        "status": "Only tasks in these statuses. By default all three.",
        "dry_run": "Only count; remove nothing.",
        "limit": "The most to remove in this call.",
        "cursor": "The `next_cursor` of the previous call.",
    },
    "ScheduleInput": _SCHEDULE,
    "DeclaredScheduleInput": {
        **_SCHEDULE,
        "name": "The name, which no other schedule of the handler has.",
        "source": "File and line of the declaration.",
    },
    "AppInput": {"app": "The owner of the schedules."},
    "SyncInput": {
        "app": "The owner of the schedules.",
        "generation": "The number of the deployment. A dry run needs none.",
        "schedules": "All schedules that the code of the app declares.",
        "prune": "Delete what the code does not declare any more, instead of pausing it.",
        "allow_empty": "Allow an app that has schedules from code to declare none.",
        "retire": "Pause or delete all schedules of an app that has synced before; without"
        " `schedules`.",
        "dry_run": "Only return what the sync would do; store nothing.",
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
    "TaskSummary": "TaskInput",
    "Unique": "UniqueInput",
    "LimitUse": "LimitUseInput",
    "StepLimitInput": "LimitUseInput",
    "Limit": "LimitInput",
    "LimitRate": "LimitRateInput",
    "RetryChangeInput": "RetryInput",
    "TaskTemplate": "TaskInput",
    "RetryPolicy": "RetryInput",
    "Schedule": "ScheduleInput",
    "Misfire": "MisfireInput",
    "StepDefinition": "StepInput",
    "MapOver": "MapInput",
    "CallbackWait": "CallbackInput",
    "WorkflowSummary": "DefinitionInput",
    "Workflow": "DefinitionInput",
    "RunSummary": "RunInput",
    "Run": "RunInput",
}
