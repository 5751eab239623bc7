"""The calls about Duetime itself."""

from duetime.api.forecast import By
from duetime.api.openapi.forecast_answers import Forecast, Quota
from duetime.api.openapi.route import LIMIT, TEXT, Answer, Example, Parameter, Route
from duetime.api.openapi.system_answers import (
    HandlerList,
    Health,
    LaneList,
    LiveTicket,
    Me,
    StuckList,
)
from duetime.api.openapi.task_parameters import NAMESPACE
from duetime.api.task_models import NothingIn
from duetime.core.forecast import MAX_HOURS

SYSTEM = "System"

HOURS = Parameter(
    name="hours",
    text="How many hours to look ahead.",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_HOURS, "default": 1},
)
BY = Parameter(
    name="by",
    text="`lane` splits the counts by lane.",
    schema={"type": "string", "enum": [by.value for by in By]},
)
OF_NAMESPACE = Parameter(
    name="namespace",
    text="Whose quota.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$", "default": "default"},
)
NAMESPACE_ONLY = Parameter(
    name="namespace",
    text="Only tasks of this namespace; without it, of all.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
)

ROUTES = (
    Route(
        method="GET",
        path="/v1/health",
        operation="getHealth",
        tag=SYSTEM,
        summary="Check that Duetime works",
        text="The 503 is a problem whose `detail` has the reasons, with the other fields of the"
        " 200.",
        answers=[Answer(status=200, text="All checks passed.", model=Health)],
        example=Example(),
    ),
    Route(
        method="GET",
        path="/v1/lanes",
        operation="listLanes",
        tag=SYSTEM,
        summary="See how busy the lanes are",
        answers=[Answer(status=200, text="The lanes.", model=LaneList)],
        example=Example(),
    ),
    Route(
        method="GET",
        path="/v1/me",
        operation="getMe",
        tag=SYSTEM,
        summary="See who you are and what you may do",
        answers=[Answer(status=200, text="The caller.", model=Me)],
        example=Example(),
    ),
    Route(
        method="GET",
        path="/v1/stuck",
        operation="listStuck",
        tag=SYSTEM,
        summary="See what is past its time, and why",
        text="Tasks that should have started over a minute ago, and attempts whose lease has run"
        " out. A retry that waits for its backoff is not one. Its reads are bounded: `complete`"
        " says whether none can be missing.",
        parameters=[LIMIT, NAMESPACE_ONLY],
        answers=[Answer(status=200, text="The tasks.", model=StuckList)],
        example=Example(query={"limit": "10"}),
    ),
    Route(
        method="GET",
        path="/v1/handlers",
        operation="listHandlers",
        tag=SYSTEM,
        summary="List the Python handlers",
        text="What tasks with a `python` target may name, and the payload that each takes.",
        answers=[Answer(status=200, text="The handlers.", model=HandlerList)],
        example=Example(),
    ),
    Route(
        method="GET",
        path="/v1/forecast",
        operation="getForecast",
        tag=SYSTEM,
        summary="See what comes due, minute by minute",
        text="Stored tasks that are still to start, and the coming fire times of active schedules."
        " Its reads are bounded: `looked_until` says how far it has looked.",
        parameters=[HOURS, BY, NAMESPACE],
        answers=[Answer(status=200, text="The forecast.", model=Forecast)],
        example=Example(query={"hours": "2", "by": "lane"}, after=["submitTask"]),
    ),
    Route(
        method="GET",
        path="/v1/quota",
        operation="getQuota",
        tag=SYSTEM,
        summary="See the quota of a namespace",
        text="What the namespace may submit and store, and how much of that is used.",
        parameters=[OF_NAMESPACE],
        answers=[Answer(status=200, text="The quota; all null if there is none.", model=Quota)],
        example=Example(),
    ),
    Route(
        method="POST",
        path="/v1/live/tickets",
        operation="createLiveTicket",
        tag=SYSTEM,
        summary="Get a ticket for live updates",
        text="A page cannot set the headers of a WebSocket, so its URL has a ticket: valid for 30"
        " seconds, and for one connection. A Duetime without live updates answers 404.",
        body=NothingIn,
        body_optional=True,
        answers=[Answer(status=201, text="The ticket.", model=LiveTicket)],
        problems=[404],
        example=Example(),
    ),
    Route(
        method="GET",
        path="/v1/openapi.json",
        operation="getOpenApi",
        tag=SYSTEM,
        summary="This document",
        answers=[
            Answer(status=200, text="An OpenAPI 3.1 document.", schema={"type": "object"}),
        ],
        example=Example(),
    ),
    Route(
        method="GET",
        path="/docs",
        operation="getDocs",
        tag=SYSTEM,
        summary="This document as a page",
        answers=[
            Answer(status=200, text="A page of HTML.", schema=TEXT, media_type="text/html"),
        ],
        example=Example(),
    ),
)
