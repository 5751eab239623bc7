"""Fingerprints of dead tasks: those that died of the same cause have the same one.

The cause is the type of the error, the target and the message, without what differs from task to
task: quoted text, and every word with a digit, such as a number, a date or an id. It is not stored.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from duetime.core.masking import masked
from duetime.core.target_names import target_name
from duetime.core.task import Spec, Task
from duetime.core.value import value

LENGTH = 16  # hexadecimal digits
MAX_MESSAGE, MAX_TARGET = 200, 200  # characters of a cause
MAX_READ = 2_000  # characters of a message that count
LEFT_OUT = "…"

# An apostrophe within a word is no quotation mark.
_QUOTED = re.compile(r"""(?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"|`[^`\n]*`|“[^”\n]*”""")
_WORD = re.compile(r"[\w-]+")
_REPEATED = re.compile(rf"{LEFT_OUT}(?:[\s.,:;/+-]*{LEFT_OUT})+")


@value(frozen=True, kw_only=True, slots=True)
class Cause:
    error_type: str | None
    target: str
    message: str

    @property
    def fingerprint(self) -> str:
        parts = (self.error_type or "", self.target, self.message)
        text = "\0".join(parts).encode(errors="surrogatepass")
        return blake2b(text, digest_size=LENGTH // 2).hexdigest()


def cause_of(task: Task) -> Cause:
    """Returns what a dead task died of."""
    failed = task.last_failure
    error = failed.error if failed else None
    return Cause(
        error_type=error.type if error else None,
        target=_target(task.spec),
        message=general(error.message)[:MAX_MESSAGE] if error else "",
    )


def general(text: str) -> str:
    """Returns a message without what differs from task to task."""
    unquoted = _QUOTED.sub(lambda found: found[0][0] + LEFT_OUT + found[0][-1], text[:MAX_READ])
    return _without_numbers(" ".join(unquoted.split()))


def _without_numbers(text: str) -> str:
    return _REPEATED.sub(LEFT_OUT, _WORD.sub(_unless_numbered, text))


def _unless_numbered(word: re.Match[str]) -> str:
    return LEFT_OUT if any(letter.isdigit() for letter in word[0]) else word[0]


def _target(spec: Spec) -> str:
    """Returns the handler, or the resource that is called, or the step of a run. Of a URL the query
    is left out, and so are the numbers in its path."""
    if spec.step is not None:
        return f"step {spec.step.step}"
    target: Mapping[str, Any] = spec.target
    name = target_name(masked(target)) or str(target.get("type", ""))
    if target.get("type") == "http":
        start, slashes, rest = name.partition("?")[0].partition("://")
        host, slash, path = rest.partition("/")
        name = start + slashes + host + slash + _without_numbers(path)
    return name[:MAX_TARGET]
