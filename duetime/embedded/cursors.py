"""How far the scanner has come: the embedded backend's CursorStore."""

from dataclasses import asdict

from duetime.embedded.database import Database
from lambdas.core.codec import from_json, to_json
from lambdas.core.ports import Shards, SliceState
from lambdas.core.times import Millis

SHARDS = 1  # one file, one writer: nothing to spread


class CursorRows:
    _database: Database

    def shards(self, now: Millis) -> Shards:
        text = self._setting("shards")
        if text is None:
            text = to_json({"count": SHARDS, "since": now})
            self._set("shards", text)
        return Shards(**from_json(text))

    def load(self, slice_number: int) -> SliceState:
        text = self._setting(f"slice {slice_number}")
        if text is None:
            return SliceState()
        state = from_json(text)
        cursors = {int(shard): minute for shard, minute in state.pop("cursors").items()}
        return SliceState(cursors=cursors, **state)

    def save(self, slice_number: int, state: SliceState) -> bool:
        standing = self.load(slice_number)
        if standing.fence != state.fence - 1:
            return standing == state
        self._set(f"slice {slice_number}", to_json(asdict(state)))
        return True

    def _setting(self, name: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT value FROM settings WHERE name = ?", (name,)
            ).fetchone()
        return row[0] if row else None

    def _set(self, name: str, value: str) -> None:
        self._database.write(
            lambda c: c.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
        )
