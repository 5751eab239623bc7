"""`duetime console`: the web console for a Duetime that runs elsewhere."""

from typing import Annotated

import typer

from duetime.cli.options import Sign, Token, Url
from duetime.cli.output import print_error

TIMEOUT = 30.0  # seconds until a call of the page is given up


def console(
    *,
    url: Url = None,
    sign: Sign = None,
    token: Token = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=65_535, help="Where to listen on this machine; 0: a free port."),
    ] = 8099,
    write: Annotated[
        bool, typer.Option("--write", help="Allow actions; without it the console only reads.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the link in a browser.")
    ] = False,
) -> None:
    """Serve the web console on this machine for a Duetime that runs elsewhere.

    Calls are signed with your AWS credentials, or have your --token. Only this machine can connect,
    and only with the link that is printed.
    """
    from duetime.client import BadArgument
    from duetime.client.transport import Server
    from duetime.console.serve import serve
    from duetime.core.errors import DuetimeError

    try:
        upstream = Server(url, TIMEOUT, sign, token)
    except BadArgument as error:
        raise typer.BadParameter(str(error), param_hint=f"--{error.name}") from error

    def announce(link: str) -> None:
        typer.echo(f"Console of {upstream.url}: {link}")
        typer.echo("It acts on tasks." if write else "It only reads; --write allows actions.")
        typer.echo("The link is secret and valid until you press Ctrl-C.")
        if open_browser:
            typer.launch(link)

    try:
        serve(upstream, port=port, write=write, announce=announce)
    except DuetimeError as error:
        print_error(str(error))
        raise typer.Exit(1) from error
