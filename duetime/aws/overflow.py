"""Texts of an item: short ones inline, long ones in rows of their own.

A write is billed by the size of its item. The parts of a task that can grow long (its spec, its
result, its attempts with their errors) are therefore replaced by a reference:
`@<sort key> <stub>`. The stub is a shorter text of the same form, for readers that see only the
item, such as the stream.

The sort key is a digest of the text. So a row never changes once it is written, a repeated write
writes the same row, and readers can cache it. A write that then fails its condition leaves an
unreferenced row, and so does a spec that is replaced; this is rare, and costs only storage. Such a
row is not deleted at once: another writer may just have written the same text, or a reader may be
about to read it. It goes with its task.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from duetime.aws import schema
from duetime.core import codec
from duetime.core.occurrence import Occurrence
from duetime.core.packing import SMALL, pack, unpack
from duetime.core.task import Attempt, Spec
from duetime.core.value import value

# A task with all its texts at these limits is still below 1 KB.
SPEC_LIMIT = 384
FOLLOW_UP_LIMIT = 320  # of a spec whose task keeps its wake after its end
RESULT_LIMIT = 192
ATTEMPT_LIMIT = 160
_CUT = 64  # characters of a name or an error in a stub

Texts = Mapping[str, str]  # sort key → text


@value(frozen=True, slots=True)
class Text:
    """The value in the item, and the row that must be stored before it, if any."""

    value: str
    overflow: tuple[str, str] | None = None  # sort key, whole text


def spec_text(spec: Spec) -> Text:
    text = codec.encode_spec(spec)
    of = spec.occurrence
    has_follow_up = spec.step is not None or (of is not None and of.has_follow_up)
    if fits(text, FOLLOW_UP_LIMIT if has_follow_up else SPEC_LIMIT):
        return Text(text)
    stub = replace(
        spec,
        target={"type": spec.target["type"]} if "type" in spec.target else {},
        payload=None,
        name=spec.name[:_CUT] if spec.name else None,
        ordering_key=None,
        limits=(),
        fairness_key=None,
        idempotency_key=None,
        tags={},
        occurrence=_cut(spec.occurrence) if spec.occurrence else None,
        # `unique` stays: the relay frees the key of a removed task.
    )
    return _reference("spec", text, codec.encode_spec(stub))


def result_text(text: str) -> Text:
    return Text(text) if fits(text, RESULT_LIMIT) else _reference("result", text, "")


def attempt_text(attempt: Attempt) -> Text:
    text = codec.encode_attempt(attempt)
    if attempt.error is None or fits(text, ATTEMPT_LIMIT):
        return Text(text)
    error = attempt.error
    cut = replace(error, type=error.type[:_CUT], message=error.message[:_CUT], traceback=None)
    return _reference("run", text, codec.encode_attempt(replace(attempt, error=cut)))


def references(values: Iterable[str]) -> list[str]:
    """Returns the sort keys of the texts that have rows of their own."""
    return [_split(value)[0] for value in values if value.startswith("@")]


def resolve(value: str, texts: Texts | None) -> str:
    """Returns the text that a value refers to, or its stub if there are no texts."""
    if not value.startswith("@"):
        return value
    sk, stub = _split(value)
    return stub if texts is None else texts[sk]


def text_row(pk: str, sk: str, text: str) -> dict[str, Any]:
    """A long text is stored compressed, as binary. Its sort key is the digest of the text itself,
    so the row has the same name either way."""
    packed = pack(text, SMALL)
    value = {"S": packed} if isinstance(packed, str) else {"B": packed}
    return {schema.PK: {"S": pk}, schema.SK: {"S": sk}, schema.TEXT: value}


def text_in(row: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns the text of a row, which earlier versions stored as it is."""
    [stored] = row[schema.TEXT].values()
    return unpack(stored)


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=10).hexdigest()


def fits(text: str, limit: int) -> bool:
    return len(text) <= limit and len(text.encode()) <= limit


def _reference(kind: str, text: str, stub: str) -> Text:
    sk = f"{kind}#{digest(text)}"
    return Text(f"@{sk} {stub}", (sk, text))


def _cut(occurrence: Occurrence) -> Occurrence:
    return replace(occurrence, name=occurrence.name[:_CUT] if occurrence.name else None)


def _split(value: str) -> tuple[str, str]:
    sk, _, stub = value[1:].partition(" ")
    return sk, stub
