"""The command `duetime`, also as `python -m duetime`."""

import sys

from duetime.extras import NotInstalled, not_installed


def main() -> None:
    try:
        from duetime.cli import main as run_command
    except ModuleNotFoundError as error:
        if not_installed(error) is None:
            raise
        extra = "local" if sys.argv[1:2] == ["local"] else "cli"
        sys.exit(str(NotInstalled("The command line", extra)))
    run_command()


if __name__ == "__main__":
    main()
