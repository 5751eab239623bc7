"""`GET /metrics`. prometheus_client writes the formats; it is imported by the first scrape."""

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from duetime.api.http import Problem, Request, Response
from duetime.core.stats.histogram import BOUNDS
from duetime.core.times import SECOND
from duetime.extras import not_installed
from duetime.local.prometheus.families import FAMILIES, Family, Kind
from duetime.local.prometheus.samples import Buckets, Sample

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

PATH = "/metrics"
BOUND_TEXTS = [*(str(bound / SECOND) for bound in BOUNDS), "+Inf"]

Samples = Callable[[], Iterable[Sample]]


class MetricsPage:
    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def respond(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            allowed = {"allow": "GET"}
            raise Problem(405, "method", "Method not allowed", f"{PATH} takes GET.", (), allowed)
        try:
            from prometheus_client.exposition import choose_encoder
        except ModuleNotFoundError as error:
            missing = not_installed(error, "What writes metrics for Prometheus")
            if missing is None:
                raise
            raise Problem(501, "not-installed", "Not installed", f"{missing}.") from None
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response.of_text(encode(Collector(self._samples)), media_type)


class Collector:
    """Makes the families of prometheus_client from our samples."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def collect(self) -> "Iterator[Metric]":
        found: dict[str, list[Sample]] = {family.name: [] for family in FAMILIES}
        for sample in self._samples():
            found[sample.family.name].append(sample)
        for family in FAMILIES:
            if found[family.name]:
                yield _family(family, found[family.name])


def _family(family: Family, samples: Iterable[Sample]) -> "Metric":
    from prometheus_client import core

    if family.kind is Kind.HISTOGRAM:
        histogram = core.HistogramMetricFamily(family.name, family.text, labels=family.labels)
        for sample in samples:
            assert isinstance(sample.value, Buckets)
            buckets = list(zip(BOUND_TEXTS, accumulate(sample.value.counts), strict=True))
            histogram.add_metric(sample.labels, buckets, sample.value.sum)
        return histogram
    made = core.CounterMetricFamily if family.kind is Kind.COUNTER else core.GaugeMetricFamily
    metric: Metric = made(family.name, family.text, labels=family.labels)
    for sample in samples:
        metric.add_metric(sample.labels, sample.value)  # type: ignore[attr-defined]
    return metric
