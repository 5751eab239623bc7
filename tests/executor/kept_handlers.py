"""Isolated handlers that show which process runs them and what they find there."""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from pathlib import Path

from duetime import task

calls: list[int] = []
held: list[object] = []
marked: ContextVar[str] = ContextVar("marked", default="")


@task("kept.counts", isolated=True)
def counts(payload, ctx):
    calls.append(ctx.attempt)
    return {"pid": os.getpid(), "calls": len(calls)}


@task("kept.fresh", isolated="fresh")
def fresh(payload, ctx):
    return counts(payload, ctx)


@task("kept.raises", isolated=True)
def raises(payload, ctx):
    calls.append(ctx.attempt)
    raise SystemExit(3) if payload == "exit" else ValueError("wrong")


@task("kept.changes", isolated=True)
def changes(payload, ctx):
    """Leave something behind that is not memory, or too much memory."""
    CHANGES[payload]()
    return {"pid": os.getpid()}


def start_a_program(**options):
    held.append(subprocess.Popen(["sleep", "3600"], **options))


def start_a_daemon():
    """A program whose parent has ended."""
    command = "import subprocess; subprocess.Popen(['sleep', '3600'], start_new_session=True)"
    subprocess.run([sys.executable, "-c", command], check=True)


def start_a_thread():
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()


def fork():
    if os.fork() == 0:
        time.sleep(3600)


CHANGES = {
    "folder": lambda: os.chdir("/"),
    "umask": lambda: os.umask(0o123),
    "environment": lambda: os.environ.update(LEFT="behind"),
    "import path": lambda: sys.path.append("/left/behind"),
    "signal handler": lambda: signal.signal(signal.SIGUSR1, lambda *_: None),
    "alarm": lambda: signal.alarm(3600),
    "signal mask": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]),
    "output": lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 1),
    "memory": lambda: held.append(os.urandom(100 * 1024 * 1024)),
    "thread": start_a_thread,
    "program": start_a_program,
    "program in a session of its own": lambda: start_a_program(start_new_session=True),
    "daemon": start_a_daemon,
    "fork": fork,
}


@task("kept.works", isolated=True)
def works(payload, ctx):
    """Use a program, threads and a folder, and leave none of them behind."""
    subprocess.run([sys.executable, "-c", ""], check=True)
    threads = [threading.Thread(target=time.sleep, args=(0,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"pid": os.getpid()}


@task("kept.waits", isolated=True)
def waits(payload, ctx):
    ctx.heartbeat()
    while not ctx.cancelled:
        time.sleep(0.01)
    return {"pid": os.getpid()}


@task("kept.waits_silently", isolated=True)
def waits_silently(payload, ctx):
    """Ask the executor nothing, so that nothing but a message of it ends this."""
    while not ctx.cancelled:
        time.sleep(0.001)
    return {"pid": os.getpid()}


@task("kept.reason", isolated=True)
def reason(payload, ctx):
    return ctx.reason


@task("kept.marks", isolated=True)
def marks(payload, ctx):
    found = marked.get()
    marked.set(payload)
    return {"pid": os.getpid(), "found": found}


@task("kept.prints", isolated=True)
def prints(payload, ctx):
    print(payload, end="")


@task("kept.holds_its_context", isolated=True)
def holds_its_context(payload, ctx):
    held.append(ctx)
    try:
        held[0].progress(0.5, "of another attempt")
    except RuntimeError as error:
        return str(error)
    return None


@task("kept.stops_its_template", isolated=True)
def stops_its_template(payload, ctx):
    os.kill(os.getppid(), signal.SIGSTOP)


@task("kept.holds_a_file", isolated=True)
def holds_a_file(payload, ctx):
    held.append(open(payload, "w"))  # noqa: SIM115 - until the process ends


@task("kept.writes_at_its_end", isolated=True)
def writes_at_its_end(payload, ctx):
    atexit.register(Path(payload).write_text, "ended")
