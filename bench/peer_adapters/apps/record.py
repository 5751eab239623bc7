"""What the tasks record: lines in the file PEER_RECORD, each written at once."""

import os
import time


def record(event: str, number: int) -> None:
    line = f"{event} {number} {time.time():.6f}\n".encode()
    file = os.open(os.environ["PEER_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line)
    finally:
        os.close(file)


def nap(number: int, seconds: float) -> None:
    record("began", number)
    time.sleep(seconds)
    record("ended", number)
