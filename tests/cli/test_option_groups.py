"""Groups of options, as Typer sees them."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from duetime.cli.option_groups import grouped


@dataclass(frozen=True, kw_only=True)
class Size:
    wide: Annotated[int, typer.Option("--wide", "-w")] = 1
    high: int = 2


@dataclass(frozen=True, kw_only=True)
class Colour:
    red: Annotated[list[str] | None, typer.Option(metavar="HOW")] = None


def run(*words: str) -> Any:
    calls: list[Any] = []
    app = typer.Typer()

    @app.command()
    @grouped
    def paint(name: str, *, size: Size, loud: bool = False, colour: Colour) -> None:
        """Paint it."""
        calls.append((name, size, loud, colour))

    result = CliRunner().invoke(app, words)
    return calls[0] if calls else result


def test_a_group_arrives_as_one_argument() -> None:
    assert run("x")[:3] == ("x", Size(wide=1, high=2), False)
    words = ("x", "-w", "5", "--loud", "--red", "a", "--red", "b")
    assert run(*words) == ("x", Size(wide=5, high=2), True, Colour(red=["a", "b"]))


def test_the_options_of_a_group_are_in_the_help() -> None:
    shown = run("--help").output
    assert "Paint it." in shown
    for option in ("--wide", "-w", "--high", "--loud", "--red", "HOW"):
        assert option in shown


def test_unknown_option_is_refused() -> None:
    assert run("x", "--deep", "1").exit_code == 2
