"""AWS's documented limits, and assumptions where AWS documents none. Times are milliseconds.

Partitions, new tables:
  https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html
Event sources: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
CPU by memory: https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
Concurrency: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
SQS's counts: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
"""

from dataclasses import dataclass

from duetime.core.times import MINUTE, SECOND, Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits that AWS documents."""

    partition_writes: int = 1_000  # units a second, of a partition of the table or an index
    partition_reads: int = 3_000
    new_table_writes: int = 4_000  # units a second that a new table takes, and each index
    first_batches: int = 5  # of an event source at its start
    more_batches: int = 300  # that it adds in a minute while messages wait
    messages: int = 10  # in a request to SQS
    account: int = 1_000  # concurrent executions; a new account may have as few as 10
    full_vcpu: int = 1_769  # MB at which a function has one vCPU
    count_lag: Millis = MINUTE  # of SQS's count of messages


@dataclass(frozen=True, kw_only=True, slots=True)
class Assumed:
    """CPU times are those of a whole vCPU of Lambda. `bench/cpu.py` measures 0.5 ms for a claim;
    Lambda's vCPU is assumed to be half as fast as the core that measured it. That makes 33,000
    claims a minute at 1,024 MB: the lower end of the 32,000 to 54,000 in docs/how-to/deploy.md."""

    write_cpu: float = 0.90  # one conditional write: claim, lease or outcome
    send_cpu: float = 0.09  # a message's share of a SendMessageBatch of ten
    read_cpu: float = 0.07  # one row of a query or a batch read
    request_cpu: float = 1.2  # any other request
    call_cpu: float = 1.0  # the call of a target
    invocation_cpu: float = 5.0  # for each batch
    tls_cpu: float = 2.0  # a new connection; 66 with botocore's whole CA bundle
    connections: int = 10  # of a cold executor, one for each message
    cold_start: Millis = 1_000
    table_ms: Millis = 8  # a request to DynamoDB
    queue_ms: Millis = 12  # a request to SQS
    poll_ms: Millis = 20  # from a visible message to the start of its invocation
    invoke_ms: Millis = 100  # an asynchronous invocation
    parallel: int = 32  # requests of one function at the same time
    page: int = 1_000  # rows of one query
    entry_bytes: int = 120  # of the wake index
    handler_ms: Millis = 100  # the time of a target
    sandbox_kept: Millis = 10 * MINUTE  # when it is idle
    idle_batches_after: Millis = MINUTE  # until an idle event source reduces its batches
    backoff: Millis = SECOND  # of the SDK: doubled after each try, times a random share
    tries: int = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    limits: Limits = Limits()
    assumed: Assumed = Assumed()

    def share(self, memory: int) -> float:
        """Returns the share of a vCPU. One Python process uses no more than one."""
        return min(memory / self.limits.full_vcpu, 1.0)


class Partition:
    """Takes `rate` units a second, and at most the units of one second in a burst. AWS lets an idle
    partition burst for longer, which the model leaves out."""

    __slots__ = ("_at", "_free", "_rate")

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._free = float(rate)
        self._at: Millis = 0

    def room(self, now: Millis) -> float:
        if now > self._at:
            self._free = min(self._free + (now - self._at) * self._rate / SECOND, self._rate)
            self._at = now
        return self._free

    def take(self, units: float) -> None:
        self._free -= units

    def delay(self, units: float, now: Millis) -> float:
        """Takes the units and returns how long the caller has to wait for them."""
        self._free = self.room(now) - units
        return max(-self._free * SECOND / self._rate, 0.0)
