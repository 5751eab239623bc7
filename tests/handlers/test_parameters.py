"""How a payload becomes the arguments of a handler, and what that loads."""

import subprocess
import sys
from typing import Any

import pytest

from duetime.api.task_models import RetryIn
from duetime.core.errors import BadPayload
from duetime.handlers import defaults
from duetime.handlers.context import Context
from duetime.handlers.json_types import fault_in, is_json_type
from duetime.handlers.parameters import Parameters
from tests.factories import a_running_task

CTX = Context(a_running_task())


def call(function: Any, payload: Any) -> Any:
    return Parameters("shop", function).call(payload, CTX)()


def with_text_annotation(payload, it: "Context"):  # type: ignore[no-untyped-def]
    return payload, it


@pytest.mark.parametrize(
    ("function", "payload", "result"),
    [
        (lambda payload, ctx: (payload, ctx), [1], ([1], CTX)),
        (lambda p, context: (p, context), None, (None, CTX)),
        (lambda p, _: p, 3, 3),
        (lambda p, _ignored: p, 3, 3),
        (with_text_annotation, 3, (3, CTX)),
        (lambda payload, ctx, *, more=1: payload, 3, 3),
        (lambda *both: both, 3, (3, CTX)),
        (lambda *both, **more: both, 3, (3, CTX)),
        (lambda payload: payload, [1], [1]),
        (lambda ctx: ctx, None, CTX),
        (lambda ctx, a, *, b=2: (ctx, a, b), {"a": 1}, (CTX, 1, 2)),
        (lambda a, b=2: (a, b), {"a": 1}, (1, 2)),
        (lambda p, c: (p, c), {"p": 1, "c": 2}, (1, 2)),
        (lambda **given: given, {"a": 1}, {"a": 1}),
        (lambda: "none", None, "none"),
        (lambda: "none", {}, "none"),
    ],
)
def test_function_gets_the_payload_as_its_shape_says(function: Any, payload: Any, result: Any):
    assert call(function, payload) == result


JSON: Any = [
    (str, "a", 1, "must be text"),
    (int, 1, True, "must be a whole number"),
    (int, 1, 1.5, "must be a whole number"),
    (float, 1, "1", "must be a number"),
    (bool, True, 1, "must be true or false"),
    (None, None, 0, "must be null"),
    (list, [1], {}, "must be a list"),
    (dict, {"a": 1}, {1: 1}, "must be an object whose keys are text"),
    (str | None, None, 1, "must be text or null"),
    (list[int] | None, [1], ["a"], "0: must be a whole number"),
    (dict[str, list[str]], {"a": ["b"]}, {"a": ["b", 1]}, "a.1: must be text"),
    (list[Any], [object], 1, "must be a list"),
]


@pytest.mark.parametrize(("kind", "good", "bad", "message"), JSON)
def test_value_of_a_json_type_is_checked_and_its_fault_located(
    kind: Any, good: Any, bad: Any, message: str
):
    def handler(a: kind) -> None: ...

    parameters = Parameters("shop", handler)
    assert parameters.payload([good], {}) == {"a": good}
    with pytest.raises(BadPayload) as caught:
        parameters.payload([bad], {})
    assert str(caught.value) == (f"a: {message}" if message[0] == "m" else f"a.{message}")


@pytest.mark.parametrize("kind", [Any, object])
def test_anything_fits_where_anything_is_allowed(kind: Any):
    assert is_json_type(kind)
    assert fault_in(object(), kind) is None


@pytest.mark.parametrize("kind", [bytes, list[bytes], dict[int, str], str | bytes, tuple[str, ...]])
def test_other_types_are_left_to_pydantic(kind: Any):
    assert not is_json_type(kind)


def later(order: "Missing") -> None:  # type: ignore[name-defined]  # noqa: F821
    ...


def test_annotation_that_cannot_be_read_is_named():
    with pytest.raises(TypeError, match=r"handler 'shop': order: .*'Missing' is not defined"):
        call(later, {"order": 1})


def test_annotation_that_pydantic_cannot_convert_is_named():
    class Socket: ...

    def handler(socket: Socket) -> None: ...

    with pytest.raises(TypeError, match="handler 'shop': socket: pydantic cannot convert it"):
        call(handler, {"socket": 1})


def test_limits_of_a_retry_policy_are_those_of_the_api():
    limits = {}
    for name, field in RetryIn.model_fields.items():
        least, greatest = (getattr(field.metadata[n], key) for n, key in ((0, "ge"), (1, "le")))
        limits[name] = (least, greatest)
    assert limits == defaults.RETRY_FIELDS


LOADED = """
import sys
from duetime import Context, task
from duetime.handlers.registry import find
{handler}
find("a").bind({payload}, None)()
print(*sorted({{"pydantic", "httpx", "asyncio", "uuid"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("handler", "payload", "loaded"),
    [
        ("@task('a', priority='low')\ndef f(payload, ctx): ...", "1", ""),
        ("@task('a')\ndef f(a: list[str], b: int | None = None) -> None: ...", "{'a': ['b']}", ""),
        (
            "from datetime import date\n@task('a')\ndef f(a: date): ...",
            "{'a': '2026-11-18'}",
            "pydantic",
        ),
    ],
)
def test_executor_loads_pydantic_only_for_annotations_that_need_it(handler, payload, loaded):
    code = LOADED.format(handler=handler, payload=payload)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert ("pydantic" in found) == (loaded == "pydantic")
    assert "httpx" not in found
