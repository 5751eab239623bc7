"""Texts in an item: short ones as they are, long ones as a row of their own.

A write is billed by the size of its item, so the parts of a task that can grow long (its spec,
its result, its attempts with their errors) leave a reference behind: `@<sort key> <stub>`.
The stub says less but reads the same, for those who only see the item, as in the stream.

The sort key is made from the text. So a row never changes once it is written, a repeated write
writes the same, and whoever has read a text may keep it. A write that then loses its condition
leaves a row that nobody refers to; this is rare, and costs storage only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from lambdas.aws import schema
from lambdas.core import codec
from lambdas.core.occurrence import Occurrence
from lambdas.core.task import Attempt, Spec
from lambdas.core.values import value

# A task with all its texts at these limits is still below 1 KB.
SPEC_LIMIT = 384
OWING_LIMIT = 320  # of a spec whose task keeps a wake beyond its end
RESULT_LIMIT = 192
ATTEMPT_LIMIT = 160
_CUT = 64

Texts = Mapping[str, str]  # sort key → text


@value(frozen=True, slots=True)
class Text:
    """What goes into the item, and what must be stored beside it first."""

    value: str
    beside: tuple[str, str] | None = None  # sort key, whole text


def spec_text(spec: Spec) -> Text:
    text = codec.encode_spec(spec)
    owes = spec.occurrence is not None and spec.occurrence.owes
    if fits(text, OWING_LIMIT if owes else SPEC_LIMIT):
        return Text(text)
    stub = replace(
        spec,
        target={"type": spec.target["type"]} if "type" in spec.target else {},
        payload=None,
        name=spec.name[:_CUT] if spec.name else None,
        ordering_key=None,
        idempotency_key=None,
        tags={},
        occurrence=_cut(spec.occurrence) if spec.occurrence else None,
    )
    return _referred("spec", text, codec.encode_spec(stub))


def result_text(text: str) -> Text:
    return Text(text) if fits(text, RESULT_LIMIT) else _referred("result", text, "")


def attempt_text(attempt: Attempt) -> Text:
    text = codec.encode_attempt(attempt)
    if attempt.error is None or fits(text, ATTEMPT_LIMIT):
        return Text(text)
    error = attempt.error
    cut = replace(error, type=error.type[:_CUT], message=error.message[:_CUT], traceback=None)
    return _referred("run", text, codec.encode_attempt(replace(attempt, error=cut)))


def references(values: Iterable[str]) -> list[str]:
    """The sort keys of the texts that are kept beside the item."""
    return [_split(value)[0] for value in values if value.startswith("@")]


def whole(value: str, texts: Texts | None) -> str:
    """The text that a value stands for; without the texts, its stub."""
    if not value.startswith("@"):
        return value
    sk, stub = _split(value)
    return stub if texts is None else texts[sk]


def row(pk: str, sk: str, text: str) -> dict[str, Any]:
    return {schema.PK: {"S": pk}, schema.SK: {"S": sk}, schema.TEXT: {"S": text}}


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=10).hexdigest()


def fits(text: str, limit: int) -> bool:
    return len(text) <= limit and len(text.encode()) <= limit


def _referred(kind: str, text: str, stub: str) -> Text:
    sk = f"{kind}#{digest(text)}"
    return Text(f"@{sk} {stub}", (sk, text))


def _cut(occurrence: Occurrence) -> Occurrence:
    return replace(occurrence, name=occurrence.name[:_CUT] if occurrence.name else None)


def _split(value: str) -> tuple[str, str]:
    sk, _, stub = value[1:].partition(" ")
    return sk, stub
