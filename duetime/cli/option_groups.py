"""Groups of options: several commands share a group, and each takes it as one argument.

A parameter of a command whose type is a dataclass becomes the options that are its fields::

    @grouped
    def submit(*, task: TaskOptions, connection: Connection) -> None: ...
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command with the signature that Typer needs: every option of every group."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {n: kind for n, kind in hints.items() if is_dataclass(kind)}

    @wraps(command)
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        command(**given)

    own = signature(command)
    parameters = list(_flattened(own.parameters.values(), groups, hints))
    flat.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    del flat.__wrapped__
    return flat


def _flattened(own: Any, groups: dict[str, Any], hints: dict[str, Any]) -> Iterator[Parameter]:
    for parameter in own:
        if parameter.name in groups:
            yield from _options(groups[parameter.name])
        else:
            yield parameter.replace(annotation=hints[parameter.name])


def _options(group: Any) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        kind = Parameter.KEYWORD_ONLY
        yield Parameter(field.name, kind, default=default, annotation=hints[field.name])
