"""Installs are reproducible: every pin has a hash, and every install checks it."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-infra.lock")
PIN = re.compile(r"^[A-Za-z0-9][\w.-]*==[\w.!+]+(?: ; [^\\]+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")


def requirements(lock: str) -> list[list[str]]:
    """Each requirement with the lines that continue it; comments are left out."""
    found: list[list[str]] = []
    continued = False
    for line in (ROOT / lock).read_text().splitlines():
        if line.lstrip().startswith("#"):
            continue
        if continued:
            found[-1].append(line)
        else:
            found.append([line])
        continued = line.endswith("\\")
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_a_lock_file_pins_a_version_with_its_hashes(lock: str):
    assert len(requirements(lock)) > 50
    for pin, *hashes in requirements(lock):
        assert PIN.match(pin), pin
        assert hashes, pin
        assert all(HASH.match(line) for line in hashes), pin


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_names_no_registry(lock: str):
    assert not re.search(r"://|--index-url|--find-links|--extra-index", (ROOT / lock).read_text())


def test_every_install_of_the_makefile_requires_hashes():
    installs = [
        line
        for line in (ROOT / "Makefile").read_text().splitlines()
        if re.match(r"\t.*(\$\(INSTALL\)|pip install)", line)
    ]
    assert len(installs) == 4
    for line in installs:
        editable = "--no-deps --require-build-hashes --build-constraints requirements.lock" in line
        assert editable or "--require-hashes -r" in line, line


def test_the_makefile_locks_with_hashes():
    [command] = re.findall(r"^LOCK := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "--generate-hashes" in command


def test_the_makefile_finds_the_pin_of_uv_with_all_its_hashes():
    """uv is installed by pip, which takes hashes from a file alone."""
    [script] = re.findall(r"sed -n '(.*)' requirements-infra", (ROOT / "Makefile").read_text())
    command = ["sed", "-n", script.replace("$$", "$"), str(ROOT / "requirements-infra.lock")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    [uv] = [r for r in requirements("requirements-infra.lock") if r[0].startswith("uv==")]
    assert printed.splitlines() == uv
