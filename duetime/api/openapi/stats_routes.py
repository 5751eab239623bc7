"""The calls for statistics."""

from duetime.api.openapi.route import Answer, Example, Parameter, Route
from duetime.api.openapi.stats_answers import Slo, Stats
from duetime.api.openapi.system_routes import SYSTEM
from duetime.api.openapi.task_parameters import IF_NONE_MATCH
from duetime.api.stats import MAX_POINTS, MAX_WINDOW
from duetime.core.lanes import QUEUE
from duetime.core.times import MINUTE, SECOND

ETAG = {"ETag": "Send it as `If-None-Match` to learn whether the answer has changed."}
WINDOW = Parameter(
    name="window",
    text="How far to look back, from `1m` to `7d`.",
    schema={"type": "string", "default": "1h"},
)
STEP = Parameter(
    name="step",
    text=f"The seconds of a step, a multiple of 60. A window has at most {MAX_POINTS:,} steps.",
    schema={
        "type": "integer",
        "minimum": MINUTE // SECOND,
        "maximum": MAX_WINDOW // SECOND,
        "multipleOf": MINUTE // SECOND,
        "default": MINUTE // SECOND,
    },
)
OF_LANE = Parameter(
    name="lane",
    text="Only this lane, such as `high`, or `batch/high` of a pool.",
    schema={"type": "string", "pattern": QUEUE},
)

ROUTES = (
    Route(
        method="GET",
        path="/v1/stats",
        operation="getStats",
        tag=SYSTEM,
        summary="See what happened, minute by minute",
        text="Attempts by outcome, ends by status, drift and duration: counted when an attempt or a"
        " task ends. One machine always counts; AWS does with `stats` of the stage.",
        parameters=[WINDOW, STEP, OF_LANE, IF_NONE_MATCH],
        answers=[
            Answer(status=200, text="The statistics.", model=Stats, headers=ETAG),
            Answer(status=304, text="Nothing has changed since.", headers=ETAG),
        ],
        example=Example(query={"window": "2h", "step": "300", "lane": "high"}),
    ),
    Route(
        method="GET",
        path="/v1/slo",
        operation="getSlo",
        tag=SYSTEM,
        summary="See whether tasks start on time",
        text="By lane: the share of the last 30 days, what is left of the error budget, and how"
        " fast it is spent.",
        parameters=[IF_NONE_MATCH],
        answers=[
            Answer(status=200, text="The lanes.", model=Slo, headers=ETAG),
            Answer(status=304, text="Nothing has changed since.", headers=ETAG),
        ],
        example=Example(),
    ),
)
