"""The table's schema: every attribute, key and index name.

One table holds every kind of row. `pk` and `sk` name a row; their prefixes show its kind:

    task#<id>              task                  the task itself, small and hot
    task#<id>              spec#… result#… run#…  a text too long for the task's own item
    task#<id>              attempt#<number>      an earlier attempt
    schedule#<id>          schedule              the schedule itself, small and hot
    schedule#<id>          plan#<digest>#<revision>.<created>  a plan too long for its own item
    schedule#<id>          ledger#<key>          the outcome of a fire time, or of a span of them
    run#<id>               run                   a run of a workflow, or of a map, small and hot
    run#<id>               input#<digest>        a spec too long for its own item
    workflow#<namespace>#<name>  workflow        the current version of a workflow
    workflow#<namespace>#<name>  v#<number>      which definition a version has
    def#<digest>           def                   a definition, shared by its runs
    key#<namespace>#<key>  key                   an idempotency key
    unique#<namespace>#<key>  unique             a unique key, and the task that it names
    slice#<number>         cursor                the progress of the scanner of a slice
    config                 shards                how many shards there are, and since when
    config                 apps                  the apps that declare schedules in code
    namespaces             <name>                a namespace that tasks were stored in
    limits#<namespace>     <name>                a limit as it was defined
    quota#<namespace>      rate                  when the bucket of its rate is full again
    quota#<namespace>      stored                how many tasks it has stored
    stats#<hour>           <minute>#<lane>#<0-3>  what was counted in a minute
    hours#<day>            <hour>#<lane>         what was counted in an hour
    line#<id>              slot#<number>         which delivery runs in a slot of a limit and key
    line#<id>              wait#<position>#<task id>  a task that waits for one
    line#<id>              watch                 the wake of a line in which tasks wait
    limit#<namespace>#<name>#<key>  rate         which times a rate limit has handed out
    config                 live                  until when there may be open connections
    ticket#<hash>          ticket                who may open one connection
    live                   <connection>          an open connection
    live                   <connection>#<subscription>  what it wants, and its last frame
    workers                <name>                a worker of a pool, and what it runs

Attribute names are short because every write is billed by the size of its item. None of them is
a reserved word, so expressions need no aliases. This module does not import boto3: infra reads
these names too.
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
DEAD_BUCKET = "db"  # this and DEATH only while the task is DEAD
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
REPLACED = "rp"  # its spec was replaced: a row of the old one may be left
BODY_HASH = "bh"  # of the request, if its client made the id; also of an idempotency key
PROMOTED = "pm"
HELD = "hd"
GRANT = "gr"
KEPT_FOR = "kf"  # seconds after its end, if the task has its own retention
SUSPENDED = "su"  # only while the task is WAITING, or its wait has failed

# The fields that only a schedule has.
VERSION = "vn"  # also of a ledger entry
REVISION = "rv"  # also of a run and a workflow
NEXT_AT = "nx"
STATE = "sa"  # also of a run
PLAN = "pl"
GENERATIONS = "gn"  # of apps: the current generation of each

# The fields that only a workflow has.
DIGEST = "dg"
DELETED = "de"

# The other rows.
TEXT = "tx"
TASK_ID = "ti"
FENCE = "fe"
SHARDS = "sh"
SINCE = "si"
FULL_AT = "fa"  # nanoseconds
COUNT = "ct"
TAT = "ta"  # of a rate limit, nanoseconds: see duetime.core.limits.rate
BLOCKED_UNTIL = "bu"  # of a rate limit
ACTOR = "ac"  # of a ticket or a connection, as the following
READS = "ns"  # the namespaces that it may read, if not all
GREETED = "he"  # the connection has said hello
FRAMED_AT = "fd"  # of a subscription, as the following: its last frame
RESET_AT = "ra"
RESET_BY = "rb"  # only while it misses changes: when the reset is sent at the latest
REMOVE_AFTER = "tl"  # seconds, DynamoDB's TTL attribute; also of a task that has ended

TASK = "task"
WORKERS = "workers"
ATTEMPT_PREFIX = "attempt#"
SCHEDULE = "schedule"
PLAN_PREFIX = "plan#"
LEDGER_PREFIX = "ledger#"
RUN = "run"
INPUT_PREFIX = "input#"
WORKFLOW = "workflow"
DEFINITION = "def"
KEY = "key"
UNIQUE = "unique"
CURSOR = "cursor"
CONFIG = ("config", "shards")
APPS = ("config", "apps")
GENERATIONS_OF_APPS = ("config", "generations")
NAMESPACES = "namespaces"
RATE = "rate"
STORED = "stored"
SLOT_PREFIX = "slot#"
PLACE_PREFIX = "wait#"  # sorts after the slots
LINE_WATCH = "watch"  # sorts after the places
LIVE = "live"  # the partition of all connections and their subscriptions
LIVE_UNTIL = ("config", "live")
TICKET = "ticket"

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


def run_pk(run_id: str) -> str:
    return f"run#{run_id}"


def run_id_of(pk: str) -> str:
    return pk.removeprefix("run#")


def workflow_pk(namespace: str, name: str) -> str:
    return f"workflow#{namespace}#{name}"


def workflow_of(pk: str) -> tuple[str, str]:
    """Returns the namespace and the name in the key of a workflow."""
    _, namespace, name = pk.split("#", 2)
    return namespace, name


def version_sk(number: int) -> str:
    return f"v#{number}"


def definition_pk(digest: str) -> str:
    return f"def#{digest}"


def key_pk(namespace: str, key: str) -> str:
    return f"key#{namespace}#{key}"


def unique_pk(namespace: str, key: str) -> str:
    return f"unique#{namespace}#{key}"


def slice_pk(slice_number: int) -> str:
    return f"slice#{slice_number}"


def namespace_key(name: str) -> tuple[str, str]:
    return NAMESPACES, name


def limits_pk(namespace: str) -> str:
    return f"limits#{namespace}"


def limits_namespace(pk: str) -> str:
    return pk.removeprefix("limits#")


def quota_pk(namespace: str) -> str:
    return f"quota#{namespace}"


def stats_pk(hour: str) -> str:
    return f"stats#{hour}"


def stats_hours_pk(day: str) -> str:
    return f"hours#{day}"


def line_pk(line_id: str) -> str:
    return f"line#{line_id}"


def slot_sk(number: int) -> str:
    return f"{SLOT_PREFIX}{number:03d}"


def place_sk(position: int, task_id: str) -> str:
    return f"{PLACE_PREFIX}{position:013d}#{task_id}"


def limit_pk(namespace: str, name: str, key: str) -> str:
    return f"limit#{namespace}#{name}#{key}"


def ticket_pk(ticket_hash: str) -> str:
    return f"ticket#{ticket_hash}"


def subscription_sk(connection: str, subscription: str) -> str:
    return f"{connection}#{subscription}"


def create_table(table: str) -> dict[str, Any]:
    """Returns the parameters of CreateTable. The indexes are sparse and hold only keys; the sort
    key of the listing index is `pk`, which every item has anyway."""
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
