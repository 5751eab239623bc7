"""The archive in S3: the relay writes the tasks of each batch of removals as one object.

dt=2026-11-17/<sequence number of the first removal>-<digest of the records>.jsonl.gz
"""

import gzip
from collections.abc import Iterator, Sequence
from typing import Any

from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.clients import translate_errors
from duetime.core.archive import FILE_SUFFIXES, day_folder, in_days_from
from duetime.core.errors import DuetimeError
from duetime.core.times import Millis

CONTENT_TYPE = "application/x-ndjson"


class ArchiveBucket:
    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def write(self, lines: Sequence[str], *, name: str, at: Millis) -> None:
        """Writes one object. Writing it again changes nothing."""
        text = "".join(f"{line}\n" for line in lines).encode(errors="replace")
        with translate_errors():
            self._client.put_object(
                Bucket=self._bucket,
                Key=f"{day_folder(at)}/{name}.jsonl.gz",
                Body=gzip.compress(text, mtime=0),
                ContentType=CONTENT_TYPE,
                ContentEncoding="gzip",
            )


def read_bucket(
    bucket: str, prefix: str, since: Millis | None, client: Any = None
) -> Iterator[bytes]:
    """Yields the lines of an archive, in the order of the objects' names, which begin with the day
    of removal. A task is archived after its end, so earlier days than `since` are not read."""
    client = client or clients.s3()
    try:
        for key in _keys(client, bucket, prefix):
            if key.endswith(FILE_SUFFIXES) and in_days_from(key, since):
                yield from _lines(client, bucket, key)
    except ClientError as error:
        raise DuetimeError(f"the archive s3://{bucket} cannot be read: {error}") from error


def _keys(client: Any, bucket: str, prefix: str) -> Iterator[str]:
    start: dict[str, str] = {}
    while True:
        with translate_errors():
            answer = client.list_objects_v2(Bucket=bucket, Prefix=prefix, **start)
        yield from (found["Key"] for found in answer.get("Contents", ()))
        if not answer.get("IsTruncated"):
            return
        start = {"ContinuationToken": answer["NextContinuationToken"]}


def _lines(client: Any, bucket: str, key: str) -> Iterator[bytes]:
    with translate_errors():
        body = client.get_object(Bucket=bucket, Key=key)["Body"]
    with body:
        yield from gzip.GzipFile(fileobj=body) if key.endswith(".gz") else body.iter_lines()
