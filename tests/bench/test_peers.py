"""The comparison with other schedulers: with those that are installed, and with Duetime alone."""

import json
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from bench.peer_adapters import installs, processes, registry, servers
from bench.peer_adapters.summary import markdown
from tests.bench.test_scripts import ROOT, run

SMALL = ("--no-install", "--rounds=1", "--tasks=200", "--delayed=20", "--over=0.5")
SMALL_KILL = ("--naps=16", "--nap=0.5")

needs_redis = pytest.mark.skipif(bool(installs.missing_redis()), reason="redis is not installed")
needs_postgresql = pytest.mark.skipif(
    bool(installs.missing_postgresql()), reason="postgresql is not installed"
)


def installed() -> list[str]:
    return [peer.name for peer in registry.peers() if not peer.missing()]


def test_duetime_is_compared_with_itself_where_no_peer_is_installed(tmp_path: Path) -> None:
    rows = run(
        tmp_path, "peers-throughput", "peers.py", *SMALL, "--part=throughput", "--peer=duetime"
    )

    assert rows[0]["tasks/s"] > 0
    assert rows[0]["Duetime ÷ it"] == 1


@pytest.mark.long
@pytest.mark.parametrize("name", installed())
def test_peer_that_is_installed_does_the_same_work(name: str, tmp_path: Path) -> None:
    options = (*SMALL, *SMALL_KILL, "--patience=0", f"--peer={name}")
    rows = run(tmp_path, "peers-throughput", "peers.py", *options)
    drift, kill = (
        json.loads((tmp_path / f"results/peers-{part}.json").read_text())["rows"]
        for part in ("drift", "kill")
    )

    assert len(rows) == (1 if name == "duetime" else 2)
    assert len(drift) == len(kill) == (1 if name in ("duetime", "bullmq-fsync") else 2)
    assert all(row["tasks/s"] > 0 for row in rows)
    assert drift[0]["early"] == 0
    assert kill[-1]["cut off"] > 0
    table = (tmp_path / "results/peers.md").read_text().splitlines()
    assert len(table) == 2 + len(rows)
    assert {line.count("|") for line in table} == {6}


@pytest.mark.long
def test_duetime_loses_nothing_to_a_kill(tmp_path: Path) -> None:
    options = (*SMALL, *SMALL_KILL, "--part=kill", "--peer=duetime", "--patience=60")
    [row] = run(tmp_path, "peers-kill", "peers.py", *options)

    assert row["cut off"] > 0
    assert (row["lost"], row["finished, but run again"]) == (0, 0)


def test_unknown_peer_is_an_error() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "bench/peers.py", "--no-install", "--peer=cron"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "unknown: cron" in done.stderr
    assert "bullmq" in done.stderr


@pytest.mark.parametrize("peer", registry.peers(), ids=lambda peer: peer.name)
def test_every_peer_says_its_version_its_worker_and_where_outcomes_are_stored(
    peer: registry.Peer,
) -> None:
    assert peer.version or peer.name == "duetime"
    assert peer.works
    assert peer.stored


def test_table_of_the_readme_says_what_is_lost_early_or_run_twice() -> None:
    ours, other, third = registry.peers()[:3]
    throughput = [
        {"what": peer.what, "Duetime ÷ it": 1.5, "from": 1.25, "to": 2.0}
        for peer in (ours, other, third)
    ]
    drift = [
        {"what": ours.what, "p50": 1.96, "p99": 5.2, "early": 0},
        {"what": other.what, "p50": 1_200.0, "p99": 2_000.0, "early": 3},
    ]
    again, lost = "last of them again after s", "finished, but run again"
    kill = [
        {"what": ours.what, "lost": 0, "cut off": 8, again: 2.4, lost: 0},
        {"what": other.what, "lost": 8, "cut off": 8, again: "never", lost: 1},
    ]

    lines = markdown([ours, other, third], throughput, drift, kill).splitlines()

    assert lines[2].endswith("| 1 | 2.0 ms, 5 ms | 2 s |")
    assert lines[3].endswith(
        "| 1.50 (1.25 to 2.00) | 1,200.0 ms, 2,000 ms, 3 early"
        " | 8 of 8 are lost; 1 finished ones ran again |"
    )
    assert lines[4].endswith("| 1.50 (1.25 to 2.00) | – | – |")


def test_process_ends_with_those_it_has_started(tmp_path: Path) -> None:
    script = "import subprocess, time; subprocess.Popen(['sleep', '100']); print('up', flush=True)"
    command = [sys.executable, "-c", f"{script}; time.sleep(100)"]
    with processes.started(command, tmp_path) as process:
        while not any(log.read_text() for log in tmp_path.glob("*.log")):
            time.sleep(0.01)
        both = processes.session(process.pid)

    assert len(both) == 2
    assert not processes.session(process.pid)


@needs_redis
@pytest.mark.parametrize("fsync", [False, True])
def test_redis_has_a_port_of_its_own_and_ends(fsync: bool, tmp_path: Path) -> None:
    with servers.redis(tmp_path, fsync=fsync) as environment:
        port = environment["PEER_REDIS_PORT"]
        assert servers.ask_redis(port, "RPUSH list 1 2", "LLEN list") == 2

    with pytest.raises(ConnectionError):
        servers.ask_redis(port, "LLEN list")


@needs_postgresql
@pytest.mark.long
def test_postgresql_has_a_port_of_its_own_and_ends() -> None:
    with servers.postgresql() as environment:
        url = environment["PEER_POSTGRESQL"]
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
