"""The calls for schedules."""

from duetime.api.openapi.answers import Task
from duetime.api.openapi.bodies import ScheduleBody
from duetime.api.openapi.route import (
    IDEMPOTENCY_KEY,
    LOCATION,
    PAGING,
    Answer,
    Example,
    Parameter,
    Route,
)
from duetime.api.openapi.schedule_answers import (
    BackfillAccepted,
    FireTimes,
    LedgerEntryList,
    Preview,
    Schedule,
    ScheduleList,
)
from duetime.api.openapi.task_routes import HELLO
from duetime.api.schedules.history import DEFAULT_COUNT, MAX_COUNT
from duetime.api.schedules.models import BackfillIn, NoteIn, PreviewIn
from duetime.api.task_models import NothingIn
from duetime.core.schedules.schedule import ScheduleStatus

SCHEDULES = "Schedules"
ITEM = "/v1/schedules/{id}"

NAMESPACE = Parameter(
    name="namespace",
    text="Only schedules of this namespace; `*` means of all.",
    schema={"type": "string", "pattern": r"^(\*|[A-Za-z0-9._:-]{1,128})$", "default": "default"},
)
STATUS = Parameter(
    name="status",
    text="Only schedules in this status.",
    schema={"type": "string", "enum": [status.value for status in ScheduleStatus]},
)
COUNT = Parameter(
    name="count",
    text="How many fire times.",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": DEFAULT_COUNT},
)

WEEKDAYS = {"type": "cron", "expression": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
REPORT = {"name": "daily-report", "rule": WEEKDAYS, "task": HELLO}
NEW = Example(after=["createSchedule"])

ROUTES = (
    Route(
        method="POST",
        path="/v1/schedules",
        operation="createSchedule",
        tag=SCHEDULES,
        summary="Create a schedule",
        text="Give `rule` or `rules`. At every fire time Duetime creates and runs one task.",
        parameters=[IDEMPOTENCY_KEY],
        body=ScheduleBody,
        answers=[
            Answer(status=201, text="The stored schedule.", model=Schedule, headers=LOCATION),
            Answer(
                status=200, text="A replay of an idempotency key.", model=Schedule, headers=LOCATION
            ),
        ],
        problems=[409],
        example=Example(body=REPORT),
    ),
    Route(
        method="GET",
        path="/v1/schedules",
        operation="listSchedules",
        tag=SCHEDULES,
        summary="List schedules",
        text="Newest first.",
        parameters=[NAMESPACE, STATUS, *PAGING],
        answers=[Answer(status=200, text="A page of schedules.", model=ScheduleList)],
        example=Example(query={"status": "active"}, after=["createSchedule"]),
    ),
    Route(
        method="POST",
        path="/v1/schedules/preview",
        operation="previewSchedule",
        tag=SCHEDULES,
        summary="Show when a rule would fire",
        text="Nothing is stored.",
        body=PreviewIn,
        answers=[Answer(status=200, text="The fire times after `after`.", model=Preview)],
        example=Example(body={"rule": WEEKDAYS, "after": "2030-01-01T00:00:00Z", "count": 5}),
    ),
    Route(
        method="GET",
        path=ITEM,
        operation="getSchedule",
        tag=SCHEDULES,
        summary="Read a schedule",
        answers=[Answer(status=200, text="The schedule.", model=Schedule)],
        example=NEW,
    ),
    Route(
        method="PUT",
        path=ITEM,
        operation="changeSchedule",
        tag=SCHEDULES,
        summary="Change a schedule",
        text="Send a whole schedule, as to create it. Runs of the rule that have not started are"
        " cancelled. A header that shows `***` keeps its value if it is sent back as `***`, as long"
        " as scheme, host and port of the URL stay the same.",
        body=ScheduleBody,
        answers=[Answer(status=200, text="The schedule.", model=Schedule)],
        problems=[409],
        example=Example(body={**REPORT, "overlap": "queue"}, after=["createSchedule"]),
    ),
    Route(
        method="DELETE",
        path=ITEM,
        operation="deleteSchedule",
        tag=SCHEDULES,
        summary="Delete a schedule",
        text="Its ledger is deleted too, and its runs that have not started are cancelled.",
        answers=[Answer(status=204, text="It is deleted.")],
        example=NEW,
    ),
    Route(
        method="POST",
        path=f"{ITEM}/pause",
        operation="pauseSchedule",
        tag=SCHEDULES,
        summary="Pause a schedule",
        text="Runs of the rule that have not started are cancelled.",
        body=NoteIn,
        body_optional=True,
        answers=[Answer(status=200, text="The schedule.", model=Schedule)],
        problems=[409],
        example=Example(body={"note": "until the move is done"}, after=["createSchedule"]),
    ),
    Route(
        method="POST",
        path=f"{ITEM}/resume",
        operation="resumeSchedule",
        tag=SCHEDULES,
        summary="Resume a schedule",
        text="It continues from now; the ledger has the fire times of the pause as `paused`.",
        body=NoteIn,
        body_optional=True,
        answers=[Answer(status=200, text="The schedule.", model=Schedule)],
        problems=[409],
        example=Example(after=["createSchedule", "pauseSchedule"]),
    ),
    Route(
        method="POST",
        path=f"{ITEM}/trigger",
        operation="triggerSchedule",
        tag=SCHEDULES,
        summary="Run a schedule's task now",
        text="The run is outside the rule. It works while the schedule is paused, too.",
        parameters=[IDEMPOTENCY_KEY],
        body=NothingIn,
        body_optional=True,
        answers=[
            Answer(status=201, text="A task, due now.", model=Task, headers=LOCATION),
            Answer(
                status=200, text="A replay of an idempotency key.", model=Task, headers=LOCATION
            ),
        ],
        problems=[409],
        example=NEW,
    ),
    Route(
        method="POST",
        path=f"{ITEM}/backfill",
        operation="backfillSchedule",
        tag=SCHEDULES,
        summary="Run the fire times of a span in the past",
        text="From `from` up to but not including `to`, in their order.",
        body=BackfillIn,
        answers=[Answer(status=202, text="The backfill has begun.", model=BackfillAccepted)],
        problems=[409],
        example=Example(
            body={"from": "2025-11-03T00:00:00Z", "to": "2025-11-08T00:00:00Z"},
            after=["createSchedule"],
        ),
    ),
    Route(
        method="GET",
        path=f"{ITEM}/upcoming",
        operation="listUpcoming",
        tag=SCHEDULES,
        summary="Show the next fire times",
        text="None while the schedule is paused.",
        parameters=[COUNT],
        answers=[Answer(status=200, text="The next fire times.", model=FireTimes)],
        problems=[409],
        example=Example(query={"count": "5"}, after=["createSchedule"]),
    ),
    Route(
        method="GET",
        path=f"{ITEM}/ledger",
        operation="listLedger",
        tag=SCHEDULES,
        summary="Show what became of every fire time",
        text="Newest first. Entries are kept for 90 days.",
        parameters=PAGING,
        answers=[Answer(status=200, text="A page of the ledger.", model=LedgerEntryList)],
        problems=[409],
        example=NEW,
    ),
)
