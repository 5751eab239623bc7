"""`duetime openapi`: the OpenAPI document. It works offline, without a running Duetime."""

import sys
from typing import Annotated

import typer


def openapi(
    *,
    html: Annotated[bool, typer.Option("--html", help="Print it as a page to read.")] = False,
) -> None:
    """Print the OpenAPI document of the HTTP API, for code generators and viewers."""
    from duetime.api.openapi import resource

    text = resource.page_text() if html else resource.document_text()
    sys.stdout.write(text.decode().rstrip() + "\n")
