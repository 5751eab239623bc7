"""Isolated handlers. A child process imports this module by its name."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from datetime import date

from duetime import PermanentError, RetryLater, Snooze, context, task

Pair = namedtuple("Pair", "a b")


@task("isolated.echo", isolated=True)
def echo(payload, ctx):
    return {
        "payload": payload,
        "attempt": ctx.attempt,
        "key": ctx.idempotency_key,
        "deadline": ctx.deadline.timestamp(),
        "pid": os.getpid(),
        "python_path": os.environ.get("PYTHONPATH"),
    }


@task("isolated.reports", isolated=True)
def reports(payload, ctx):
    ctx.progress(0.5, "half")
    return ctx.heartbeat()


@task("isolated.waits", isolated=True)
def waits(payload, ctx):
    ctx.heartbeat()
    while not ctx.cancelled:
        time.sleep(0.01)
    return "stopped"


@task("isolated.tells_why", isolated=True)
def tells_why(payload, ctx):
    ctx.heartbeat()
    while ctx.reason is None:
        time.sleep(0.01)
    return ctx.reason


@task("isolated.blocks", isolated=True)
def blocks(payload, ctx):
    ctx.heartbeat()
    time.sleep(3600)


@task("isolated.starts_another", isolated=True)
def starts_another(payload, ctx):
    with open(payload, "w") as held:
        subprocess.Popen(["sleep", "3600"], stdout=held)
    ctx.heartbeat()
    time.sleep(3600)


def held_elsewhere(path, way):
    """Start a program that keeps a file open, outside of this process group."""
    with open(path, "w") as held:
        if way == "session":
            subprocess.Popen(["sleep", "3600"], stdout=held, start_new_session=True)
        elif way == "group":
            subprocess.Popen(["sleep", "3600"], stdout=held, process_group=0)
        elif way == "daemon":
            daemonize(held)


def daemonize(held):
    """Become a daemon: fork, start a session, fork again, so that the parent is gone."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.dup2(held.fileno(), 1)
    os.execvp("sleep", ["sleep", "3600"])


@task("isolated.escapes", isolated=True)
def escapes(payload, ctx):
    path, _, way = payload.partition(" ")
    held_elsewhere(path, way)
    ctx.heartbeat()
    time.sleep(3600)


@task("isolated.leaves_a_daemon", isolated=True)
def leaves_a_daemon(payload, ctx):
    held_elsewhere(payload, "daemon")
    return "done"


@task("isolated.attacks_its_supervisor", isolated=True)
def attacks_its_supervisor(payload, ctx):
    path, _, number = payload.partition(" ")
    held = open(path, "w")  # noqa: SIM115 - until the process ends
    os.kill(os.getppid(), int(number))
    ctx.heartbeat()
    time.sleep(3600)
    held.close()


@task("isolated.raises", isolated=True)
def raises(payload, ctx):
    errors = {
        "value": ValueError("wrong"),
        "permanent": PermanentError("for good"),
        "later": RetryLater(30, "busy"),
        "snooze": Snooze(300),
        "exit": SystemExit(3),
    }
    raise errors[payload]


@task("isolated.returns", isolated=True)
def returns(payload, ctx):
    results = {
        "set": {1},
        "pair": Pair(1, 2),
        "none": None,
        "day": date(2026, 11, 16),
        "socket": {"held": object()},
    }
    return results[payload]


@task("isolated.dies", isolated=True)
def dies(payload, ctx):
    if payload == "exit":
        os._exit(3)
    os.kill(os.getpid(), signal.SIGKILL)


@task("isolated.forks_and_dies", isolated=True)
def forks_and_dies(payload, ctx):
    """The fork still has the pipe open."""
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(3)


@task("isolated.later", isolated=True)
async def later(payload, ctx):
    await asyncio.sleep(0)
    return "async"


@task("isolated.says", isolated=True)
def says(payload, ctx):
    print("said by a handler")
    print("complained by a handler", file=sys.stderr)


@task("isolated.leaves_a_thread", isolated=True)
def leaves_a_thread(payload, ctx):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return "done"


@task("isolated.typed", isolated=True)
async def typed(day: date, sizes: list[int]) -> date:
    assert context().attempt == 1
    return day.replace(day=sum(sizes))
