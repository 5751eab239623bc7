"""`duetime quota`: what a namespace may submit and store."""

from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection

if TYPE_CHECKING:
    from duetime.client import Quota


@grouped
def quota(
    namespace: Annotated[str, typer.Argument(help="The namespace.")] = "default",
    *,
    connection: Connection,
) -> None:
    """The quota of a namespace, and how much of it is used."""
    with connection.connect() as client:
        found = client.quota(namespace)
    connection.print(found, lambda: [_sentence(found)])


def _sentence(found: "Quota") -> str:
    parts = []
    if (rate := found["submissions_per_second"]) is not None:
        parts.append(f"{rate:,.10g} tasks a second, {found['burst']:,} at once")
    if (most := found["stored_tasks"]) is not None:
        used = "?" if found["stored"] is None else f"{found['stored']:,}"  # ?: not counted yet
        parts.append(f"{used} of {most:,} stored")
    return f"{found['namespace']}: {'; '.join(parts) or 'no quota'}"
