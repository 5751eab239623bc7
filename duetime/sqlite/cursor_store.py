"""How far the scanner has come: the embedded backend's CursorStore."""

from dataclasses import asdict, replace
from sqlite3 import Connection

from duetime.embedded.database import Database
from lambdas.core.codec import from_json, to_json
from lambdas.core.ports import Chain, Shards, SliceState
from lambdas.core.times import Millis

SHARDS = 1  # one file, one writer: nothing to spread


class CursorRows:
    _database: Database

    def shards(self, now: Millis) -> Shards:
        text = self._setting("shards")
        if text is None:
            first = to_json({"count": SHARDS, "since": now})
            self._database.write(lambda c: _set(c, "shards", first))
            text = first
        return Shards(**from_json(text))

    def load(self, slice_number: int) -> SliceState:
        return _state(self._setting(f"slice {slice_number}"))

    def save(self, slice_number: int, state: SliceState) -> bool:
        return self._database.write(lambda c: _save(c, f"slice {slice_number}", state))

    def forget_slots(self) -> None:
        """The messages that had them were lost with the process that held the lanes."""
        state = self.load(0)
        self.save(0, replace(state, fence=state.fence + 1, paced={}))

    def _setting(self, name: str) -> str | None:
        with self._database.read() as connection:
            return _setting(connection, name)


def _save(connection: Connection, name: str, state: SliceState) -> bool:
    standing = _state(_setting(connection, name))
    if standing.fence != state.fence - 1:
        return standing == state
    _set(connection, name, to_json(asdict(state)))
    return True


def _state(text: str | None) -> SliceState:
    if text is None:
        return SliceState()
    state = from_json(text)
    cursors = {int(shard): minute for shard, minute in state.pop("cursors").items()}
    chain = state.pop("chain", None)  # rows of earlier versions have none
    return SliceState(cursors=cursors, chain=Chain(**chain) if chain else None, **state)


def _setting(connection: Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def _set(connection: Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
