"""The quotas of the local runner, from a file."""

from pathlib import Path

from duetime.core.errors import DuetimeError
from duetime.core.quotas import BadQuota, Quotas, QuotaStore, parse_quotas
from duetime.engine.quotas import QuotaGate


def read_quota_file(file: Path) -> Quotas:
    """Raises DuetimeError, which names the file and the field."""
    try:
        return parse_quotas(file.read_text(encoding="utf-8"))
    except BadQuota as error:
        raise DuetimeError(f"--quotas {file}: {error}") from None
    except UnicodeDecodeError:
        raise DuetimeError(f"--quotas {file} is not UTF-8 text") from None
    except OSError as error:
        raise DuetimeError(f"--quotas {file}: {error.strerror}") from None


def quota_gate(quotas: Quotas | None, store: QuotaStore | None) -> QuotaGate | None:
    return QuotaGate(quotas=quotas, store=store) if quotas and store else None
