"""The table's stream, polled by a runner that has no Lambda event source mapping."""

import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.clients import error_code, translate_errors
from duetime.aws.event_records import change_of_record
from duetime.core.errors import Corrupt
from duetime.core.events import StatusChange
from duetime.core.value import value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_dynamodbstreams.literals import ShardIteratorTypeType


log = logging.getLogger(__name__)


def stream_arn(client: "DynamoDBClient", table: str) -> str:
    with translate_errors():
        return client.describe_table(TableName=table)["Table"]["LatestStreamArn"]


@value(slots=True)
class _Reading:
    """How far one shard of the stream has been read."""

    begin: "ShardIteratorTypeType"
    iterator: str | None = None  # None: not requested yet, or expired
    last: str | None = None  # the last sequence number read


class StreamReader:
    """Reads every shard of a stream, from its start or from now on."""

    def __init__(
        self, client: "DynamoDBStreamsClient", stream_arn: str, *, from_start: bool = False
    ) -> None:
        self._client = client
        self._arn = stream_arn
        self._readings: dict[str, _Reading] = {}
        self._ended: set[str] = set()
        self._find_shards("TRIM_HORIZON" if from_start else "LATEST")

    def poll(self) -> list[StatusChange]:
        """Returns the changes since the last poll, in order for each task."""
        changes: list[StatusChange] = []
        for shard_id in list(self._readings):
            changes += _changes(self._read(shard_id))
        if not self._readings:
            self._find_shards("TRIM_HORIZON")
        return changes

    def _read(self, shard_id: str) -> list[Any]:
        reading = self._readings[shard_id]
        iterator = reading.iterator or self._iterator(shard_id, reading)
        try:
            with translate_errors():
                answer = self._client.get_records(ShardIterator=iterator)
        except ClientError as error:
            if error_code(error) != "ExpiredIteratorException":
                raise
            reading.iterator = None
            return []
        records = answer["Records"]
        if records:
            reading.last = records[-1]["dynamodb"]["SequenceNumber"]
        reading.iterator = answer.get("NextShardIterator")
        if reading.iterator is None:
            self._end(shard_id)
        return records

    def _iterator(self, shard_id: str, reading: _Reading) -> str:
        after: Any = {"SequenceNumber": reading.last} if reading.last else {}
        with translate_errors():
            answer = self._client.get_shard_iterator(
                StreamArn=self._arn,
                ShardId=shard_id,
                ShardIteratorType="AFTER_SEQUENCE_NUMBER" if reading.last else reading.begin,
                **after,
            )
        return answer["ShardIterator"]

    def _end(self, shard_id: str) -> None:
        """A shard that has ended may have children, which are read from their start."""
        del self._readings[shard_id]
        self._ended.add(shard_id)
        self._find_shards("TRIM_HORIZON")

    def _find_shards(self, begin: "ShardIteratorTypeType") -> None:
        start: Any = {}
        while True:
            with translate_errors():
                answer = self._client.describe_stream(StreamArn=self._arn, **start)
            stream = answer["StreamDescription"]
            for shard in stream["Shards"]:
                shard_id = shard["ShardId"]
                if shard_id not in self._ended and shard_id not in self._readings:
                    reading = self._readings[shard_id] = _Reading(begin)
                    reading.iterator = self._iterator(shard_id, reading)
            if "LastEvaluatedShardId" not in stream:
                return
            start = {"ExclusiveStartShardId": stream["LastEvaluatedShardId"]}


def _changes(records: Iterable[Any]) -> Iterator[StatusChange]:
    for record in records:
        try:
            change = change_of_record(record)
        except Corrupt as error:
            log.error(
                "stream record skipped: unreadable", extra={"step": "relay", "reason": str(error)}
            )
            continue
        if change is not None:
            yield change
