"""What the tasks of a local runner may call: addresses, AWS, a mail server, a database."""

from typing import TYPE_CHECKING

from duetime.core.allowed_targets import ANY, AllowedTargets
from duetime.core.ports import Clock
from duetime.core.smtp_server import parse_smtp_url
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.address_policy import AddressPolicy, parse_allowed
from duetime.executor.targets.ip_ranges import Kind
from duetime.executor.targets.lazy import Maker, aws_makers
from duetime.executor.targets.sql import SqlTarget
from duetime.extras import NotInstalled
from duetime.local.databases import open_database
from duetime.local.options import LocalOptions

if TYPE_CHECKING:
    from duetime.core.service_calls import Services

ON_AWS = ("dynamodb", "eventbridge", "lambda", "sns", "sqs", "stepfunctions")
HINTS = {
    "email": "start the runner with --smtp URL to allow it",
    "sql": "start the runner with --database NAME=URL to allow it",
}


def address_policy_for(options: LocalOptions) -> AddressPolicy:
    """Allows loopback addresses: the services that a local runner calls are mostly local too."""
    kinds = {Kind.LOOPBACK, Kind.PRIVATE} if options.allow_private else {Kind.LOOPBACK}
    return AddressPolicy(
        kinds=frozenset(kinds),
        allowed=[parse_allowed(host) for host in options.allow_hosts],
        hint="start the runner with --allow-host {address} to allow it",
        private_hint="start the runner with --allow-private or --allow-host {host} to allow it",
    )


def targets_allowed(options: LocalOptions) -> AllowedTargets:
    """Allows every resource on AWS: the credentials of the runner decide."""
    patterns = dict.fromkeys(ON_AWS, ANY)
    if options.smtp is not None:
        patterns["email"] = ANY
    return AllowedTargets(patterns=patterns | {"sql": tuple(options.databases)}, hints=HINTS)


def service_targets(options: LocalOptions, clock: Clock) -> dict[str, Maker]:
    """Loads what the options name at once, so that a missing driver ends the runner at its start.
    Raises DuetimeError."""

    def services() -> "Services":
        try:
            from duetime.aws.services import AwsServices
        except ModuleNotFoundError as error:
            reason = NotInstalled("What calls AWS", "aws")
            raise TargetFailed("NotInstalled", str(reason), permanent=True) from error

        return AwsServices(options.endpoint_url)

    databases = {name: open_database(url) for name, url in options.databases.items()}
    makers = aws_makers(services) | {"sql": lambda: SqlTarget(databases)}
    if options.smtp is None:
        return makers
    from duetime.executor.targets.email import SmtpTarget

    server = parse_smtp_url(options.smtp)
    return makers | {"email": lambda: SmtpTarget(server, clock)}
