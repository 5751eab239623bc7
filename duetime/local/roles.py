"""The roles of the local runner, wired to one backend."""

import os
import socket
from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from queue import SimpleQueue
from time import monotonic
from typing import Any

from duetime import __version__, tracing
from duetime.api.access import refusal
from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.api.lanes import LaneActivity, Lanes
from duetime.console.files import ConsoleFiles
from duetime.core.errors import StoreLost
from duetime.core.lanes import Queue
from duetime.core.ports import Clock, Ports
from duetime.core.shares import Shares
from duetime.core.time_limits import TimeLimits
from duetime.duration_counts import DurationCounts
from duetime.engine.clock import SystemClock
from duetime.engine.followups import run_follow_ups_after
from duetime.executor.children import ChildSubmission
from duetime.executor.executor import Executor
from duetime.executor.handler_processes.pool import HandlerProcesses
from duetime.executor.targets.http import HttpTarget
from duetime.executor.targets.lazy import LazyTargets
from duetime.executor.targets.python import handlers_in, run_handler
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.handlers.descriptions import describe_registered
from duetime.local.activity import Activity
from duetime.local.asgi import asgi_app
from duetime.local.backends import Backend, open_backend
from duetime.local.batches.process import BatchProcess
from duetime.local.batches.protocol import Setup
from duetime.local.batches.submission import BatchSubmission
from duetime.local.console import Notices
from duetime.local.counted_ports import PortCounts
from duetime.local.event_pump import Changes, Pump
from duetime.local.health import RunnerHealth
from duetime.local.lane_activity import CountedLanes, LaneCounts
from duetime.local.late_follow_ups import LateFollowUps
from duetime.local.lease_waits import LeaseWaits
from duetime.local.live import LiveUpdates
from duetime.local.metrics_port import only_metrics_on
from duetime.local.options import LocalOptions
from duetime.local.prometheus.page import PATH as METRICS
from duetime.local.prometheus.page import MetricsPage
from duetime.local.prometheus.samples import RunnerSamples
from duetime.local.quotas import quota_gate, read_quota_file
from duetime.local.remote_workers import remote_attempts
from duetime.local.secrets import LocalSecrets
from duetime.local.server import Server, listen, url_of
from duetime.local.sessions import Sessions, may_serve_pages
from duetime.local.stats import RunnerStats
from duetime.local.status_waits import StatusWaits
from duetime.local.targets import address_policy_for, service_targets, targets_allowed
from duetime.local.vitals import Ticks, vitals_of
from duetime.relay import Relay
from duetime.scanner.report import TickReport
from duetime.scanner.scanner import Scanner
from duetime.supervised_threads import starting_threads

TICKS_PER_AGE = 5  # a task is promoted at most a fifth of `age_after` late
MIN_TICK = 0.5  # seconds


class Roles:
    """Every role, driven by an event pump. `failure`: why the runner must stop."""

    def __init__(self, options: LocalOptions, notices: Notices, listener: socket.socket) -> None:
        changes: Changes = SimpleQueue()
        self.failure: str | None = None
        self._lost = False
        self._waits = StatusWaits()
        self._live = live = LiveUpdates(
            SystemClock(), self._lane_states, ticket_required=options.token is not None
        )
        sessions = Sessions(
            token=options.token,
            worker_token=options.worker_token,
            port=options.port,
            read_only=options.read_only,
        )
        self._leases = leases = LeaseWaits(SystemClock())
        app = asgi_app(
            self._call,
            self._submit_together,
            self._waits,
            live.socket,
            sessions,
            _console(options, notices),
            leases,
        )
        listeners = [listener]
        if options.metrics_port:
            app = only_metrics_on(options.metrics_port, app)
            listeners.append(listen(options.host, options.metrics_port))
        self._server = Server(app, *listeners, on_shutdown=self._end_waiting)
        secrets = LocalSecrets(options.secrets, os.environ)
        quotas = read_quota_file(options.quotas) if options.quotas else None
        self.backend = open_backend(options, changes.put, self._store_lost)
        self._weights = options.weights
        self._lane_counts = LaneCounts()
        ports = self.backend.ports
        ports = ports.with_lanes(CountedLanes(ports.lanes, self._lane_counts))
        port_counts = PortCounts()
        ports = port_counts.counted(ports)
        http = HttpTarget(ports.clock, address_policy_for(options), secrets)
        processes = _handler_processes(options, ports.clock)
        python = handlers_in(processes) if processes else run_handler
        targets = LazyTargets(
            {"python": python, "http": http}, service_targets(options, ports.clock)
        )
        gate = quota_gate(quotas, self.backend.quotas)
        children = ChildSubmission(quotas=gate, longest_timeout=self.backend.longest_timeout)
        executor = Executor(
            ports,
            targets,
            children=children,
            callback_url=url_of(listener),
            on_progress=live.hub.progressed,
            processes=processes,
        )
        self._remote = remote = remote_attempts(
            self.backend,
            ports,
            options.weights,
            self._leases,
            on_start=self._lane_counts.started,
            on_progress=live.hub.progressed,
        )
        self.activity = Activity(notices.events)
        self._stats = RunnerStats(ports.stats)
        self._ticks = Ticks()
        self._submissions = DurationCounts()
        self._pool = WorkerPool(
            executor,
            ports.clock,
            options.concurrency,
            on_start=self._lane_counts.started,
            processes=processes,
        )
        follow_ups = LateFollowUps(partial(run_follow_ups_after, ports))
        self.pump = Pump(
            scanner=Scanner(ports, self.backend.cursors, catch_up=options.catch_up),
            pool=self._pool,
            source=self.backend.source,
            shares=Shares(options.weights),
            relay=Relay(
                [self.activity, self._waits, live.hub, self._stats, port_counts], follow_ups
            ),
            changes=changes,
            clock=ports.clock,
            tick=tick_interval(options),
            poll=self.backend.poll,
            on_failure=self._fail,
            on_tick=self._ticked,
            feed=self.backend.feed,
            sweep=self.backend.sweep,
            look_at_lines=self.backend.look_at_lines,
            late_follow_ups=follow_ups,
            end_expired_leases=remote.end_expired if remote else None,
        )
        vitals = partial(vitals_of, self.pump, self._ticks)
        self._batches = _batch_process(options, self.backend)
        self._metrics = MetricsPage(
            RunnerSamples(
                stats=self._stats,
                ticks=self._ticks,
                ports=ports,
                lanes=self._lane_activity,
                vitals=vitals,
                slots=options.concurrency,
                version=__version__,
                counts=port_counts,
                submissions=self._submissions,
                live=live.hub,
                store=self.backend.figures,
            )
        )
        health = RunnerHealth(self.backend.check, self.pump)
        self.api = Api(
            ports,
            handlers=registry.defaults,
            described=describe_registered,
            cursors=self.backend.cursors,
            version=__version__,
            longest_timeout=self.backend.longest_timeout,
            targets=targets_allowed(options),
            health=health,
            secrets=lambda: secrets,
            quotas=gate,
            crowded_minute=options.crowded_minute,
            lanes=self._lane_activity,
            callbacks=True,
            live=live.access,
            vitals=vitals,
            objectives=options.objectives,
            workers=self._remote or self.backend.workers,
            worker_calls=self._remote,
            batches=self._batch_submission(ports),
        )
        if self._remote:
            self._leases.serve(self.api, self._remote)
        self._lanes = Lanes(ports, self._lane_activity)

    def _batch_submission(self, ports: Ports) -> BatchSubmission | None:
        queue_new = self.backend.queue_new
        if queue_new is None or self._batches is None:
            return None
        started = self._lane_counts.sent
        return BatchSubmission(ports, queue_new, self._batches.read, self._pool, started)

    def prepare(self) -> None:
        """Start every thread; none receives messages yet."""
        with starting_threads():
            self.activity.start()
            self._stats.start()
        self.pump.start_threads()

    def start(self) -> None:
        self.pump.start()

    def serve(self) -> None:
        """Serve until a signal arrives, or a failure that only a restart can repair."""
        self._server.serve_until_stopped()

    def stop(self, grace: float) -> bool:
        """Wait for running attempts. Returns whether all have finished."""
        left = self.pump.stop(grace)
        self.activity.stop()
        self._stats.stop()
        if self._batches:
            self._batches.close()
        if not left:
            self.backend.close()
        return not left

    def abort(self, grace: float) -> None:
        """Stop after a failure; without a wait if the store is lost: no outcome can be recorded."""
        self.pump.stop(0 if self._lost else grace)

    def _call(self, request: Request) -> Response:
        if request.path == METRICS:
            if refused := refusal(request, request.caller):
                raise refused
            return self._metrics.respond(request)
        return self.api.call(request)

    def _lane_activity(self) -> Mapping[Queue, LaneActivity]:
        waiting = self.backend.waiting() if self.backend.waiting else None
        running = self._pool.running_by_queue()
        if self._remote:
            running += self._remote.running_by_queue()
        return self._lane_counts.activity(self._weights, running, waiting, self.backend.ports.pools)

    def _lane_states(self) -> list[dict[str, Any]]:
        return self._lanes.states()

    async def _end_waiting(self) -> None:
        """The server stops: what waits for a change gets an answer."""
        self._waits.end()
        self._leases.end()
        await self._live.hub.end()

    def _ticked(self, report: TickReport) -> None:
        self._lane_counts.ticked(report)
        self._ticks.add(report)

    def _submit_together(self, requests: Sequence[Request]) -> list[Response]:
        since = monotonic()
        answers = self.api.submit_together(requests)
        self._submissions.add(monotonic() - since, len(requests))
        return answers

    def _store_lost(self, error: StoreLost) -> None:
        self._lost = True
        self._fail(str(error))

    def _fail(self, reason: str) -> None:
        """Stop the runner, from any thread. Does not log: logging may be what has failed."""
        self.failure = self.failure or reason
        self._server.should_exit = True


def _batch_process(options: LocalOptions, backend: Backend) -> BatchProcess | None:
    """Returns None where it would not help, or where the API needs to see every batch."""
    if backend.queue_new is None or options.quotas or tracing.spans() is not None:
        return None
    if (os.cpu_count() or 1) < 2:
        return None
    limits = TimeLimits(backend.longest_timeout, backend.ports.pools)
    setup = Setup(
        wake_policy=backend.ports.wake_policy,
        time_limits=limits,
        targets=targets_allowed(options),
    )
    return BatchProcess(setup, registry.defaults)


def _handler_processes(options: LocalOptions, clock: Clock) -> HandlerProcesses | None:
    if not options.workers:
        return None
    return HandlerProcesses(
        options.workers,
        ceil(options.concurrency / options.workers),
        clock,
        load=options.handlers,
    )


def _console(options: LocalOptions, notices: Notices) -> ConsoleFiles | None:
    if options.console is None:
        return None
    if may_serve_pages(options.host, options.token):
        return ConsoleFiles(options.console)
    notices.warn(f"the console is not served on {options.host} without --token")
    return None


def tick_interval(options: LocalOptions) -> float:
    """Returns the seconds between two ticks: often enough to promote tasks soon after a short
    `age_after`."""
    if not options.age_after:
        return options.tick
    return min(options.tick, max(options.age_after / TICKS_PER_AGE, MIN_TICK))
