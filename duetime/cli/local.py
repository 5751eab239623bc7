"""`duetime local`: all of Duetime on this machine."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from duetime.cli.parse import duration, refuse
from duetime.console.files import PAGE
from duetime.core.retention import MAX_RETENTION, MIN_RETENTION
from duetime.core.shares import Weights, parse_weights
from duetime.core.stats.slo import Objectives, parse_objectives
from duetime.core.times import DAY, Millis, seconds
from duetime.local.options import LocalOptions

DEFAULTS = LocalOptions()
MIN_TICK = 0.1
MIN_AGE, MAX_AGE = 1, 7 * 86_400  # seconds
MAX_TICK = 180.0  # well within the horizon of 4 minutes, or tasks would start late
STORE, AWS = "SQLite store", "Other backends"
FOREVER = "forever"
TOKEN = re.compile(r"[!-~]+")
CALLS, LOGS = "What http tasks may call", "Logs"
SERVERS = "What email and sql tasks use"


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


def local(
    *,
    host: Annotated[str, typer.Option(help="Where to listen.")] = DEFAULTS.host,
    port: Annotated[int, typer.Option(min=1, max=65_535)] = DEFAULTS.port,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="DUETIME_TOKEN",
            help="Answer only requests with this bearer token; the variable keeps it off the"
            " screen.",
            show_default=False,
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Refuse every request that changes something.")
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65_535,
            help="Another port, with /metrics for Prometheus and nothing else.",
            show_default=False,
        ),
    ] = None,
    handlers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE|FILE|DIR",
            help="Where your handlers are; repeatable.",
            show_default=False,
        ),
    ] = None,
    reload: Annotated[
        bool,
        typer.Option("--reload", help="Import your handlers again when their files change."),
    ] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo/--no-demo", help="Run a small demonstration at the start."),
    ] = True,
    console: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Serve the web console from this folder, such as its source; for development.",
            show_default=False,
        ),
    ] = None,
    no_console: Annotated[
        bool, typer.Option("--no-console", help="Do not serve the web console at /.")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where tasks are stored.",
            show_default=str(DEFAULTS.data),
            rich_help_panel=STORE,
        ),
    ] = None,
    memory: Annotated[
        bool,
        typer.Option("--memory", help="Store nothing on disk.", rich_help_panel=STORE),
    ] = False,
    retention: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION|forever",
            help="How long tasks are kept after their end. Dead ones are kept until you discard"
            " them.",
            show_default="30d",
            rich_help_panel=STORE,
        ),
    ] = None,
    archive: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write tasks there, as JSON lines, before they are removed.",
            rich_help_panel=STORE,
        ),
    ] = None,
    quotas: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A JSON file with the quotas of namespaces.",
            show_default=False,
            rich_help_panel=STORE,
        ),
    ] = None,
    tick: Annotated[
        str, typer.Option(metavar="DURATION", help="How often the scanner runs.")
    ] = f"{DEFAULTS.tick:g}",
    concurrency: Annotated[
        int, typer.Option(min=1, help="Tasks at a time, in all lanes together.")
    ] = DEFAULTS.concurrency,
    weights: Annotated[
        str,
        typer.Option(
            metavar="HIGH/MEDIUM/LOW",
            help="How the lanes share the starts while all of them have work, in percent.",
        ),
    ] = str(DEFAULTS.weights),
    age_after: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="Promote a task to the next higher lane when it has waited so long; 0: never.",
            show_default="1h",
        ),
    ] = f"{DEFAULTS.age_after:g}",
    catch_up: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Overdue tasks started a second, in each lane, after an outage.",
        ),
    ] = DEFAULTS.catch_up,
    crowded_minute: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Suggest jitter when so many tasks are due in one minute; 0: never.",
        ),
    ] = DEFAULTS.crowded_minute,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LANE=]SHARE/DRIFT",
            help="How many tasks are to start how late at most, for duetime slo; repeatable.",
            show_default="99%/1s",
        ),
    ] = None,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private",
            help="Let http tasks call private networks: Compose, Kubernetes, a LAN.",
            rich_help_panel=CALLS,
        ),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST|ADDRESS|RANGE",
            help="Let http tasks call this host though it is not public; repeatable.",
            show_default=False,
            rich_help_panel=CALLS,
        ),
    ] = None,
    secrets: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A JSON file with the secrets that tasks may name; only you may read it.",
            show_default=False,
            rich_help_panel=CALLS,
        ),
    ] = None,
    smtp: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="DUETIME_SMTP",
            help="The mail server of email tasks: smtp://, smtp+starttls:// or smtps://.",
            show_default=False,
            show_envvar=False,
            rich_help_panel=SERVERS,
        ),
    ] = None,
    database: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=URL|@FILE",
            envvar="DUETIME_DATABASES",
            help="A database of sql tasks: sqlite:///FILE or postgresql://...; repeatable.",
            show_default=False,
            show_envvar=False,
            rich_help_panel=SERVERS,
        ),
    ] = None,
    backend: Annotated[
        Backend, typer.Option(case_sensitive=False, rich_help_panel=AWS)
    ] = Backend.EMBEDDED,
    endpoint_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Of DynamoDB and SQS, with --backend aws.", rich_help_panel=AWS
        ),
    ] = None,
    log_level: Annotated[
        LogLevel,
        typer.Option(
            case_sensitive=False,
            help="Of the log records of Duetime and of your handlers.",
            rich_help_panel=LOGS,
        ),
    ] = LogLevel.WARNING,
    log_format: Annotated[
        LogFormat,
        typer.Option(
            case_sensitive=False,
            help="auto: for people on a terminal, otherwise text, a line for each record.",
            rich_help_panel=LOGS,
        ),
    ] = LogFormat.AUTO,
) -> None:
    """Run Duetime on this machine: API, scanner and executors, until Ctrl-C."""
    _check_filled({"--host": [host], "--data": [data], "--handlers": handlers or []})
    _check_filled({"--retention": [retention], "--archive": [archive], "--secrets": [secrets]})
    _check_filled({"--quotas": [quotas], "--console": [console]})
    if metrics_port == port:
        refuse("--metrics-port", "must be another port than --port")
    if reload and not handlers:
        refuse("--reload", "goes with --handlers")
    _check_hosts(allow_host or ())
    _check_smtp(smtp)
    _check_store(backend, data, memory)
    _check_archive(archive)
    store_only = {"--retention": retention, "--archive": archive, "--quotas": quotas}
    _check_backend(backend, store_only)
    _check_endpoint(backend, endpoint_url)
    options = LocalOptions(
        host=host,
        port=port,
        token=_token(token),
        read_only=read_only,
        metrics_port=metrics_port,
        data=Path(data) if data else DEFAULTS.data,
        memory=memory,
        retention=_retention(retention),
        archive=Path(archive) if archive else None,
        handlers=tuple(handlers or ()),
        reload=reload,
        tick=_tick(tick),
        concurrency=concurrency,
        weights=_weights(weights),
        age_after=_age_after(age_after),
        catch_up=catch_up,
        crowded_minute=crowded_minute,
        allow_private=allow_private,
        allow_hosts=tuple(allow_host or ()),
        secrets=Path(secrets) if secrets else None,
        quotas=Path(quotas) if quotas else None,
        smtp=smtp,
        databases=_databases(database or ()),
        objectives=_objectives(objective),
        demo=demo,
        console=_console(console, no_console),
        backend=backend.value,
        endpoint_url=endpoint_url,
        log_level=log_level.value,
        log_format=log_format.value,
    )
    from duetime.local.runner import run

    raise typer.Exit(run(options))


def _check_filled(given: Mapping[str, Sequence[str | None]]) -> None:
    """Refuses empty values: an unset shell variable must not select another place."""
    for option, texts in given.items():
        if any(text is not None and not text.strip() for text in texts):
            refuse(option, "is empty")


def _token(text: str | None) -> str | None:
    if text is not None and not TOKEN.fullmatch(text):
        refuse("--token", "must be printable ASCII without spaces")
    return text


def _check_hosts(hosts: Sequence[str]) -> None:
    from duetime.executor.targets.address_policy import parse_allowed

    for host in hosts:
        try:
            parse_allowed(host)
        except ValueError as error:
            refuse("--allow-host", str(error))


def _check_smtp(url: str | None) -> None:
    from duetime.core.smtp_server import parse_smtp_url

    if url is not None:
        try:
            parse_smtp_url(url)
        except ValueError as error:
            refuse("--smtp", str(error))


def _databases(given: Sequence[str]) -> dict[str, str]:
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


def _check_store(backend: Backend, data: str | None, memory: bool) -> None:
    if data is not None and Path(data).exists() and not Path(data).is_dir():
        refuse("--data", f"{data!r} is a file, and must be a folder")
    if memory and data is not None:
        refuse("--memory", "stores no data: leave out --data")
    if backend is Backend.EMBEDDED:
        return
    for option, given in (("--memory", memory), ("--data", data is not None)):
        if given:
            refuse(option, f"belongs to the SQLite store, and --backend is {backend}")


def _console(folder: str | None, off: bool) -> Path | None:
    if folder is None:
        return None if off else DEFAULTS.console
    if off:
        refuse("--console", "does not go with --no-console")
    if not (Path(folder) / PAGE).is_file():
        refuse("--console", f"{folder!r} has no {PAGE}")
    return Path(folder).absolute()


def _check_archive(archive: str | None) -> None:
    if archive is not None and Path(archive).exists() and not Path(archive).is_dir():
        refuse("--archive", f"{archive!r} is a file, and must be a folder")


def _check_backend(backend: Backend, store_only: Mapping[str, str | None]) -> None:
    if backend is Backend.EMBEDDED:
        return
    for option, given in store_only.items():
        if given is not None:
            refuse(option, f"belongs to the SQLite store, and --backend is {backend}")


def _retention(text: str | None) -> Millis | None:
    if text is None:
        return DEFAULTS.retention
    if text == FOREVER:
        return None
    kept = seconds(duration("--retention", text))
    if not MIN_RETENTION <= kept <= MAX_RETENTION:
        refuse("--retention", f"must be from 1d to {MAX_RETENTION // DAY}d, or {FOREVER}")
    return kept


def _check_endpoint(backend: Backend, url: str | None) -> None:
    if url is None:
        return
    if backend is not Backend.AWS:
        refuse("--endpoint-url", "goes with --backend aws")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        refuse("--endpoint-url", f"{url!r} is not an address like http://127.0.0.1:8000")


def _weights(text: str) -> Weights:
    try:
        return parse_weights(text)
    except ValueError as error:
        refuse("--weights", str(error))


def _objectives(given: Sequence[str] | None) -> Objectives:
    try:
        return parse_objectives(",".join(given)) if given else DEFAULTS.objectives
    except ValueError as error:
        refuse("--objective", str(error))


def _age_after(text: str) -> float:
    seconds = duration("--age-after", text)
    if seconds and not MIN_AGE <= seconds <= MAX_AGE:
        refuse("--age-after", f"must be 0, or from {MIN_AGE} s to {MAX_AGE // 86_400} days")
    return seconds


def _tick(text: str) -> float:
    seconds = duration("--tick", text)
    if not MIN_TICK <= seconds <= MAX_TICK:
        refuse("--tick", f"must be from {MIN_TICK:g} to {MAX_TICK:g} s")
    return seconds
