"""Installs the peers below .cache/peers, at pinned versions, and the servers from Debian."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.peer_adapters.servers import postgresql_programs

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".cache" / "peers"
PYTHON = FOLDER / "venv" / "bin" / "python"
MODULES = FOLDER / "node_modules"
REQUIREMENTS, PACKAGES = HERE / "requirements.txt", HERE / "package.json"


def install() -> None:
    """Installs what is missing; what cannot be installed is missing then."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not _is_installed(REQUIREMENTS):
        print("installing the peers from PyPI ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER / "venv"], check=True)
        pip = [PYTHON, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        _run(*pip, "-r", REQUIREMENTS, remember=REQUIREMENTS)
    if shutil.which("npm") and not _is_installed(PACKAGES):
        print("installing the peers from npm ...", flush=True)
        shutil.copy(PACKAGES, FOLDER)
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", FOLDER]
        _run(*npm, remember=PACKAGES)
    missing = [] if shutil.which("redis-server") else ["redis-server"]
    missing += [] if postgresql_programs() else ["postgresql"]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {' and '.join(missing)} from Debian ...", flush=True)
        # Policy 101: the package's own service is not to start.
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *missing]
        subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL)


def missing_python() -> str | None:
    return None if _is_installed(REQUIREMENTS) else "its package from PyPI is not installed"


def missing_node() -> str | None:
    if shutil.which("node") is None:
        return "Node.js is not installed"
    return None if _is_installed(PACKAGES) else "its package from npm is not installed"


def missing_redis() -> str | None:
    return None if shutil.which("redis-server") else "Debian's redis-server is not installed"


def missing_postgresql() -> str | None:
    return None if postgresql_programs() else "Debian's postgresql is not installed"


def version(package: str) -> str:
    """Returns the version that is pinned for this package."""
    if (found := json.loads(PACKAGES.read_text())["dependencies"].get(package)) is not None:
        return str(found)
    lines = [line.split("==") for line in REQUIREMENTS.read_text().splitlines() if "==" in line]
    return next(pinned for name, pinned in lines if name.partition("[")[0] == package)


def _run(*command: str | Path, remember: Path) -> None:
    if subprocess.run(command, check=False).returncode == 0:
        shutil.copy(remember, FOLDER / f"installed-{remember.name}")


def _is_installed(pinned: Path) -> bool:
    """Returns whether the pinned versions are those that were installed last."""
    installed = FOLDER / f"installed-{pinned.name}"
    return installed.exists() and installed.read_text() == pinned.read_text()
