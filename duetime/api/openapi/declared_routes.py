"""The calls for schedules by name, and for schedules that are declared in code."""

from duetime.api.openapi.bodies import ScheduleBody, SyncBody
from duetime.api.openapi.route import LOCATION, Answer, Example, Parameter, Route
from duetime.api.openapi.schedule_answers import Generation, Schedule, SyncPlan
from duetime.api.openapi.schedule_routes import ITEM, NEW, REPORT, SCHEDULES, WEEKDAYS
from duetime.api.openapi.task_routes import HELLO
from duetime.api.schedules.models import AppIn
from duetime.api.task_models import NothingIn

BY_NAME = "/v1/schedules/by-name/{name}"

NAMESPACE = Parameter(
    name="namespace",
    text="The namespace of the name.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$", "default": "default"},
)
DECLARED = {"name": "hello", "rule": WEEKDAYS, "task": HELLO, "source": "reports.py:14"}

ROUTES = (
    Route(
        method="GET",
        path=BY_NAME,
        operation="getScheduleByName",
        tag=SCHEDULES,
        summary="Read a schedule by its name",
        text="The schedule that was put by this name or, if there is none, the only one that has"
        " it. If a schedule that is declared in code and another one have the name, it is a"
        " conflict with both ids.",
        parameters=[NAMESPACE],
        answers=[Answer(status=200, text="The schedule.", model=Schedule)],
        problems=[404, 409],
        example=Example(after=["putSchedule"]),
    ),
    Route(
        method="PUT",
        path=BY_NAME,
        operation="putSchedule",
        tag=SCHEDULES,
        summary="Create or replace a schedule by its name",
        text="The same body again changes nothing, so an application can send its schedules at"
        " every start. Two requests at the same time make one schedule. If a schedule that was not"
        " put by name has the name, it is a conflict.",
        parameters=[NAMESPACE],
        body=ScheduleBody,
        answers=[
            Answer(status=201, text="It is created.", model=Schedule, headers=LOCATION),
            Answer(status=200, text="It is replaced, or was the same.", model=Schedule),
        ],
        problems=[409],
        example=Example(body=REPORT),
    ),
    Route(
        method="DELETE",
        path=BY_NAME,
        operation="deleteScheduleByName",
        tag=SCHEDULES,
        summary="Delete a schedule by its name",
        text="It finds the schedule as the call to read it does.",
        parameters=[NAMESPACE],
        answers=[Answer(status=204, text="It is deleted.")],
        problems=[404, 409],
        example=Example(after=["putSchedule"]),
    ),
    Route(
        method="POST",
        path="/v1/schedules/sync/generations",
        operation="takeGeneration",
        tag=SCHEDULES,
        summary="Take the next generation of an app",
        text="A deployment takes one before it syncs. Once a generation has begun to sync, a lower"
        " one is refused.",
        body=AppIn,
        answers=[Answer(status=201, text="The generation.", model=Generation)],
        example=Example(body={"app": "shop"}),
    ),
    Route(
        method="POST",
        path="/v1/schedules/sync",
        operation="syncSchedules",
        tag=SCHEDULES,
        summary="Store the schedules that an app declares in code",
        text="Creates what is new, changes what is different, and pauses what the app has declared"
        " before and does not declare any more. What a person has paused stays paused. The same"
        " sync can be repeated.",
        body=SyncBody,
        answers=[Answer(status=200, text="What it has done.", model=SyncPlan)],
        problems=[404, 409],
        example=Example(body={"app": "shop", "schedules": [DECLARED], "dry_run": True}),
    ),
    Route(
        method="POST",
        path=f"{ITEM}/detach",
        operation="detachSchedule",
        tag=SCHEDULES,
        summary="Make an ordinary schedule of one that is declared in code",
        text="It can then be changed and deleted, and no sync changes it any more.",
        body=NothingIn,
        body_optional=True,
        answers=[Answer(status=200, text="The schedule.", model=Schedule)],
        problems=[409],
        example=NEW,
    ),
)
