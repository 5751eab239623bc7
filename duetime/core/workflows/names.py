"""Names of workflows and steps."""

import re
from typing import Final

STEP_NAME: Final = r"[a-z0-9_-]{1,64}"
STEP_NAME_RULE: Final = "must be 1 to 64 lower-case letters, digits, _ and -"
WORKFLOW_NAME: Final = r"[A-Za-z0-9._-]{1,64}"
WORKFLOW_NAME_RULE: Final = "must be 1 to 64 letters, digits and ._-"
VERSIONED: Final = rf"{WORKFLOW_NAME}(@[1-9][0-9]{{0,8}})?"
VERSIONED_RULE: Final = "must be the name of a workflow, such as etl, or one version of it: etl@3"

_STEP_NAME = re.compile(STEP_NAME)
_WORKFLOW_NAME = re.compile(WORKFLOW_NAME)
_VERSIONED = re.compile(VERSIONED)


def is_step_name(text: str) -> bool:
    return _STEP_NAME.fullmatch(text) is not None


def is_workflow_name(text: str) -> bool:
    return _WORKFLOW_NAME.fullmatch(text) is not None


def is_versioned(text: str) -> bool:
    return _VERSIONED.fullmatch(text) is not None


def name_and_version(text: str) -> tuple[str, int | None]:
    """Returns ("etl", 3) for `etl@3`, and ("etl", None), the current version, for `etl`."""
    name, _, version = text.partition("@")
    return name, int(version) if version else None
