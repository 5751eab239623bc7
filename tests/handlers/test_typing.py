"""mypy --strict and pyright infer payload and result of a handler, and refuse wrong calls."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = Path(__file__).parent / "typed" / "calls.py"
ROOT = Path(__file__).parents[2]
PYRIGHT = "pyright@1.1.414"
LINES = list(enumerate(CALLS.read_text().splitlines(), 1))
REFUSED = {number for number, line in LINES if line.endswith("# refused")}
REVEALED = {
    number: found[1]
    for number, line in LINES
    if (found := re.search(r"reveal_type\(.*\)  # (.*)$", line))
}


def plain(kind: str) -> str:
    """Returns a type as Python writes it: `builtins.int` is `int`."""
    return re.sub(r"\b[a-z_]+\.(?=\w)", "", re.sub(r"\b[a-z_]+\.(?=[a-z_]+\.)", "", kind))


def test_file_has_calls_of_both_kinds():
    assert len(REFUSED) > 15
    assert len(REVEALED) > 12


def test_mypy_infers_results_and_refuses_wrong_calls():
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(CALLS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr
    errors, revealed = set(), {}
    for line in done.stdout.splitlines():
        if found := re.match(r".*calls\.py:(\d+): error:", line):
            errors.add(int(found[1]))
        elif found := re.match(r'.*calls\.py:(\d+): note: Revealed type is "(.*)"$', line):
            revealed[int(found[1])] = plain(found[2])
    assert errors == REFUSED, done.stdout
    assert revealed == REVEALED


@pytest.mark.long
def test_pyright_infers_results_and_refuses_wrong_calls():
    if shutil.which("npx") is None:
        pytest.skip("pyright needs Node.js and npm")
    command = ["npx", "--yes", PYRIGHT, "--outputjson", "--pythonpath", sys.executable, str(CALLS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout or "{}").get("generalDiagnostics")
    assert found is not None, done.stderr
    at = [(one["range"]["start"]["line"] + 1, one["severity"], one["message"]) for one in found]
    assert {line for line, severity, _ in at if severity == "error"} == REFUSED, at
    revealed = {
        line: re.search(r'is "(.*)"$', text)[1]  # type: ignore[index]
        for line, severity, text in at
        if severity == "information" and text.startswith("Type of")
    }
    assert revealed == REVEALED
