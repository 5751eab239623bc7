"""A ConnectionPosts that answers as API Gateway does: 410 for a closed connection, 429 for too many
posts. moto knows neither."""

from collections import defaultdict

from duetime.core.live.connections import Posted


class FakePosts:
    def __init__(self) -> None:
        self.sent: dict[str, list[str]] = defaultdict(list)  # frames, by connection
        self.open: set[str] = set()
        self.limited: set[str] = set()  # connections for which a post answers 429

    def connect(self, *connections: str) -> None:
        self.open |= {*connections}

    def limit(self, connection: str, limited: bool = True) -> None:
        (self.limited.add if limited else self.limited.discard)(connection)

    def frames(self, connection: str) -> list[str]:
        return self.sent[connection]

    def post(self, connection: str, frame: str) -> Posted:
        if connection not in self.open:
            return Posted.GONE
        if connection in self.limited:
            return Posted.FAILED
        self.sent[connection].append(frame)
        return Posted.SENT

    def close(self, connection: str) -> None:
        self.open.discard(connection)
