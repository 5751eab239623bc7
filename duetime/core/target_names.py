"""Short names of targets, for lists, events and the terminal."""

import re
from collections.abc import Mapping
from typing import Any

from duetime.core.allowed_targets import RESOURCE_FIELDS
from duetime.core.secrets import REFERENCE, is_reference

_BEFORE_THE_NAME = re.compile(r"arn:[^:]*:[^:]*:[^:]*:\d*:(?:[a-zA-Z-]+[:/])?")


def target_name(target: Mapping[str, Any]) -> str | None:
    """Returns the handler, the URL, or a text such as `sqs orders` or `workflow etl`. None if a
    large task is read without its target."""
    kind = target.get("type", "")
    if kind == "python":  # most tasks
        return target.get("handler")
    if kind == "workflow":
        return f"workflow {target['workflow']}" if "workflow" in target else "workflow"
    field = RESOURCE_FIELDS.get(kind)
    if field is None:
        return target.get("handler") or url_name(target.get("url"))
    if field not in target:
        return None
    shown = target["to"][0] if target["type"] == "email" else target[field]
    return f"{target['type']} {_BEFORE_THE_NAME.sub('', shown, count=1)}"


def url_name(url: Any) -> str | None:
    """Returns the URL, or `secret slack-hook` for one that a secret holds."""
    return f"secret {url[REFERENCE]}" if is_reference(url) else url
