"""`duetime openapi` prints what the API answers, without a running Duetime."""

import json
from typing import Any

from duetime.api.openapi.resource import document_text, page_text


def test_openapi_prints_the_document(duetime: Any) -> None:
    result = duetime("openapi")

    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == json.loads(document_text())


def test_openapi_prints_the_page(duetime: Any) -> None:
    assert duetime("openapi", "--html").stdout.strip() == page_text().decode().strip()
