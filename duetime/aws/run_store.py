"""Runs and workflows in DynamoDB: the AWS backend's RunStore.

A write of a run is one conditional UpdateItem that leaves the spec alone, so its cost does not
depend on the input.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.listing import (
    CLOCK_SKEW,
    Keys,
    merge_shards,
    newest_page,
    newest_rows,
)
from duetime.aws.namespaces import Namespaces
from duetime.aws.overflow import text_row
from duetime.aws.parallel import ParallelCalls
from duetime.aws.revised_items import SEEN, move_wake, seen_value, to_answer
from duetime.aws.run_items import RunReader, run_bucket, run_key, run_write
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import Item
from duetime.aws.workflow_items import (
    decode_workflow,
    put_definition,
    version_item,
    workflow_bucket,
    workflow_item,
)
from duetime.core.change import Applied, Refused, Unknown, Unreadable
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.list_positions import LAST, Newest, newest_from
from duetime.core.ports import Clock, Shards
from duetime.core.retention import RETENTION
from duetime.core.times import DAY, Millis
from duetime.core.wakes import Wake
from duetime.core.workflows.definition import Workflow
from duetime.core.workflows.list_positions import WorkflowPlace
from duetime.core.workflows.ports import (
    RunAnswer,
    RunListing,
    RunPage,
    WorkflowAnswer,
    WorkflowPage,
)
from duetime.core.workflows.run import Run

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


MAX_DEFINITIONS = 1_000  # that a process knows to be stored
NAMESPACES_READ = 100  # for one page of workflows


class DynamoRunStore:
    """`shards`: see DynamoTaskStore. `retention` is how long a run is kept after its end."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        shards: Callable[[], Shards],
        clock: Clock,
        retention: Millis = RETENTION,
        parallel: ParallelCalls | None = None,
    ) -> None:
        self._table = Table(client, table)
        self._shards = shards
        self._write_shards = shards().count
        self._clock = clock
        self._retention = retention
        self._parallel = parallel or ParallelCalls()
        self._reader = RunReader(client, table)
        self._namespaces = Namespaces(self._table)
        self._definitions: dict[str, float] = {}  # put here, and until when they need no renewal

    def close(self) -> None:
        self._parallel.close()

    def put(self, runs: Sequence[Run]) -> list[RunAnswer]:
        return self._parallel.each(to_answer("run", self._put), runs)

    def get(self, run_ids: Sequence[str]) -> dict[str, Run]:
        return self._reader.readable(run_ids)

    def exist(self, run_ids: Sequence[str]) -> set[str]:
        return self._reader.existing(run_ids)

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._table.update_if(move_wake(run_key(found.task_id), found, later))

    def page(self, listing: RunListing) -> RunPage:
        shards, now = self._shards(), self._clock.now()
        name = listing.namespace
        names = self._namespaces.read() if name is None else [name]
        buckets = [(each, shard) for each in names for shard in range(shards.count)]
        found, cursor = newest_page(
            newest_from(listing.cursor, latest=(now + CLOCK_SKEW) // DAY),
            oldest=(shards.since - CLOCK_SKEW) // DAY,
            limit=listing.limit,
            queries=len(buckets),
            ids=lambda position: self._ids(listing.limit, position, buckets),
            read=self._reader.readable,
            wants=listing.wants,
        )
        return RunPage(runs=found, cursor=cursor)

    def ended(self, before: Millis, limit: int) -> Sequence[str]:  # noqa: ARG002 - see RunStore
        return []

    def remove(self, run_ids: Sequence[str]) -> None:
        self._parallel.each(self._remove, run_ids)

    def put_definition(self, digest: str, text: str, needed_until: Millis | None = None) -> None:
        """A definition that this process has put is not put again, until it must be renewed."""
        if needed_until is not None and needed_until <= self._definitions.get(digest, 0):
            return
        enough = put_definition(self._table, digest, text, needed_until, self._retention)
        if len(self._definitions) >= MAX_DEFINITIONS:
            self._definitions.clear()
        self._definitions[digest] = inf if enough is None else enough
        self._reader.remember(schema.definition_pk(digest), {schema.DEFINITION: text})

    def remove_definitions(self, before: Millis) -> None:
        """DynamoDB does it, by their TTL."""

    def definitions(self, digests: Sequence[str]) -> Mapping[str, str]:
        keys = {(schema.definition_pk(each), schema.DEFINITION): each for each in digests}
        return {keys[key]: text for key, text in self._reader.texts(keys).items()}

    def put_workflow(self, workflow: Workflow) -> WorkflowAnswer:
        """Of two writers that replace the same revision the second learns what is stored. The row
        of the version is written in the same transaction, so it has the digest of the first."""
        parameters: dict[str, Any] = {
            "Item": workflow_item(workflow),
            "ConditionExpression": KEY_IS_FREE,
        }
        if workflow.revision > 1:
            parameters["ConditionExpression"] = SEEN
            parameters["ExpressionAttributeValues"] = seen_value(workflow.revision - 1)
        else:
            self._namespaces.note(workflow.namespace)
        version = {"Put": {"Item": version_item(workflow)}}
        try:
            existing, made = self._table.transact(version, "Put", parameters)
        except Unavailable as error:
            return Unknown(str(error))
        stored = decode_workflow(existing) if existing else None
        return Applied(workflow) if made or stored == workflow else Refused(stored)

    def workflow(self, namespace: str, name: str) -> Workflow | None:
        item = self._table.get(schema.workflow_pk(namespace, name), schema.WORKFLOW)
        return decode_workflow(item) if item else None

    def version_digest(self, namespace: str, name: str, version: int) -> str | None:
        item = self._table.get(schema.workflow_pk(namespace, name), schema.version_sk(version))
        return item[schema.DIGEST]["S"] if item else None

    def workflows(self, namespace: str | None, limit: int, cursor: str | None) -> WorkflowPage:
        """Reads namespace by namespace, at most NAMESPACES_READ of them for a page."""
        place = WorkflowPlace.of(namespace, cursor)
        names = self._namespaces.read() if namespace is None else [namespace]
        left = [name for name in names if name >= place.namespace]
        keys: list[str] = []
        for name in left[:NAMESPACES_READ]:
            above = place.name if name == place.namespace else ""
            keys += self._workflow_keys(name, above, limit + 1 - len(keys))
            if len(keys) > limit:
                break
        found = self._workflows(keys[:limit])
        last: WorkflowPlace | None = None
        if len(keys) > limit:
            last = WorkflowPlace(*schema.workflow_of(keys[limit - 1]))
        elif len(left) > NAMESPACES_READ:
            last = WorkflowPlace(left[NAMESPACES_READ - 1], LAST)
        return WorkflowPage(workflows=found, cursor=last and last.cursor(namespace))

    def _workflows(self, keys: Sequence[str]) -> list[Workflow]:
        items = self._reader.items([(pk, schema.WORKFLOW) for pk in keys], consistent=True)
        found = [each for each in map(decode_workflow, items) if not each.deleted]
        return sorted(found, key=lambda each: (each.namespace, each.name))

    def _put(self, run: Run) -> RunAnswer:
        """Of two writers that replace the same revision the second learns what is stored; so does a
        writer whose answer was lost, and finds its own item."""
        wanted = run_write(run, shards=self._write_shards, retention=self._retention)
        if wanted.seen == 0:
            self._namespaces.note(run.spec.namespace)
            self._put_texts(run.id, wanted.overflow)
            existing, made = self._table.put_if(wanted.item, KEY_IS_FREE, {})
        else:
            existing, made = self._table.update_if(wanted.update())
        if made or existing == wanted.item:
            return Applied(run)
        return self._refuse(existing)

    def _put_texts(self, run_id: str, overflow: Mapping[str, str]) -> None:
        """Puts a long spec, before the item that refers to it."""
        pk = schema.run_pk(run_id)
        for sk, text in overflow.items():
            self._table.put(text_row(pk, sk, text))
        self._reader.remember(pk, overflow)

    def _refuse(self, existing: Item | None) -> RunAnswer:
        if existing is None:
            return Refused(None)
        [found] = self._reader.decoded([existing]).values()
        return Unreadable(str(found)) if isinstance(found, Corrupt) else Refused(found)

    def _remove(self, run_id: str) -> None:
        rows = self._table.query(
            f"{schema.PK} = :run",
            {":run": schema.run_pk(run_id)},
            ProjectionExpression=f"{schema.PK}, {schema.SK}",
            ConsistentRead=True,
        )
        self._table.delete(list(rows))

    def _ids(self, limit: int, position: Newest, buckets: Sequence[tuple[str, int]]) -> Keys:
        """Returns the next ids of a day, newest first, and whether the day may have more."""
        share = limit // len(buckets) + 2

        def read(at: tuple[str, int]) -> Keys:
            return self._shard_ids(run_bucket(at[0], position.day, at[1]), position.below, share)

        return merge_shards(self._parallel.each(read, buckets))

    def _shard_ids(self, bucket: str, below: str | None, share: int) -> Keys:
        condition, values = f"{schema.LISTING_BUCKET} = :bucket", {":bucket": bucket}
        if below is not None:
            condition += f" AND {schema.PK} < :below"
            values[":below"] = schema.run_pk(below)
        rows, more = newest_rows(self._table, schema.LISTING_INDEX, condition, values, share)
        return [schema.run_id_of(row[schema.PK]["S"]) for row in rows], more

    def _workflow_keys(self, namespace: str, above: str, limit: int) -> list[str]:
        rows = self._table.query(
            f"{schema.LISTING_BUCKET} = :bucket AND {schema.PK} > :above",
            {
                ":bucket": workflow_bucket(namespace),
                ":above": schema.workflow_pk(namespace, above),
            },
            IndexName=schema.LISTING_INDEX,
            Limit=limit,
        )
        return [row[schema.PK]["S"] for row in islice(rows, limit)]
