"""One handler process, as the executor's thread that owns it sees it."""

import mmap
import os
import pickle
import socket
import tempfile
from collections.abc import Sequence

from duetime.executor.handler_processes.protocol import (
    Frames,
    Message,
    Setup,
    frame,
    framed,
)
from duetime.executor.isolation.supervised_process import SupervisedProcess
from duetime.forks import keep_from_children

MODULE = "duetime.executor.handler_processes"
RECEIVE = 256 * 1024  # bytes


class HandlerProcess:
    """`marks` is shared with the process: a byte for each task that it may hold."""

    def __init__(self, setup: Setup, places: int) -> None:
        self.pipe, theirs = socket.socketpair()
        with theirs, _shared_file(places) as file:
            self.marks = mmap.mmap(file.fileno(), places)
            try:
                self.supervised = SupervisedProcess(MODULE, [theirs.fileno(), file.fileno()])
            except BaseException:
                self.pipe.close()
                self.marks.close()
                raise
        self.pipe.setblocking(False)
        self.exited = _exit_descriptor(self.supervised.pid)
        self._out = bytearray(framed(pickle.dumps(setup)))
        self._frames = Frames()
        self.closed_by_child = False
        keep_from_children(self)

    def descriptors(self) -> list[int]:
        ends = [] if self.pipe.fileno() < 0 else [self.pipe.fileno()]
        return [*ends, *self.supervised.descriptors()]

    def send(self, messages: Sequence[Message]) -> None:
        self._out += frame(messages)
        self.flush()

    def flush(self) -> bool:
        """Returns whether everything is sent."""
        while self._out:
            try:
                sent = self.pipe.send(self._out)
            except BlockingIOError:
                return False
            except OSError:  # it has ended
                self._out.clear()
                return True
            del self._out[:sent]
        return True

    def receive(self) -> list[Message]:
        """Returns what has arrived. An empty message shows that something has."""
        try:
            data = self.pipe.recv(RECEIVE)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.closed_by_child = True
            return []
        return [message for messages in self._frames.messages(data) for message in messages]

    def rest(self) -> list[Message]:
        """Returns what a process has sent before it ended."""
        messages: list[Message] = []
        while not self.closed_by_child:
            before = len(messages)
            messages += self.receive()
            if len(messages) == before:
                break
        return messages

    def close(self) -> int | None:
        """Ends the process with everything below it. Returns its exit code."""
        self.supervised.close()
        if self.exited is not None:
            os.close(self.exited)
            self.exited = None
        self.pipe.close()
        return self.supervised.poll()


def _shared_file(places: int) -> "tempfile._TemporaryFileWrapper[bytes]":
    file = os.fdopen(os.memfd_create("marks"), "r+b") if hasattr(os, "memfd_create") else None
    made = file or tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    made.truncate(places)
    return made  # type: ignore[return-value]


def _exit_descriptor(pid: int) -> int | None:
    """Returns what becomes readable when the process ends; None where there is no such thing. A
    program that a handler has forked may hold the other end of the pipe, so EOF is not enough."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
