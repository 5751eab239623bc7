"""What AWS documents, and what is assumed where it documents nothing. Times are milliseconds.

Partitions, new tables:
  https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html
Event sources: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
CPU by memory: https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
Concurrency: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
SQS's counts: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
"""

from dataclasses import dataclass

from lambdas.core.times import MINUTE, SECOND, Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Documented by AWS."""

    partition_writes: int = 1_000  # units a second, of a partition of the table or an index
    partition_reads: int = 3_000
    new_table_writes: int = 4_000  # units a second that a new table takes, and each index
    first_batches: int = 5  # that an event source starts with
    more_batches: int = 300  # a minute that it adds while messages wait
    messages: int = 10  # in a request of SQS
    account: int = 1_000  # concurrent executions; a new account may have as few as 10
    full_vcpu: int = 1_769  # MB at which a function has one vCPU
    count_lag: Millis = MINUTE  # of SQS's count of messages


@dataclass(frozen=True, kw_only=True, slots=True)
class Assumed:
    """CPU times are those of a whole vCPU of Lambda. `bench/cpu.py` measures 0.5 ms for a claim;
    Lambda's vCPU is taken to be half as fast as the core that measured it, which makes 33,000
    claims a minute at 1,024 MB: the lower end of the 32,000 to 54,000 in docs/deploy.md."""

    write_cpu: float = 0.90  # one conditional write: claim, lease or outcome
    send_cpu: float = 0.09  # a message's share of a SendMessageBatch of ten
    read_cpu: float = 0.07  # one row of a query or a batch read
    request_cpu: float = 1.2  # any other request
    call_cpu: float = 1.0  # the call of a target
    invocation_cpu: float = 5.0  # around a batch
    tls_cpu: float = 2.0  # a new connection; 66 with botocore's whole CA bundle
    connections: int = 10  # that a cold executor opens, one for each message
    cold_start: Millis = 1_000
    table_ms: Millis = 8  # a request of DynamoDB
    queue_ms: Millis = 12  # a request of SQS
    poll_ms: Millis = 20  # from a visible message to the start of its invocation
    invoke_ms: Millis = 100  # an asynchronous invocation
    fan_out: int = 32  # requests of one function side by side
    page: int = 1_000  # rows of one query
    entry_bytes: int = 120  # of the wake index
    handler_ms: Millis = 100  # what a target takes
    sandbox_kept: Millis = 10 * MINUTE  # an idle one
    idle_batches_after: Millis = MINUTE  # an event source that was not busy gives batches up
    backoff: Millis = SECOND  # the SDK's, doubled after each try, times a random share
    tries: int = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    limits: Limits = Limits()
    assumed: Assumed = Assumed()

    def share(self, memory: int) -> float:
        """Of a vCPU. One process of Python uses no more than one."""
        return min(memory / self.limits.full_vcpu, 1.0)


class Partition:
    """Takes so many units a second, and at most a second's worth at once. AWS lets a partition
    that was idle do more for a while; that is left out."""

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
        """Take them, and say how long the caller has to wait for them."""
        self._free = self.room(now) - units
        return max(-self._free * SECOND / self._rate, 0.0)
