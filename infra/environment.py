"""The environment variables of a function. Lambda takes 4 KB of them, names included."""

import json
import re
from collections.abc import Iterator, Mapping

from duetime.aws.settings import PREFIX
from infra.stage import BadStage, Stage

MAX_BYTES = 4_096
LONG_SETTINGS = ("targets", "secrets", "allow_hosts", "quotas")
REFERENCE = re.compile(r"\$\{Token\[[^\]]*\]\}")  # as the CDK writes it into a text


def check_environment(stage: Stage, function: str, variables: Mapping[str, str]) -> None:
    """Raises BadStage if Lambda would refuse the variables."""
    unknown = "x" * reference_size(stage)
    known = {name: REFERENCE.sub(unknown, text) for name, text in variables.items()}
    size = _measured(known)
    if size > MAX_BYTES:
        raise BadStage(
            f"Stage {stage.name!r} in cdk.json: the environment of {function} has {size:,} bytes,"
            f" and Lambda takes {MAX_BYTES:,}; shorten {_long_settings(known)}."
        )


def reference_size(stage: Stage) -> int:
    """Returns how long a text may be that CloudFormation puts in place of a reference.

    The references are to queues, the table and buckets. The longest is the URL of a queue, such as
    https://sqs.cn-northwest-1.amazonaws.com.cn/123456789012/duetime-STAGE-medium: 72 characters and
    the name of the stage."""
    return 72 + len(stage.name)


def _measured(variables: Mapping[str, str]) -> int:
    """Lambda measures the variables as one JSON object, in which a quote takes two bytes."""
    return len(json.dumps(variables, separators=(",", ":"), ensure_ascii=False).encode())


def _long_settings(variables: Mapping[str, str]) -> str:
    """Returns a text such as `targets (1,558), secrets (1,011) or quotas (300)`."""
    sizes = sorted(_sizes(variables), key=lambda part: -part[1])
    *others, last = [f"{name} ({size:,})" for name, size in sizes]
    return f"{', '.join(others)} or {last}" if others else last


def _sizes(variables: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yields the settings of cdk.json that may be long, each with its share of the bytes."""
    for setting in LONG_SETTINGS:
        variable = PREFIX + setting.upper()
        if variable in variables:
            yield setting, _measured({variable: variables[variable]})
    if (pools := f"{PREFIX}POOLS") in variables:
        queues = f"{PREFIX}QUEUES"
        yield "pools", _measured({name: variables[name] for name in (pools, queues)})
    own = {name: text for name, text in variables.items() if not name.startswith(PREFIX)}
    otel = {name: text for name, text in own.items() if name.startswith("OTEL_")}
    for setting, given in (("otel", otel), ("handlers.environment", own.items() - otel.items())):
        if given:
            yield setting, _measured(dict(given))
