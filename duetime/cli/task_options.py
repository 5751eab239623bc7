"""The options that describe a task, for `submit` and for the tasks of a schedule."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from duetime.cli.limit_options import (
    FairnessKey,
    IfDead,
    IfFull,
    Limit,
    OrderingKey,
    limit_fields,
)
from duetime.cli.parse import duration, finite, json_argument, pairs, refuse, tag_pairs
from duetime.core.lanes import Lane
from duetime.core.secrets import REFERENCE
from duetime.core.unique import HeldWhile, OnConflict

WHAT, WHEN, RETRIES, LABELS = "What to do", "When", "If it fails", "Labels and keys"
DURATION = "DURATION"
TIME = "TIME"

Handler = Annotated[
    str | None,
    typer.Option(help="A Python handler, e.g. reports.daily.", rich_help_panel=WHAT),
]
Http = Annotated[
    str | None, typer.Option(metavar="URL", help="An address to call.", rich_help_panel=WHAT)
]
SecretUrl = Annotated[
    str | None,
    typer.Option(
        metavar="SECRET", help="The secret that holds the address to call.", rich_help_panel=WHAT
    ),
]
Method = Annotated[
    str | None,
    typer.Option(help="With an address.", show_default="POST", rich_help_panel=WHAT),
]
Header = Annotated[
    list[str] | None,
    typer.Option(metavar="'K: V'", help="With an address; repeatable.", rich_help_panel=WHAT),
]
SecretHeader = Annotated[
    list[str] | None,
    typer.Option(
        metavar="K=SECRET",
        help="With an address: a header whose value is this secret; repeatable.",
        rich_help_panel=WHAT,
    ),
]
SignWith = Annotated[
    str | None,
    typer.Option(
        metavar="SECRET",
        help="With an address: sign the request with this secret.",
        rich_help_panel=WHAT,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="JSON|@FILE|-", help="Any other target, with its type.", rich_help_panel=WHAT
    ),
]
Payload = Annotated[
    str | None,
    typer.Option(metavar="JSON|@FILE|-", help="Its input.", rich_help_panel=WHAT),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FILE|-",
        help="A whole task as JSON, or a list of tasks.",
        rich_help_panel=WHAT,
    ),
]
In = Annotated[
    str | None,
    typer.Option(
        "--in", metavar=DURATION, help="E.g. 10, 90s, 5m, 1h30m, 2d.", rich_help_panel=WHEN
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar=TIME, help="E.g. 2026-11-16T09:00:00+01:00.", rich_help_panel=WHEN
    ),
]
Jitter = Annotated[
    str | None,
    typer.Option(metavar=DURATION, help="Add up to this much at random.", rich_help_panel=WHEN),
]
ExpiresAt = Annotated[
    str | None,
    typer.Option(metavar=TIME, help="Do not start it after this.", rich_help_panel=WHEN),
]
Priority = Annotated[
    Lane | None,
    typer.Option(case_sensitive=False, show_default="medium", rich_help_panel=WHAT),
]
Pool = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The pool whose workers run it.", rich_help_panel=WHAT),
]
Timeout = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="How long an attempt may take; at most 7d, on a deployed stage 14m without a pool.",
        show_default="60",
        rich_help_panel=RETRIES,
    ),
]
MaxAttempts = Annotated[
    int | None,
    typer.Option(help="Including the first.", show_default="5", rich_help_panel=RETRIES),
]
BaseDelay = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="The pause after the first failure.",
        show_default="1",
        rich_help_panel=RETRIES,
    ),
]
Multiplier = Annotated[
    float | None,
    typer.Option(
        help="The factor by which the pause grows.", show_default="2", rich_help_panel=RETRIES
    ),
]
MaxDelay = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION, help="The longest pause.", show_default="1h", rich_help_panel=RETRIES
    ),
]
RetryJitter = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="Add up to this much to each pause.",
        show_default="0.5",
        rich_help_panel=RETRIES,
    ),
]
Name = Annotated[str | None, typer.Option(help="For people to read.", rich_help_panel=LABELS)]
Namespace = Annotated[
    str | None,
    typer.Option(help="Whose task it is.", show_default="default", rich_help_panel=LABELS),
]
Tag = Annotated[
    list[str] | None, typer.Option(metavar="K=V", help="Repeatable.", rich_help_panel=LABELS)
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(help="Submitting again with it makes no second task.", rich_help_panel=LABELS),
]
TaskId = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="ULID",
        help="Its id, made within 5 minutes of now; sending it again makes no second task.",
        show_default="a new one",
        rich_help_panel=LABELS,
    ),
]
UniqueKey = Annotated[
    str | None,
    typer.Option(
        "--unique",
        metavar="KEY",
        help="Submit it only if no live task has this key.",
        rich_help_panel=LABELS,
    ),
]
UniqueWhile = Annotated[
    HeldWhile | None,
    typer.Option(
        help="How long it holds its key: until it starts, or until it ends.",
        show_default="running",
        rich_help_panel=LABELS,
    ),
]
ConflictAction = Annotated[
    OnConflict | None,
    typer.Option(
        "--on-conflict",
        help="What to do if a live task has the key.",
        show_default="return_existing",
        rich_help_panel=LABELS,
    ),
]


class RetryOptions:
    """The retry policy of a group with these options."""

    __slots__ = ()

    max_attempts: MaxAttempts
    base_delay: BaseDelay
    multiplier: Multiplier
    max_delay: MaxDelay
    retry_jitter: RetryJitter

    def retry(self) -> dict[str, Any]:
        return given(
            max_attempts=self.max_attempts,
            base_delay=duration("--base-delay", self.base_delay),
            multiplier=finite("--multiplier", self.multiplier),
            max_delay=duration("--max-delay", self.max_delay),
            jitter=duration("--retry-jitter", self.retry_jitter),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskOptions(RetryOptions):
    handler: Handler = None
    http: Http = None
    secret_url: SecretUrl = None
    method: Method = None
    header: Header = None
    secret_header: SecretHeader = None
    sign_with: SignWith = None
    target: Target = None
    payload: Payload = None
    priority: Priority = None
    pool: Pool = None
    timeout: Timeout = None
    max_attempts: MaxAttempts = None
    base_delay: BaseDelay = None
    multiplier: Multiplier = None
    max_delay: MaxDelay = None
    retry_jitter: RetryJitter = None
    namespace: Namespace = None
    tag: Tag = None
    limit: Limit = None
    on_full: IfFull = None
    fairness_key: FairnessKey = None
    ordering_key: OrderingKey = None
    on_dead: IfDead = None

    def fields(self) -> dict[str, Any]:
        """Returns the fields of a task as submitted, without the options that were not given."""
        return given(
            target=self._target(),
            payload=None if self.payload is None else json_argument("--payload", self.payload),
            priority=self.priority and self.priority.value,
            pool=self.pool,
            timeout=duration("--timeout", self.timeout),
            retry=self.retry() or None,
            namespace=self.namespace,
            tags=tag_pairs(self.tag or []) or None,
            limits=limit_fields(self.limit, self.on_full) or None,
            fairness_key=self.fairness_key,
            ordering_key=self.ordering_key,
            on_dead=self.on_dead and self.on_dead.value,
        )

    def _target(self) -> dict[str, Any] | None:
        self._check_one_target()
        if self.target is not None:
            return self._given_target(self.target)
        if (url := self._url()) is not None:
            return given(
                type="http",
                url=url,
                method=self.method and self.method.upper(),
                headers=self._headers() or None,
                sign=None if self.sign_with is None else {REFERENCE: self.sign_with},
            )
        for option, value in (
            ("--method", self.method),
            ("--header", self.header),
            ("--secret-header", self.secret_header),
            ("--sign-with", self.sign_with),
        ):
            if value is not None:
                refuse(option, "goes with --http or --secret-url")
        return None if self.handler is None else {"type": "python", "handler": self.handler}

    def _check_one_target(self) -> None:
        targets = given(
            target=self.target, handler=self.handler, http=self.http, secret_url=self.secret_url
        )
        if len(targets) > 1:
            first, second, *_ = (f"--{name.replace('_', '-')}" for name in targets)
            refuse(first, f"cannot go with {second}: a task has one target")

    def _url(self) -> str | dict[str, str] | None:
        return self.http if self.secret_url is None else {REFERENCE: self.secret_url}

    def _headers(self) -> dict[str, Any]:
        headers = pairs("--header", self.header or [], ":", "Accept: text/plain")
        secret = pairs("--secret-header", self.secret_header or [], "=", "Authorization=stripe")
        for name in secret:
            if name.lower() in map(str.lower, headers):
                refuse("--secret-header", f"{name!r} is given as --header too")
        return headers | {name: {REFERENCE: text} for name, text in secret.items()}

    def _given_target(self, text: str) -> dict[str, Any]:
        if text == self.payload == "-":
            refuse("--target", "cannot be read from standard input together with --payload")
        target = json_argument("--target", text)
        if not isinstance(target, dict):
            refuse("--target", 'must be an object such as {"type": "sqs", "queue": "arn:…"}')
        return target


def unique_fields(
    key: str | None, held_while: HeldWhile | None, on_conflict: OnConflict | None
) -> dict[str, Any] | None:
    """Returns `unique` of a task as submitted."""
    if key is None:
        for option, value in (("--unique-while", held_while), ("--on-conflict", on_conflict)):
            if value is not None:
                refuse(option, "goes with --unique")
        return None
    names = {"while": held_while and held_while.value}
    return given(key=key, **names, on_conflict=on_conflict and on_conflict.value)


def given(**fields: Any) -> dict[str, Any]:
    """Returns the fields that are not None: the API has defaults for the others."""
    return {name: value for name, value in fields.items() if value is not None}
