"""The quotas of a deployment, as its setting names them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.core.quotas import QuotaStore
    from duetime.engine.quotas import QuotaGate


def quota_gate(setting: str, store: "Callable[[], QuotaStore]") -> "QuotaGate | None":
    """Returns the gate for quotas in JSON; None for an empty text. Most deployments have no quotas,
    and import nothing for them. Raises BadQuota."""
    if not setting:
        return None
    from duetime.core.quotas import parse_quotas
    from duetime.engine.quotas import QuotaGate

    return QuotaGate(quotas=parse_quotas(setting), store=store())
