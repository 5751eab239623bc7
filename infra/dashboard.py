"""The dashboard: punctuality, backlog, failures and throughput."""

from collections.abc import Iterator, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from duetime.aws.settings import dashboard_name
from duetime.core.lanes import Lane, Queue
from infra.metrics import MINUTE, StageMetrics
from infra.parts import Parts
from infra.stage import Stage

THIRD, HEIGHT = 8, 6


class Dashboard(Construct):
    def __init__(self, scope: Construct, name: str, *, stage: Stage, parts: Parts) -> None:
        super().__init__(scope, name)
        self._metrics = StageMetrics(stage)
        cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=dashboard_name(stage.name),
            widgets=[
                [_title("Is it on time?")],
                self._on_time(),
                [_title("Is anything stuck?")],
                self._stuck(parts),
                [_title("What fails?")],
                self._fails(parts),
                [_title("What is done?")],
                self._done(),
                *self._pools(parts),
            ],
        )

    def _on_time(self) -> list[cloudwatch.IWidget]:
        scanner = ("Lag", "TickAge")
        return [
            _graph("Drift, half of all tasks (ms)", self._lanes("relay", "Drift", "p50")),
            _graph("Drift, 99 of 100 tasks (ms)", self._lanes("relay", "Drift", "p99")),
            _graph(
                "Scanner: lag of the oldest bucket, age of the last tick (s)",
                [self._metrics.of_role("scanner", name, "Maximum") for name in scanner],
            ),
        ]

    def _stuck(self, parts: Parts) -> list[cloudwatch.IWidget]:
        queues = parts.queues.lanes.queues.items()
        return [
            _graph(
                "Oldest message (s)",
                [
                    queue.metric_approximate_age_of_oldest_message(
                        label=lane, period=MINUTE, statistic="Maximum"
                    )
                    for lane, queue in queues
                ],
            ),
            _graph(
                "Messages that wait",
                [
                    queue.metric_approximate_number_of_messages_visible(
                        label=lane, period=MINUTE, statistic="Maximum"
                    )
                    for lane, queue in queues
                ],
            ),
            _graph(
                "Dead letters, failed ticks, failed records",
                [
                    queue.metric_approximate_number_of_messages_visible(
                        label=name, period=MINUTE, statistic="Maximum"
                    )
                    for name, queue in parts.failures().items()
                ],
            ),
        ]

    def _fails(self, parts: Parts) -> list[cloudwatch.IWidget]:
        functions = list(parts.functions())
        return [
            _graph("Retries", self._lanes("relay", "Retries", "Sum")),
            _graph("Tasks that died", self._lanes("relay", "Dead", "Sum")),
            _graph(
                "Functions: errors, throttles",
                [
                    *(f.function.metric_errors(label=f.name, period=MINUTE) for f in functions),
                    *(
                        f.function.metric_throttles(label=f"{f.name}, throttled", period=MINUTE)
                        for f in functions
                    ),
                ],
            ),
        ]

    def _done(self) -> list[cloudwatch.IWidget]:
        return [
            _graph("Tasks that succeeded", self._lanes("relay", "Succeeded", "Sum")),
            _graph(
                "Claims, and claims lost to another tick",
                [
                    *self._lanes("scanner", "Claims", "Sum"),
                    *self._lanes("scanner", "LostClaims", "Sum"),
                ],
            ),
            _graph("Share of the fast path", self._lanes("relay", "FastPath", "Average")),
        ]

    def _pools(self, parts: Parts) -> Iterator[list[cloudwatch.IWidget]]:
        """A row for each pool."""
        by_pool = parts.queues.pools.queues
        if by_pool:
            yield [_title("Are the pools served?")]
        for pool, queues in by_pool.items():
            each = queues.queues.items()
            waiting = [
                queue.metric_approximate_number_of_messages_visible(
                    label=lane, period=MINUTE, statistic="Maximum"
                )
                for lane, queue in each
            ]
            running = [
                queue.metric_approximate_number_of_messages_not_visible(
                    label=lane, period=MINUTE, statistic="Maximum"
                )
                for lane, queue in each
            ]
            ended = [
                self._metrics.of_lane("relay", name, Queue(lane, pool), "Sum")
                for name in ("Succeeded", "Retries", "Dead")
                for lane in queues.queues
            ]
            yield [
                _graph(f"{pool}: messages that wait", waiting),
                _graph(f"{pool}: messages of tasks that run", running),
                _graph(f"{pool}: tasks that succeeded, were retried, died", ended),
            ]

    def _lanes(self, role: str, name: str, statistic: str) -> list[cloudwatch.IMetric]:
        return [self._metrics.of_lane(role, name, lane, statistic) for lane in Lane]


def _title(text: str) -> cloudwatch.TextWidget:
    return cloudwatch.TextWidget(markdown=f"## {text}", width=3 * THIRD, height=1)


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=[*metrics], width=THIRD, height=HEIGHT)
