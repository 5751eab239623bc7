"""The namespaces that tasks were stored in: one small row for each, written before its first task.

A list of all namespaces reads these rows. Every process remembers which rows it has seen, so a task
costs nothing extra; `default` needs no row.
"""

from duetime.aws import schema
from duetime.aws.table import Table

DEFAULT = "default"
MAX_REMEMBERED = 10_000


class Namespaces:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._seen: set[str] = {DEFAULT}

    def note(self, name: str) -> None:
        """Stores the name if this process has not seen its row yet. Two writers of one name write
        the same row."""
        if name in self._seen:
            return
        pk, sk = schema.namespace_key(name)
        if self._table.get(pk, sk) is None:  # a read is cheaper than a write that changes nothing
            self._table.put({schema.PK: {"S": pk}, schema.SK: {"S": sk}})
        if len(self._seen) < MAX_REMEMBERED:
            self._seen.add(name)

    def read(self) -> list[str]:
        rows = self._table.query(f"{schema.PK} = :names", {":names": schema.NAMESPACES})
        return sorted({DEFAULT, *(row[schema.SK]["S"] for row in rows)})
