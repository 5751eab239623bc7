"""Values of an annotated type to JSON and back.

pydantic converts them. It is imported when the first value needs it, since that takes a tenth of a
second: a value that consists of JSON's own types, and fits the annotation as it is, passes without.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cached_property
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from duetime.core.codec import to_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Check = Callable[[Any], bool]

ANYTHING = (inspect.Parameter.empty, Any, object)
EXACT = (str, int, float, bool, NoneType)


class Misfit(ValueError):
    """A value does not fit its annotation. `path` locates the fault, as in `items.3`."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class Conversion:
    """The conversion for one annotation. `owner` names it in errors; `namespace` has the names that
    an annotation in quotes may use."""

    def __init__(self, annotation: Any, owner: str, namespace: Mapping[str, Any]) -> None:
        self._annotation = annotation
        self._owner = owner
        self._namespace = namespace

    def to_json(self, value: Any, *, naive_times: bool = True) -> Any:
        """Returns the JSON of a value. What has no annotation is returned as it is."""
        if self._fits(value):
            return value
        if not naive_times and _has_naive_time(value):
            raise Misfit("", "a datetime needs a time zone; give it a tzinfo")
        return self._converted(lambda: self._dumped(value))

    def from_json(self, value: Any) -> Any:
        """Returns the value that the JSON stands for."""
        if self._fits(value):
            return value
        text = to_json(value)
        return self._converted(
            lambda: self._adapter.validate_json(text, by_alias=True, by_name=True)
        )

    def _dumped(self, value: Any) -> Any:
        fitting = self._adapter.validate_python(value, by_alias=True, by_name=True)
        return self._adapter.dump_python(fitting, mode="json")

    def _converted(self, convert: Callable[[], Any]) -> Any:
        from pydantic import ValidationError
        from pydantic_core import PydanticSerializationError

        try:
            return convert()
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            path = ".".join(str(part) for part in first["loc"])
            raise Misfit(path, _lower(first["msg"])) from None
        except PydanticSerializationError as error:
            raise Misfit("", str(error)) from None

    @cached_property
    def _fits(self) -> Check:
        return _check_of(self._type) or _never

    @cached_property
    def _type(self) -> Any:
        if self._annotation in (inspect.Parameter.empty, None):
            return self._annotation
        hinted = _Hinted({"it": self._annotation})
        try:
            return get_type_hints(hinted, dict(self._namespace), include_extras=True)["it"]
        except NameError as error:
            remedy = "import it outside of `if TYPE_CHECKING`, at the top of the module"
            raise TypeError(
                f"{self._owner}: the annotation cannot be read: {error}; {remedy}"
            ) from None

    @cached_property
    def _adapter(self) -> "TypeAdapter[Any]":
        from pydantic import PydanticUserError, TypeAdapter

        try:
            return TypeAdapter(self._type)
        except PydanticUserError as error:
            reason = str(error).splitlines()[0]
            raise TypeError(f"{self._owner}: pydantic cannot convert it: {reason}") from None


class _Hinted:
    """What `get_type_hints` reads."""

    def __init__(self, annotations: dict[str, Any]) -> None:
        self.__annotations__ = annotations


def _check_of(kind: Any) -> Check | None:
    """Returns a function that says whether a value is of this type already, and JSON at every
    level that the type describes; None for a type that pydantic has to convert."""
    if kind in ANYTHING:
        return _always
    if kind is None:
        kind = NoneType
    if kind in EXACT or kind in (list, dict):
        return lambda value: type(value) is kind
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _check_of_union([_check_of(argument) for argument in arguments])
    if origin is list:
        return _check_of_list(_check_of(arguments[0]))
    if origin is dict and arguments[0] is str:
        return _check_of_dict(_check_of(arguments[1]))
    return None


def _check_of_union(checks: list[Check | None]) -> Check | None:
    known = [check for check in checks if check]
    return (lambda value: any(check(value) for check in known)) if known else None


def _check_of_list(check: Check | None) -> Check | None:
    if check is None:
        return None
    return lambda value: type(value) is list and all(check(item) for item in value)


def _check_of_dict(check: Check | None) -> Check | None:
    if check is None:
        return None
    return lambda value: (
        type(value) is dict and all(type(key) is str and check(item) for key, item in value.items())
    )


def _always(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False


def _has_naive_time(value: Any) -> bool:
    """Whether a datetime without a time zone is in the value, in a container or in a field."""
    if isinstance(value, datetime):
        return value.utcoffset() is None
    return any(_has_naive_time(part) for part in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, type):
        return ()
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    return vars(value).values() if hasattr(value, "model_dump") else ()


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
