"""What the SQLite store knows of itself, for its metrics. Its reads are bounded."""

from collections.abc import Mapping

from duetime.core.value import value
from duetime.duration_counts import DurationCounts
from duetime.sqlite.database import Database

MAX_COUNTED = 100_000
DEAD = f"SELECT count(*) FROM (SELECT 1 FROM tasks WHERE status = 'DEAD' LIMIT {MAX_COUNTED})"
SCHEDULES = (
    f"SELECT status, count(*) FROM (SELECT status FROM schedules LIMIT {MAX_COUNTED})"
    " GROUP BY status"
)
BYTES = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"


@value(frozen=True, kw_only=True, slots=True)
class StoreFigures:
    dead_letters: int
    schedules: Mapping[str, int]  # by status
    bytes: int  # of the file, without its log
    commits: DurationCounts  # of the transactions that write, since the start


def read_figures(database: Database) -> StoreFigures:
    with database.read() as connection:
        [dead] = connection.execute(DEAD).fetchone()
        schedules = dict(connection.execute(SCHEDULES).fetchall())
        [size] = connection.execute(BYTES).fetchone()
    return StoreFigures(
        dead_letters=dead,
        schedules=schedules,
        bytes=size,
        commits=database.commit_times,
    )
