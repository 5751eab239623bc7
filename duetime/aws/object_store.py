"""Objects of tasks in S3: `<task id>/<name>`."""

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from duetime.aws.clients import error_code, translate_errors
from duetime.core.errors import Unavailable

MISSING = ("NoSuchKey", "404")


class S3ObjectStore:
    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, task_id: str, name: str, content: bytes) -> None:
        with translate_errors():
            self._client.put_object(
                Bucket=self._bucket,
                Key=f"{task_id}/{name}",
                Body=content,
                ContentType="application/zlib",
            )

    def get(self, task_id: str, name: str) -> bytes | None:
        """Without permission to list the bucket, S3 would answer "access denied" for an object that
        does not exist."""
        try:
            with translate_errors():
                answer = self._client.get_object(Bucket=self._bucket, Key=f"{task_id}/{name}")
                content: bytes = answer["Body"].read()
        except ClientError as error:
            if error_code(error) not in MISSING:
                raise
            return None
        return content

    def delete(self, task_ids: Sequence[str]) -> None:
        for task_id in task_ids:
            while keys := self._keys(task_id):
                self._delete(keys)

    def _keys(self, task_id: str) -> list[str]:
        with translate_errors():
            answer = self._client.list_objects_v2(Bucket=self._bucket, Prefix=f"{task_id}/")
        return [found["Key"] for found in answer.get("Contents", ())]

    def _delete(self, keys: Sequence[str]) -> None:
        with translate_errors():
            answer = self._client.delete_objects(
                Bucket=self._bucket,
                Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True},
            )
        if errors := answer.get("Errors"):
            raise Unavailable(f"{errors[0]['Key']} was not deleted: {errors[0].get('Code')}")
