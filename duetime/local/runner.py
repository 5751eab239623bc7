"""The life of the local runner behind `duetime local`: it starts the roles, serves and drains."""

import logging
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from duetime import tracing
from duetime.core.errors import DuetimeError
from duetime.handlers import registry
from duetime.local.console import Notices, address, notices_for
from duetime.local.declared_schedules import DeclaredSchedules
from duetime.local.demo import submit_demo
from duetime.local.interpreter import import_lazy_modules, tune_interpreter
from duetime.local.options import LocalOptions
from duetime.local.reload import Reloader
from duetime.local.reload_watch import sync_schedules, watching
from duetime.local.roles import Roles
from duetime.local.server import listen

DRAIN_TIMEOUT = 30.0  # seconds that running handlers have to finish, before they are interrupted

log = logging.getLogger(__name__)


def run(options: LocalOptions) -> int:
    """Serve until Ctrl-C, then drain. Returns the exit code of `duetime local`."""
    notices = notices_for(options)
    try:
        options = replace(
            options,
            data=_absolute(options.data),
            secrets=options.secrets and _absolute(options.secrets),
            quotas=options.quotas and _absolute(options.quotas),
            archive=options.archive and _absolute(options.archive),
        )
        reloader = _load_handlers(options, notices)
        tracing.start("duetime")  # after the handlers, which may set a tracer provider
        listener = listen(options.host, options.port)
        roles = Roles(options, notices, listener)
        declared = (
            DeclaredSchedules(options.handlers, roles.api.call, address(options))
            if options.handlers
            else None
        )
        import_lazy_modules()
        if declared:
            sync_schedules(declared, notices)
        tune_interpreter()
        roles.prepare()
    except DuetimeError as error:
        notices.not_started(str(error))
        log.debug("runner not started", exc_info=True)
        return 1
    demo = options.demo and not roles.backend.resumed
    notices.started(options, roles.backend, registry.names(), demo=demo)
    roles.start()  # only now, so that events come after the welcome
    if demo:
        submit_demo(roles.api.call)
    with watching(reloader, notices, declared):
        roles.serve()
    code = 1 if roles.failure else _drain(roles, notices)
    tracing.flush()
    if roles.failure is not None:  # perhaps while draining
        _abort(roles, notices)
    return code


def _absolute(folder: Path) -> Path:
    """Makes a path absolute before a handler, or its import, changes the working directory."""
    try:
        return folder.absolute()
    except FileNotFoundError as error:
        reason = "the current folder is deleted; start Duetime in another one"
        raise DuetimeError(reason) from error


def _load_handlers(options: LocalOptions, notices: Notices) -> Reloader | None:
    reloader = Reloader(options.handlers) if options.reload else None
    if reloader:
        empty = reloader.load()
    else:
        empty = [source for source in options.handlers if not registry.load(source)]
    for source in empty:
        notices.warn(f"handlers: {source} registers no new handler")
    return reloader


def _abort(roles: Roles, notices: Notices) -> NoReturn:
    """Exit with 1 in any case. Does not let the interpreter shut down: that would wait for threads
    that may hang, and close files that may belong to another store by now."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        notices.failed(str(roles.failure))
        roles.abort(DRAIN_TIMEOUT)
        notices.flush()
    finally:
        os._exit(1)


def _drain(roles: Roles, notices: Notices) -> int:
    """Wait for running attempts. A second Ctrl-C stops them: they are retried at the next start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    notices.draining()
    try:
        clean = roles.stop(DRAIN_TIMEOUT)
    except KeyboardInterrupt:
        clean = False
    notices.stopped(clean=clean)
    return 0 if clean else 1
