"""Workers: processes that run attempts outside of Lambda and of the local runner.

A worker has the role of an executor alone: it receives, leases, renews and records. It has no API,
no scanner and no relay.

- `worker.py` (`Worker`) has the threads. It takes messages from a source as the worker pool has
  slots, and drains: it stops receiving, waits for the running handlers, and ends.
- `queue_source.py` is the source of a worker on AWS: the queues of its pool. `aws_worker.py` puts
  this worker together.
- `http_source.py` is the source of a worker of a runner: it asks for leases, which
  `http_executor.py` renews and whose outcomes its `outbox.py` reports; `runner_calls.py` has the
  calls. `http_worker.py` puts this worker together.
- `process.py` runs a worker as a process: signals, the control port (`control_port.py`), and what
  it looks at every few seconds (`upkeep.py`): spot notices (`spot_notice.py`), the scale-in
  protection of ECS (`scale_in.py`), and that others see it.
"""
