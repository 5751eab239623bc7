"""Submits tasks to a peer, and prints when that began and ended:

client.py celery_app noop 10000
client.py celery_app stamp 1000 3 5        due over 5 s from in 3 s on
client.py celery_app nap 100 1             each takes a second
"""

import importlib
import json
import sys
import time
from contextlib import nullcontext


def main(module: str, work: str, count: int, *numbers: float) -> None:
    app = importlib.import_module(module)
    with getattr(app, "connected", nullcontext)():
        began = time.time()
        due = []
        if work == "noop":
            app.submit_noops(count)
        elif work == "stamp":
            ahead, over = numbers
            due = [round(began + ahead + n * over / count, 3) for n in range(count)]
            app.submit_stamps(due)
        else:
            app.submit_naps(count, *numbers)
        print(json.dumps({"began": began, "submitted": time.time(), "due": due}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:]))
