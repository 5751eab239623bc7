"""Options of `duetime local`, some also of `duetime worker`: read, or refused with the reason."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from duetime.cli.parse import duration, refuse
from duetime.console.files import PAGE
from duetime.core.lanes import MAX_POOLS, POOL_NAME, POOL_NAME_RULE
from duetime.core.retention import MAX_RETENTION, MIN_RETENTION
from duetime.core.shares import Weights, parse_weights
from duetime.core.stats.slo import Objectives, parse_objectives
from duetime.core.times import DAY, Millis, seconds
from duetime.local.options import LocalOptions

DEFAULTS = LocalOptions()
LOGS = "Logs"  # a panel of the help
MIN_TICK = 0.1
MIN_AGE, MAX_AGE = 1, 7 * 86_400  # seconds
MAX_TICK = 180.0  # well within the horizon of 4 minutes, or tasks would start late
FOREVER = "forever"
TOKEN = re.compile(r"[!-~]+")


class Backend(StrEnum):
    EMBEDDED = "embedded"
    MOTO = "moto"
    AWS = "aws"


class LogFormat(StrEnum):
    AUTO = "auto"
    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


HandlersOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE|FILE|DIR",
        help="Where your handlers are; repeatable.",
        show_default=False,
    ),
]
LogLevelOption = Annotated[
    LogLevel,
    typer.Option(
        case_sensitive=False,
        help="Of the log records of Duetime and of your handlers.",
        rich_help_panel=LOGS,
    ),
]


def check_filled(given: Mapping[str, Sequence[str | None]]) -> None:
    """Refuses empty values: an unset shell variable must not select another place."""
    for option, texts in given.items():
        if any(text is not None and not text.strip() for text in texts):
            refuse(option, "is empty")


def read_token(option: str, text: str | None) -> str | None:
    if text is not None and not TOKEN.fullmatch(text):
        refuse(option, "must be printable ASCII without spaces")
    return text


def check_tokens(host: str, token: str | None, worker_token: str | None) -> None:
    """Refuses to serve everyone on a network."""
    from duetime.local.sessions import is_loopback

    if token is None and not is_loopback(host):
        refuse("--host", f"{host} can be reached from other machines: give a --token, too")
    if worker_token is not None and token is None:
        refuse("--worker-token", "goes with --token: without one, the API asks for none")
    if worker_token is not None and worker_token == token:
        refuse("--worker-token", "must be another token than --token")


def check_hosts(hosts: Sequence[str]) -> None:
    from duetime.executor.targets.address_policy import parse_allowed

    for host in hosts:
        try:
            parse_allowed(host)
        except ValueError as error:
            refuse("--allow-host", str(error))


def check_smtp(url: str | None) -> None:
    from duetime.core.smtp_server import parse_smtp_url

    if url is not None:
        try:
            parse_smtp_url(url)
        except ValueError as error:
            refuse("--smtp", str(error))


def read_databases(given: Sequence[str]) -> dict[str, str]:
    """Parses NAME=URL. NAME=@FILE reads the URL from a file, so that a password is in no command
    line."""
    from duetime.local.databases import check_database

    found: dict[str, str] = {}
    for text in given:
        name, _, url = text.partition("=")
        if url.startswith("@"):
            url = _read_url(url[1:])
        try:
            check_database(name, url)
        except ValueError as error:
            refuse("--database", str(error))
        if name in found:
            refuse("--database", f"{name!r} is given twice")
        found[name] = url
    return found


def _read_url(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        refuse("--database", f"cannot read {path!r}: {error}")


def check_store(backend: Backend, data: str | None, memory: bool) -> None:
    if data is not None and Path(data).exists() and not Path(data).is_dir():
        refuse("--data", f"{data!r} is a file, and must be a folder")
    if memory and data is not None:
        refuse("--memory", "stores no data: leave out --data")
    if backend is Backend.EMBEDDED:
        return
    for option, given in (("--memory", memory), ("--data", data is not None)):
        if given:
            refuse(option, f"belongs to the SQLite store, and --backend is {backend}")


def console_folder(folder: str | None, off: bool) -> Path | None:
    if folder is None:
        return None if off else DEFAULTS.console
    if off:
        refuse("--console", "does not go with --no-console")
    if not (Path(folder) / PAGE).is_file():
        refuse("--console", f"{folder!r} has no {PAGE}")
    return Path(folder).absolute()


def check_archive(archive: str | None) -> None:
    if archive is not None and Path(archive).exists() and not Path(archive).is_dir():
        refuse("--archive", f"{archive!r} is a file, and must be a folder")


def check_backend(backend: Backend, store_only: Mapping[str, str | None]) -> None:
    if backend is Backend.EMBEDDED:
        return
    for option, given in store_only.items():
        if given is not None:
            refuse(option, f"belongs to the SQLite store, and --backend is {backend}")


def read_retention(text: str | None) -> Millis | None:
    if text is None:
        return DEFAULTS.retention
    if text == FOREVER:
        return None
    kept = seconds(duration("--retention", text))
    if not MIN_RETENTION <= kept <= MAX_RETENTION:
        refuse("--retention", f"must be from 1d to {MAX_RETENTION // DAY}d, or {FOREVER}")
    return kept


def check_endpoint(backend: Backend, url: str | None) -> None:
    if url is None:
        return
    if backend is not Backend.AWS:
        refuse("--endpoint-url", "goes with --backend aws")
    read_endpoint(url)


def read_endpoint(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        refuse("--endpoint-url", f"{url!r} is not an address like http://127.0.0.1:8000")
    return url


def read_pools(backend: Backend, given: Sequence[str]) -> tuple[str, ...]:
    if given and backend is Backend.MOTO:
        refuse("--pool", "no worker reaches the queues of --backend moto, inside this process")
    pools = tuple(dict.fromkeys(read_pool(name) for name in given))
    if len(pools) > MAX_POOLS:
        refuse("--pool", f"must be at most {MAX_POOLS}")
    return pools


def read_pool(name: str) -> str:
    if not POOL_NAME.fullmatch(name):
        refuse("--pool", f"{name!r} {POOL_NAME_RULE}")
    return name


def read_weights(text: str) -> Weights:
    try:
        return parse_weights(text)
    except ValueError as error:
        refuse("--weights", str(error))


def read_objectives(given: Sequence[str] | None) -> Objectives:
    try:
        return parse_objectives(",".join(given)) if given else DEFAULTS.objectives
    except ValueError as error:
        refuse("--objective", str(error))


def read_age_after(text: str) -> float:
    seconds = duration("--age-after", text)
    if seconds and not MIN_AGE <= seconds <= MAX_AGE:
        refuse("--age-after", f"must be 0, or from {MIN_AGE} s to {MAX_AGE // 86_400} days")
    return seconds


def read_tick(text: str) -> float:
    seconds = duration("--tick", text)
    if not MIN_TICK <= seconds <= MAX_TICK:
        refuse("--tick", f"must be from {MIN_TICK:g} to {MAX_TICK:g} s")
    return seconds
