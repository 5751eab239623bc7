"""What clients send: one JSON object a frame, read strictly."""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, NoReturn, TypeVar

from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.ids import LENGTH, is_id
from duetime.core.lanes import queue_in
from duetime.core.lifecycle import Status
from duetime.core.live.filters import EVERYTHING, LiveFilter
from duetime.core.live.limits import FILTER_VALUES, FRAME_BYTES, VERSION
from duetime.core.task import storable
from duetime.core.value import value

MAX_ID = 64  # characters of the id of a subscription
MAX_EXCERPT = 100  # characters of a message that its error repeats

T = TypeVar("T")


class Topic(StrEnum):
    TASKS = "tasks"
    TASK = "task"
    STATS = "stats"


ALL_TOPICS = frozenset(Topic)


@value(frozen=True, slots=True)
class Hello:
    version: int


@value(frozen=True, kw_only=True, slots=True)
class Subscribe:
    id: str
    topic: Topic
    filter: LiveFilter = EVERYTHING


@value(frozen=True, slots=True)
class Unsubscribe:
    id: str


class Ping(NamedTuple):
    pass


Message = Hello | Subscribe | Unsubscribe | Ping


class FieldProblem(NamedTuple):
    field: str
    message: str


class BadMessage(Exception):
    """The message is refused; `id` is that of its subscription, if it has one."""

    def __init__(self, errors: Sequence[FieldProblem], id: str | None = None) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in errors))
        self.errors = errors
        self.id = id


def read_message(text: str | bytes, topics: frozenset[Topic] = ALL_TOPICS) -> Message:
    """Reads a frame. Raises BadMessage. `topics` are those that the server has."""
    fields = _Fields(_object(text))
    fields.id = _id_in(fields.given)
    op = fields.required("op", _one_of("hello", "subscribe", "unsubscribe", "ping"))
    match op:
        case "hello":
            made: Message = Hello(fields.required("version", _version))
        case "subscribe":
            made = _subscribe(fields, topics)
        case "unsubscribe":
            made = Unsubscribe(fields.required("id", _subscription_id))
        case _:
            made = Ping()
    fields.done()
    return made


def _subscribe(fields: "_Fields", topics: frozenset[Topic]) -> Subscribe:
    subscription = fields.required("id", _subscription_id)
    topic = Topic(fields.required("topic", _one_of(*sorted(topics))))
    wanted = EVERYTHING
    if topic is Topic.TASKS:
        wanted = fields.optional("filter", _filter) or EVERYTHING
    elif topic is Topic.TASK:
        wanted = LiveFilter(task_ids=frozenset([fields.required("task_id", _task_id)]))
    return Subscribe(id=subscription, topic=topic, filter=wanted)


class _Fields:
    """The fields of an object: each is taken once, and none may be left."""

    def __init__(self, given: Mapping[str, Any], path: str = "") -> None:
        self.given = given
        self.id: str | None = None
        self._path = path
        self._taken: set[str] = set()

    def required(self, name: str, read: Callable[[Any], T]) -> T:
        if name not in self.given:
            self._refuse(name, "required")
        return self._read(name, read)

    def optional(self, name: str, read: Callable[[Any], T]) -> T | None:
        """Returns None if the field is absent or null."""
        if self.given.get(name) is None:
            self._taken.add(name)
            return None
        return self._read(name, read)

    def done(self) -> None:
        unknown = [name for name in self.given if name not in self._taken]
        if unknown:
            self._refuse(unknown[0], "unknown field")

    def _read(self, name: str, read: Callable[[Any], T]) -> T:
        self._taken.add(name)
        try:
            return read(self.given[name])
        except BadMessage as error:  # of an object inside
            raise BadMessage(error.errors, self.id) from None
        except ValueError as error:
            self._refuse(name, str(error))

    def _refuse(self, name: str, message: str) -> NoReturn:
        field = storable(f"{self._path}{name}", MAX_EXCERPT)
        raise BadMessage([FieldProblem(field, storable(message, 2 * MAX_EXCERPT))], self.id)


def _object(text: str | bytes) -> Mapping[str, Any]:
    if isinstance(text, bytes):
        raise _whole("must be text, not binary")
    if len(text) > FRAME_BYTES:
        raise _whole(f"must have at most {FRAME_BYTES:,} characters")
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _whole("must be JSON") from None
    if not isinstance(found, dict):
        raise _whole("must be a JSON object")
    return found


def _whole(message: str) -> BadMessage:
    return BadMessage([FieldProblem("message", message)])


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _id_in(given: Mapping[str, Any]) -> str | None:
    try:
        return _subscription_id(given.get("id"))
    except ValueError:
        return None


def _version(given: Any) -> int:
    if type(given) is not int or given != VERSION:
        raise ValueError(f"must be {VERSION}, the version of this protocol")
    return VERSION


def _subscription_id(given: Any) -> str:
    if not isinstance(given, str) or len(given) > MAX_ID or not is_word(given):
        raise ValueError(f"must be 1 to {MAX_ID} letters, digits and ._:- only")
    return given


def _task_id(given: Any) -> str:
    if not isinstance(given, str) or not is_id(given):
        raise ValueError(f"must be the id of a task: {LENGTH} digits and capital letters")
    return given


def _filter(given: Any) -> LiveFilter:
    if not isinstance(given, dict):
        raise ValueError("must be an object")
    fields = _Fields(given, "filter.")
    words, statuses, lanes = _any_of(_word), _any_of(_status), _any_of(queue_in)
    made = LiveFilter(
        namespaces=fields.optional("namespace", words) or frozenset(),
        statuses=fields.optional("status", statuses) or frozenset(),
        handlers=fields.optional("handler", words) or frozenset(),
        lanes=fields.optional("lane", lanes) or frozenset(),
        schedule_ids=fields.optional("schedule_id", words) or frozenset(),
        run_ids=fields.optional("run_id", words) or frozenset(),
    )
    fields.done()
    return made


def _any_of(read: Callable[[Any], T]) -> Callable[[Any], frozenset[T]]:
    """A list means any of its values. An empty one would mean none: it is refused."""

    def read_values(given: Any) -> frozenset[T]:
        values = given if isinstance(given, list) else [given]
        if not 1 <= len(values) <= FILTER_VALUES:
            raise ValueError(f"must be a value, or a list of 1 to {FILTER_VALUES}")
        return frozenset(map(read, values))

    return read_values


def _word(given: Any) -> str:
    if not isinstance(given, str) or not is_word(given):
        raise ValueError(WORD_RULE)
    return given


def _status(given: Any) -> Status:
    return Status(_one_of(*Status)(given))


def _one_of(*values: str) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if not isinstance(given, str) or given not in values:
            raise ValueError(f"must be one of {', '.join(values)}")
        return given

    return read
