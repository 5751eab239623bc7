"""`duetime worker`: a process that runs tasks."""

import os
import re
import socket
from typing import Annotated

import typer

from duetime.cli.local_options import (
    LOGS,
    HandlersOption,
    LogFormat,
    LogLevel,
    LogLevelOption,
    check_filled,
    read_endpoint,
    read_pool,
    read_token,
)
from duetime.cli.parse import duration, refuse
from duetime.core.lanes import Lane

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
MAX_GRACE = 3_600.0  # seconds
AWS = "AWS"
CONTROL_TIMEOUT = 10.0  # seconds

app = typer.Typer(
    name="worker",
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)


@app.callback()
def worker(
    ctx: typer.Context,
    *,
    handlers: HandlersOption = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A runner to work for, such as http://host:8080. Without it: the queues of a"
            " deployment on AWS.",
            show_default=False,
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar=["DUETIME_WORKER_TOKEN", "DUETIME_TOKEN"],
            help="The worker token of the runner; the variable keeps it off the screen.",
            show_default=False,
            show_envvar=False,
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The pool whose tasks it runs.", show_default=False),
    ] = None,
    lanes: Annotated[
        str, typer.Option(metavar="LANE,...", help="Which lanes it serves.")
    ] = ",".join(Lane),
    concurrency: Annotated[int, typer.Option(min=1, max=100_000, help="Tasks at a time.")] = 8,
    processes: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=256,
            metavar="N",
            help="In how many processes your handlers run, so that a handler can always be stopped"
            " and those that compute use all cores. 0: in threads of the worker.",
            show_default="one for each core",
        ),
    ] = None,
    grace: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="How long running handlers may go on when the worker is stopped.",
        ),
    ] = "25",
    control_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            metavar="PORT",
            help="A port on this machine for GET /health and POST /drain.",
            show_default=False,
        ),
    ] = None,
    spot_notice: Annotated[
        bool,
        typer.Option("--spot-notice", help="Drain when EC2 takes the spot instance back."),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Unique for each worker; letters, digits, . _ and -.",
            show_default="host and process",
        ),
    ] = None,
    endpoint_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Of another DynamoDB and SQS.", rich_help_panel=AWS),
    ] = None,
    log_level: LogLevelOption = LogLevel.WARNING,
    log_format: Annotated[
        LogFormat,
        typer.Option(
            case_sensitive=False,
            help="auto: for people on a terminal, otherwise json, a line for each record.",
            rich_help_panel=LOGS,
        ),
    ] = LogFormat.AUTO,
) -> None:
    """Run tasks outside Lambda: of a runner, with --url, or of a pool on AWS.

    On AWS the environment names the deployment, as it does for its functions.

    Ctrl-C or SIGTERM stops it after its running tasks; a second one interrupts them.

    Exit codes: 0 drained, 1 a failure, 2 wrong configuration or token.
    """
    if ctx.invoked_subcommand is not None:
        return
    given = {"--pool": [pool], "--name": [name], "--url": [url], "--endpoint-url": [endpoint_url]}
    check_filled({"--handlers": handlers or [], **given})
    if not handlers:
        refuse("--handlers", "is missing: a worker runs your handlers")
    if url is not None:
        if endpoint_url is not None:
            refuse("--endpoint-url", "belongs to AWS, and --url to a runner")
        from duetime.worker.http_worker import connect
    else:
        if pool is None and endpoint_url is None:
            message = (
                "is missing: give the --url of a runner, or on AWS a pool, since the functions"
            )
            refuse("--pool", f"{message} of a deployment run the tasks without one")
        from duetime.worker.aws_worker import connect
    from duetime.worker.options import WorkerOptions
    from duetime.worker.process import run

    options = WorkerOptions(
        name=read_name(name),
        handlers=tuple(handlers),
        pool=read_pool(pool) if pool else None,
        lanes=read_lanes(lanes),
        concurrency=concurrency,
        processes=processes,
        grace=read_grace(grace),
        control_port=control_port,
        spot_notice=spot_notice,
        url=url,
        token=read_token("--token", token) if url else None,
        endpoint_url=read_endpoint(endpoint_url) if endpoint_url else None,
        log_level=log_level.value,
        log_format=log_format.value,
    )
    raise typer.Exit(run(options, connect))


@app.command()
def drain(
    *,
    control_port: Annotated[
        int, typer.Option(min=1, max=65_535, metavar="PORT", help="That of the worker.")
    ],
) -> None:
    """Have a worker on this machine stop, after its running tasks. Does not wait for its end."""
    from urllib.request import Request, urlopen

    from duetime.cli.exit_codes import ExitCode
    from duetime.cli.output import print_error

    request = Request(f"http://127.0.0.1:{control_port}/drain", data=b"", method="POST")
    try:
        with urlopen(request, timeout=CONTROL_TIMEOUT) as answer:
            answer.read()
    except OSError as error:  # a URLError is one
        reason = getattr(error, "reason", error)
        print_error(f"no worker answers on the control port {control_port}: {reason}")
        raise typer.Exit(ExitCode.UNREACHABLE) from error
    typer.echo("The worker drains.")


def read_name(text: str | None) -> str:
    if text is None:
        host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())
        return f"{host[:50]}-{os.getpid()}"
    if not NAME.fullmatch(text):
        refuse("--name", f"{text!r} is not 1 to 64 letters, digits, '.', '_' or '-'")
    return text


def read_lanes(text: str) -> tuple[Lane, ...]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in list(Lane)]
    if unknown:
        refuse("--lanes", f"{unknown[0]!r} is none of {', '.join(Lane)}")
    return tuple(lane for lane in Lane if lane in names)


def read_grace(text: str) -> float:
    seconds = duration("--grace", text)
    if seconds > MAX_GRACE:
        refuse("--grace", "must be at most 1h")
    return seconds
