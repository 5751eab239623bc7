"""The table of the README, in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.peer_adapters.adapter import Peer

Row = Mapping[str, Any]
HEAD = (
    "| | outcomes are stored in | tasks a second: Duetime ÷ it"
    " | starts after the due time: p50, p99 | worker killed: its tasks run again after |\n"
    "|---|---|---|---|---|\n"
)


def markdown(
    peers: Sequence[Peer], throughput: Sequence[Row], drift: Sequence[Row], kill: Sequence[Row]
) -> str:
    """The rows of the throughput are those of the peers, in their order; drift and kill may lack
    some."""
    drifts, kills = ({row["what"]: row for row in rows} for rows in (drift, kill))
    return HEAD + "".join(
        f"| {row['what']} | {peer.stored} | {_ratio(peer, row)}"
        f" | {_drift(drifts.get(peer.what))} | {_kill(kills.get(peer.what))} |\n"
        for peer, row in zip(peers, throughput, strict=True)
    )


def _ratio(peer: Peer, row: Row) -> str:
    if peer.name == "duetime":
        return "1"
    return f"{row['Duetime ÷ it']:.2f} ({row['from']:.2f} to {row['to']:.2f})"


def _drift(row: Row | None) -> str:
    if row is None:
        return "–"
    early = f", {row['early']} early" if row["early"] else ""
    return f"{row['p50']:,.1f} ms, {row['p99']:,.0f} ms{early}"


def _kill(row: Row | None) -> str:
    if row is None:
        return "–"
    twice = row["finished, but run again"]
    also = f"; {twice} finished ones ran again" if twice else ""
    if row["lost"]:
        return f"{row['lost']} of {row['cut off']} are lost{also}"
    return f"{row['last of them again after s']:.0f} s{also}"
