"""The optional parts of the package: which packages each needs, and the sentence if one is missing.

`pip install duetime` has what an application needs to submit tasks. The rest comes with an extra.
"""

from duetime.core.errors import DuetimeError

# The packages of each extra, as they are imported.
PACKAGES = {
    "cli": ("typer", "rich", "croniter", "tzdata"),
    "local": ("starlette", "uvicorn", "httptools", "urllib3"),
    "aws": ("boto3", "botocore", "aws_lambda_powertools"),
    "moto": ("moto",),
    "live": ("websockets",),
    "metrics": ("prometheus_client",),
    "postgresql": ("psycopg",),
}
_EXTRAS = {package: extra for extra, packages in PACKAGES.items() for package in packages}


class NotInstalled(DuetimeError):
    """`extra` is the extra of the package that has what is missing."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed: pip install 'duetime[{extra}]'")
        self.extra = extra


def not_installed(error: ModuleNotFoundError, what: str | None = None) -> NotInstalled | None:
    """Returns the error for a package of an extra; None if another module is missing. `what` names
    what needs the package."""
    package = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(package)
    return None if extra is None else NotInstalled(what or package, extra)
