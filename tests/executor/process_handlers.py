"""Handlers that run in handler processes, which import this module by its name."""

import os
import signal
import subprocess
import threading
import time

from duetime import context, task

HELD = threading.Event()


@task("process.echo")
def echo(payload, ctx):
    return {"payload": payload, "attempt": ctx.attempt, "pid": os.getpid(), "id": ctx.task_id}


@task("process.burns")
def burns(payload, ctx):
    until = time.thread_time() + payload
    while time.thread_time() < until:
        pass
    return os.getpid()


@task("process.reports")
def reports(payload, ctx):
    ctx.progress(0.5, "half")
    return [ctx.heartbeat(), ctx.previous, list(ctx.results("none"))]


@task("process.fails")
def fails(payload, ctx):
    raise ValueError("wrong")


@task("process.exits")
def exits(payload, ctx):
    if payload == "exit":
        os._exit(3)
    os.kill(os.getpid(), signal.SIGKILL)


@task("process.waits")
def waits(payload, ctx):
    """Until it is asked to stop."""
    ctx.heartbeat()
    while not ctx.cancelled:
        time.sleep(0.005)
    return ctx.reason


@task("process.loops")
def loops(payload, ctx):
    """Until it is interrupted."""
    ctx.heartbeat()
    while True:
        time.sleep(0.005)


def hold_on(ctx):
    """Goes on after an interrupt, as a call in C does."""
    begun = False
    while True:
        try:
            if not begun:
                begun = True
                ctx.heartbeat()
            time.sleep(3600)
        except BaseException:  # noqa: BLE001
            pass


@task("process.blocks")
def blocks(payload, ctx):
    """No interrupt stops it."""
    hold_on(ctx)


@task("process.starts_another")
def starts_another(payload, ctx):
    with open(payload, "w") as held:
        subprocess.Popen(["sleep", "3600"], stdout=held, start_new_session=True)
    hold_on(ctx)


@task("process.forks")
def forks(payload, ctx):
    child = os.fork()
    if child == 0:
        return "in the fork"
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@task("process.submits")
def submits(payload, ctx):
    return echo.submit(payload).id


@task("process.later")
async def later(payload, ctx):
    assert context().task_id == ctx.task_id
    return "async"


@task("process.returns")
def returns(payload, ctx):
    return {"set": {1}, "socket": object()}[payload]


@task("process.says")
def says(payload, ctx):
    print("said by a handler")


@task("process.isolated", isolated=True)
def isolated(payload, ctx):
    return os.getppid()
