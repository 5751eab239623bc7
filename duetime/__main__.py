"""`python -m duetime` is the command `duetime`."""

from duetime.cli import main

main()
