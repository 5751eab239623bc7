"""The handler processes that run, by number, and the selector of the thread that owns them."""

import selectors
from collections.abc import Callable, Sequence
from functools import partial

from duetime.executor.handler_processes.inbox import Inbox
from duetime.executor.handler_processes.process import HandlerProcess
from duetime.executor.handler_processes.protocol import Message, Setup

OnMessages = Callable[[int, Sequence[Message]], object]
OnExit = Callable[[int], object]


class RunningProcesses(dict[int, HandlerProcess]):
    """
    Args:
        inbox: Whose posts end a wait.
        on_messages: Called with the number of a process and what it has sent.
        on_exit: Called with the number of a process that has ended, or closed its pipe. It calls
            `close`."""

    def __init__(self, inbox: Inbox, on_messages: OnMessages, on_exit: OnExit) -> None:
        self._on_messages = on_messages
        self._on_exit = on_exit
        self._selector = selectors.DefaultSelector()
        self._selector.register(
            inbox.descriptor, selectors.EVENT_READ, lambda _events: inbox.clear()
        )

    def start(self, number: int, setup: Setup, places: int) -> None:
        """Raises OSError; then there is no such process."""
        process = HandlerProcess(setup, places)
        try:
            self._register(number, process)
        except BaseException:
            self._unregister(process)
            process.close()
            process.marks.close()
            raise
        self[number] = process

    def wait(self, seconds: float | None) -> None:
        """Waits for what the processes send, for their ends and for the inbox."""
        for key, events in self._selector.select(seconds):
            key.data(events)

    def send(self, number: int, messages: Sequence[Message]) -> None:
        self[number].send(messages)
        self._flush(self[number])

    def close(self, number: int) -> int | None:
        """Kills a process, with everything below it. Returns its exit code. Its shared memory is
        left to the caller."""
        process = self.pop(number)
        self._unregister(process)
        return process.close()

    def close_all(self) -> None:
        """Kills the processes, and closes the selector. May be repeated."""
        for process in self.values():
            process.supervised.kill()
        for process in self.values():
            process.close()
        self.clear()
        self._selector.close()

    def look_for_exits(self) -> None:
        """Finds the processes that have ended, where the selector does not."""
        for number, process in list(self.items()):
            if process.exited is None and process.supervised.poll() is not None:
                self._on_exit(number)

    def _register(self, number: int, process: HandlerProcess) -> None:
        events = selectors.EVENT_READ | selectors.EVENT_WRITE
        self._selector.register(process.pipe, events, partial(self._on_pipe, number))
        if process.exited is not None:
            exited = partial(self._exited, number)
            self._selector.register(process.exited, selectors.EVENT_READ, exited)

    def _unregister(self, process: HandlerProcess) -> None:
        for file in (process.pipe, process.exited):
            if file is not None and file in self._selector.get_map():
                self._selector.unregister(file)

    def _on_pipe(self, number: int, events: int) -> None:
        process = self.get(number)
        if process is None:
            return
        if events & selectors.EVENT_READ:
            self._on_messages(number, process.receive())
            if process.closed_by_child:
                self._on_exit(number)
                return
        self._flush(process)

    def _exited(self, number: int, _events: int) -> None:
        if number in self:  # its pipe has not shown it before
            self._on_exit(number)

    def _flush(self, process: HandlerProcess) -> None:
        """Waits for room in the pipe only while something is left to send."""
        events = selectors.EVENT_READ
        if not process.flush():
            events |= selectors.EVENT_WRITE
        key = self._selector.get_key(process.pipe)
        if key.events != events:
            self._selector.modify(process.pipe, events, key.data)
