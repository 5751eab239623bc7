"""The calls about Duetime itself."""

from duetime.api.openapi.answers import Health, LaneList
from duetime.api.openapi.route import TEXT, Answer, Example, Route

SYSTEM = "System"

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
