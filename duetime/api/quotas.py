"""/v1/quota: the quota of a namespace, and how much of it is used."""

from collections.abc import Mapping
from typing import Any

from duetime.api.http import Request, Response, Router
from duetime.api.query import Query
from duetime.core.quotas import Quota
from duetime.core.value import value
from duetime.engine.quotas import QuotaGate


@value(frozen=True, slots=True)
class QuotaRoute:
    gate: QuotaGate | None

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/quota", self.get)

    def get(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        namespace = query.word("namespace", "default")
        query.done()
        return Response(status=200, body=self._quota_json(namespace))

    def _quota_json(self, namespace: str) -> dict[str, Any]:
        quota = (self.gate.quotas.of(namespace) if self.gate else None) or Quota()
        stored = None
        if self.gate and quota.stored_tasks is not None:
            stored = self.gate.store.stored(namespace)
        return {
            "namespace": namespace,
            "submissions_per_second": quota.submissions_per_second,
            "burst": quota.rate.burst if quota.rate else None,
            "stored_tasks": quota.stored_tasks,
            "stored": stored,
        }
