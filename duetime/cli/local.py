"""`duetime local`: all of Duetime on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from duetime.cli.local_options import (
    DEFAULTS,
    LOGS,
    Backend,
    HandlersOption,
    LogFormat,
    LogLevel,
    LogLevelOption,
    check_archive,
    check_backend,
    check_endpoint,
    check_filled,
    check_hosts,
    check_smtp,
    check_store,
    check_tokens,
    console_folder,
    read_age_after,
    read_databases,
    read_objectives,
    read_pools,
    read_retention,
    read_tick,
    read_token,
    read_weights,
)
from duetime.cli.parse import refuse
from duetime.local.options import LocalOptions

STORE, AWS = "SQLite store", "Other backends"
CALLS = "What http tasks may call"
SERVERS = "What email and sql tasks use"


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
    worker_token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="DUETIME_WORKER_TOKEN",
            help="A token for HTTP workers, which may lease tasks with it and nothing else.",
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
    handlers: HandlersOption = None,
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
    pool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A pool, whose tasks wait for workers; repeatable.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=0,
            max=256,
            metavar="N",
            help="Run your handlers in so many processes, for those that compute: the threads of"
            " the runner share one core. 0: in its threads.",
        ),
    ] = DEFAULTS.workers,
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
    log_level: LogLevelOption = LogLevel.WARNING,
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
    check_filled({"--host": [host], "--data": [data], "--handlers": handlers or []})
    check_filled({"--retention": [retention], "--archive": [archive], "--secrets": [secrets]})
    check_filled({"--quotas": [quotas], "--console": [console]})
    check_tokens(host, token, worker_token)
    if metrics_port == port:
        refuse("--metrics-port", "must be another port than --port")
    if reload and not handlers:
        refuse("--reload", "goes with --handlers")
    check_hosts(allow_host or ())
    check_smtp(smtp)
    check_store(backend, data, memory)
    check_archive(archive)
    store_only = {"--retention": retention, "--archive": archive, "--quotas": quotas}
    check_backend(backend, store_only)
    check_endpoint(backend, endpoint_url)
    options = LocalOptions(
        host=host,
        port=port,
        token=read_token("--token", token),
        worker_token=read_token("--worker-token", worker_token),
        read_only=read_only,
        metrics_port=metrics_port,
        data=Path(data) if data else DEFAULTS.data,
        memory=memory,
        retention=read_retention(retention),
        archive=Path(archive) if archive else None,
        handlers=tuple(handlers or ()),
        reload=reload,
        tick=read_tick(tick),
        concurrency=concurrency,
        pools=read_pools(backend, pool or ()),
        workers=workers,
        weights=read_weights(weights),
        age_after=read_age_after(age_after),
        catch_up=catch_up,
        crowded_minute=crowded_minute,
        allow_private=allow_private,
        allow_hosts=tuple(allow_host or ()),
        secrets=Path(secrets) if secrets else None,
        quotas=Path(quotas) if quotas else None,
        smtp=smtp,
        databases=read_databases(database or ()),
        objectives=read_objectives(objective),
        demo=demo,
        console=console_folder(console, no_console),
        backend=backend.value,
        endpoint_url=endpoint_url,
        log_level=log_level.value,
        log_format=log_format.value,
    )
    from duetime.local.runner import run

    raise typer.Exit(run(options))
