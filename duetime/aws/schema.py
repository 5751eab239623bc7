"""The table: attribute, key and index names, once.

One table holds every kind of row. `pk` and `sk` name a row; what the names begin with tells
its kind:

    task#<id>              task                  the task itself, small and hot
    task#<id>              spec#… result#… run#…  a text too long for the task's own item
    task#<id>              attempt#<number>      an earlier attempt
    schedule#<id>          schedule              the schedule itself, small and hot
    schedule#<id>          plan#<digest>#<revision>  a plan too long for the schedule's own item
    schedule#<id>          ledger#<key>          what became of a fire time, or of a span of them
    key#<namespace>#<key>  key                   an idempotency key
    slice#<number>         cursor                how far the scanner of a slice has come
    config                 shards                how many shards there are, and since when

Attribute names are short because every write is billed by the size of its item, and none of
them is reserved, so that expressions need no aliases. Nothing here imports boto3: the
infrastructure reads these names too.
"""

from typing import Any

PK = "pk"
SK = "sk"

# The fields of a task.
STATUS = "st"
TOKEN = "tk"
DUE_AT = "du"
WAKE_BUCKET = "wb"
WAKE_KEY = "wk"
LISTING_BUCKET = "lb"
DEAD_BUCKET = "db"  # these two only while it is DEAD
DEATH = "dk"
CREATED_AT = "cr"
UPDATED_AT = "up"
BUDGET = "bg"
ATTEMPT = "an"
LEASE_UNTIL = "lu"
HOLDER = "ho"
CURRENT = "cu"
PREVIOUS = "pr"
CANCEL_REQUESTED = "cx"
SENDS = "sd"
SKIPS = "ks"
PROGRESS = "pg"
RESULT = "rs"
SPEC = "sc"
EXPIRES_AT = "xp"
REASON = "rn"
KEPT_FOR = "kf"  # seconds from its end, if that is not the same for all tasks

# The fields of a schedule, if a task has none of that meaning.
VERSION = "vn"  # of an entry of the ledger, too
REVISION = "rv"
NEXT_AT = "nx"
STATE = "sa"
PLAN = "pl"

# The other rows.
TEXT = "tx"
TASK_ID = "ti"
BODY_HASH = "bh"
FENCE = "fe"
SHARDS = "sh"
SINCE = "si"
REMOVE_AFTER = "tl"  # seconds, for DynamoDB's own expiry; of a task that is over, too

TASK = "task"
ATTEMPT_PREFIX = "attempt#"
SCHEDULE = "schedule"
PLAN_PREFIX = "plan#"
LEDGER_PREFIX = "ledger#"
KEY = "key"
CURSOR = "cursor"
CONFIG = ("config", "shards")

WAKE_INDEX = "wake"
LISTING_INDEX = "listing"
DEAD_INDEX = "dead"


def task_pk(task_id: str) -> str:
    return f"task#{task_id}"


def task_id_of(pk: str) -> str:
    return pk.removeprefix("task#")


def attempt_sk(number: int) -> str:
    return f"{ATTEMPT_PREFIX}{number:05d}"


def schedule_pk(schedule_id: str) -> str:
    return f"schedule#{schedule_id}"


def schedule_id_of(pk: str) -> str:
    return pk.removeprefix("schedule#")


def ledger_sk(key: str) -> str:
    return f"{LEDGER_PREFIX}{key}"


def key_pk(namespace: str, key: str) -> str:
    return f"key#{namespace}#{key}"


def slice_pk(slice_number: int) -> str:
    return f"slice#{slice_number}"


def create_table(table: str) -> dict[str, Any]:
    """What CreateTable takes. The indexes are sparse and hold keys only; the range key of the
    listing index is `pk`, which every item has anyway."""
    named = (PK, SK, WAKE_BUCKET, WAKE_KEY, LISTING_BUCKET, DEAD_BUCKET, DEATH)
    return {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in named],
        "KeySchema": _keys(PK, SK),
        "GlobalSecondaryIndexes": [
            _index(WAKE_INDEX, WAKE_BUCKET, WAKE_KEY),
            _index(LISTING_INDEX, LISTING_BUCKET, PK),
            _index(DEAD_INDEX, DEAD_BUCKET, DEATH),
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def _index(name: str, partition: str, sort: str) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": _keys(partition, sort),
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
