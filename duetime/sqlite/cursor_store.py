"""The scanner's progress and the shard count: the SQLite backend's CursorStore."""

from dataclasses import asdict, replace
from sqlite3 import Connection

from duetime.core.codec import from_json, to_json
from duetime.core.ports import Chain, Shards, SliceState
from duetime.core.times import Millis
from duetime.sqlite.database import Database

SHARDS = 1  # one file has one writer: there is nothing to spread


class SqliteCursorStore:
    _database: Database

    def shards(self, now: Millis) -> Shards:
        text = self._setting("shards")
        if text is None:
            first = to_json({"count": SHARDS, "since": now})
            self._database.write(lambda c: write_setting(c, "shards", first))
            text = first
        return Shards(**from_json(text))

    def load(self, slice_number: int) -> SliceState:
        return _read(self._setting(f"slice {slice_number}"))

    def save(self, slice_number: int, state: SliceState) -> bool:
        return self._database.write(lambda c: _save(c, f"slice {slice_number}", state))

    def clear_pacing(self) -> None:
        """Free the slots of paced messages, which were lost with the process that had the lanes."""
        state = self.load(0)
        self.save(0, replace(state, fence=state.fence + 1, paced={}))

    def _setting(self, name: str) -> str | None:
        with self._database.read() as connection:
            return read_setting(connection, name)


def _save(connection: Connection, name: str, state: SliceState) -> bool:
    stored = _read(read_setting(connection, name))
    if stored.fence != state.fence - 1:
        return stored == state
    write_setting(connection, name, to_json(asdict(state)))
    return True


def _read(text: str | None) -> SliceState:
    if text is None:
        return SliceState()
    state = from_json(text)
    cursors = {int(shard): minute for shard, minute in state.pop("cursors").items()}
    chain = state.pop("chain", None)  # absent in rows of earlier versions
    return SliceState(cursors=cursors, chain=Chain(**chain) if chain else None, **state)


def read_setting(connection: Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def write_setting(connection: Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
