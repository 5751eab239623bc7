"""Values of an annotated type to JSON and back.

pydantic converts them. It is imported for the first annotation that is not of JSON's own types: see
duetime.handlers.json_types.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cached_property
from inspect import Parameter
from typing import TYPE_CHECKING, Any, get_type_hints

from duetime.core.codec import to_json
from duetime.handlers.json_types import fault_in, is_json_type

if TYPE_CHECKING:
    from pydantic import TypeAdapter


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
        if self._is_json:
            return self._checked(value)
        if not naive_times and _has_naive_time(value):
            raise Misfit("", "a datetime needs a time zone; give it a tzinfo")
        return self._converted(lambda: self._dumped(value))

    def from_json(self, value: Any) -> Any:
        """Returns the value that the JSON represents."""
        if self._is_json:
            return self._checked(value)
        text = to_json(value)
        return self._converted(
            lambda: self._adapter.validate_json(text, by_alias=True, by_name=True)
        )

    def schema(self) -> dict[str, Any]:
        """Returns the JSON Schema of what `from_json` takes; an empty one, which everything fits,
        for a type that has none."""
        from duetime.handlers.payload_schemas import json_type_schema

        if self._is_json:
            return json_type_schema(self._type)
        from pydantic import PydanticUserError

        try:
            return self._adapter.json_schema()
        except (PydanticUserError, TypeError):
            return {}

    def _checked(self, value: Any) -> Any:
        if fault := fault_in(value, self._type):
            path, wanted = fault
            raise Misfit(".".join(path), wanted)
        return value

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
    def _is_json(self) -> bool:
        return is_json_type(self._type)

    @cached_property
    def _type(self) -> Any:
        if self._annotation is Parameter.empty:
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
