"""The process that reads batches: `python -m duetime.local.batches PIPE`.

Its first frame is the pickled setup. After that, each frame is a tuple in the format of `marshal`:
the body of a batch, and the pickled handlers if they are not those of the frame before. It answers
each with one frame, and ends when the runner has closed its end of the pipe."""

import marshal
import os
import pickle
import socket
import sys

from duetime.local.batches.protocol import receive, send
from duetime.local.batches.reading import BatchReading
from duetime.local.interpreter import tune_interpreter


def main(pipe: int) -> None:
    os.set_inheritable(pipe, False)
    connection = socket.socket(fileno=pipe)
    try:
        reading = BatchReading(pickle.loads(receive(connection)))
        tune_interpreter()
        send(connection, b"")  # ready
        while True:
            body, handlers = marshal.loads(receive(connection))
            if handlers is not None:
                reading.handlers = pickle.loads(handlers)
            send(connection, reading.read(body))
    except (EOFError, OSError):
        return  # the runner has ended


if __name__ == "__main__":
    main(int(sys.argv[1]))
