"""Batches of which DynamoDB leaves a part undone: it is asked for again. An answer that leaves
out everything means that the table is throttled."""

import time

from lambdas.core.errors import Unavailable

EMPTY_ANSWERS = 4
FIRST_PAUSE = 0.05


def pause(call: str, empty_answers: int) -> None:
    """After so many answers in a row that brought nothing."""
    if empty_answers > EMPTY_ANSWERS:
        raise Unavailable(f"{call}: every key stays unprocessed")
    time.sleep(FIRST_PAUSE * 2**empty_answers)
