"""`duetime worker`: runs handlers for a Duetime that runs elsewhere."""

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli.local_options import LogFormat, LogLevel, check_filled, read_token
from duetime.cli.output import print_error
from duetime.cli.parse import duration, refuse
from duetime.core.lanes import Lane

if TYPE_CHECKING:
    from duetime.worker.http_worker import HttpWorker

ONLY_WARNS = "the token goes over plain http: put a proxy with TLS in front of the runner"
CONFIGURATION, NOT_LOADED = 2, 1  # exit codes


def worker(
    *,
    handlers: Annotated[
        list[str],
        typer.Option(metavar="MODULE|FILE|DIR", help="Where your handlers are; repeatable."),
    ],
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The runner to work for, such as http://host:8080.",
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
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Take the tasks of this pool. Without it: tasks without a pool.",
            show_default=False,
        ),
    ] = None,
    lanes: Annotated[
        str, typer.Option(metavar="LANE,...", help="Take tasks of these lanes only.")
    ] = ",".join(Lane),
    concurrency: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 8,
    grace: Annotated[
        str,
        typer.Option(
            metavar="DURATION", help="How long handlers may go on after SIGTERM or Ctrl-C."
        ),
    ] = "25s",
    name: Annotated[
        str | None,
        typer.Option(help="Its name, which no other worker has.", show_default="host and pid"),
    ] = None,
    log_level: Annotated[LogLevel, typer.Option(case_sensitive=False)] = LogLevel.INFO,
    log_format: Annotated[LogFormat, typer.Option(case_sensitive=False)] = LogFormat.AUTO,
) -> None:
    """Run handlers for a Duetime that runs elsewhere, until SIGTERM or Ctrl-C.

    It then takes no more tasks, and hands back what has not ended after the grace."""
    check_filled({"--handlers": handlers, "--url": [url], "--pool": [pool], "--name": [name]})
    if url is None:
        refuse("--url", "give the address of the runner")
    from duetime.core.errors import DuetimeError
    from duetime.handlers import registry
    from duetime.worker.http_connection import BadRunnerUrl
    from duetime.worker.http_worker import HttpWorker, HttpWorkerOptions, worker_name

    _install_logs(log_level, log_format)
    options = HttpWorkerOptions(
        url=url,
        token=read_token("--token", token),
        name=name or worker_name(),
        pool=pool,
        lanes=_read_lanes(lanes),
        concurrency=concurrency,
        grace=duration("--grace", grace),
    )
    try:
        found = HttpWorker(options)
        for source in handlers:
            registry.load(source)
    except BadRunnerUrl as error:
        refuse("--url", str(error))
    except DuetimeError as error:
        print_error(str(error))
        raise typer.Exit(NOT_LOADED) from None
    if found.sends_token_in_plain:
        print_error(ONLY_WARNS)
    code = _run(found, options.name)
    if found.refused is not None:
        print_error(f"the runner refuses this worker: {found.refused}")
    raise typer.Exit(code)


def _run(worker: "HttpWorker", name: str) -> int:
    """A second signal cuts the grace short."""

    def on_signal(number: int, frame: object) -> None:  # noqa: ARG001
        worker.drain(0 if worker.draining else None)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    print(f"worker {name} started", file=sys.stderr)
    return worker.run()


def _read_lanes(text: str) -> tuple[Lane, ...]:
    named = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [part for part in named if part not in list(Lane)]
    if unknown or not named:
        refuse("--lanes", f"{text!r} is not a list of {', '.join(Lane)}")
    return tuple(lane for lane in Lane if lane in named)


def _install_logs(level: LogLevel, form: LogFormat) -> None:
    """Logs JSON lines where nobody watches."""
    from duetime.logs.formatting import LogSettings, install

    terminal = form is LogFormat.AUTO and sys.stderr.isatty()
    text = "text" if form is LogFormat.TEXT else "json"
    install(LogSettings(format="terminal" if terminal else text, level=level.value))
