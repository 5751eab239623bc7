"""The index of dead tasks, by the time of their death."""

from sqlite3 import Connection

from duetime.core.dead_letters import Death, Deaths


def read_deaths(connection: Connection, below: Death, last: Death, wanted: int) -> Deaths:
    rows = connection.execute(
        "SELECT updated_at, id FROM tasks"
        " WHERE status = 'DEAD' AND (updated_at, id) < (?, ?) AND updated_at >= ?"
        " ORDER BY updated_at DESC, id DESC LIMIT ?",
        (*below, last.died_at, wanted + 1),
    ).fetchall()
    return [Death(*row) for row in rows[:wanted]], len(rows) > wanted
