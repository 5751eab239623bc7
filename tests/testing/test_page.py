"""Every example of the page "Test with pytest" runs, in a project that has nothing else."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from duetime import testing
from duetime.testing import AttemptRecord, Failure, LedgerEntry, TaskRecord, World
from duetime.testing.observed import Observed

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "test-with-pytest.md").read_text()
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
TESTS = sum(text.count("\ndef test_") for text in FILES.values())


def test_every_example_passes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, text in FILES.items():
        (pytester.path / name).write_text(text)

    ran = pytester.runpytest_subprocess("-p", "duetime", "--strict-markers")

    ran.assert_outcomes(passed=TESTS)
    assert (len(FILES), TESTS) == (13, 14)
    assert PAGE.count("```python") == len(FILES)


def section_of_the_reference() -> str:
    reference = (ROOT / "docs" / "reference" / "python.md").read_text()
    return reference.partition("## Testing")[2].partition("\n## ")[0]


def test_reference_names_everything_that_is_public():
    section = section_of_the_reference()
    members = {name for name in vars(Observed) | vars(World) if not name.startswith("_")}
    public = {*testing.__all__, *members}
    assert {name for name in public if not re.search(rf"\b{name}\b", section)} == set()


@pytest.mark.parametrize("record", [TaskRecord, AttemptRecord, Failure, LedgerEntry])
def test_reference_has_every_field_of_a_record(record: Any):
    table = section_of_the_reference().partition("| record | fields |")[2]
    [row] = re.findall(rf"^\| `{record.__name__}` \| (.*) \|$", table, re.MULTILINE)
    named = re.findall(r"`(\w+)`", re.sub(r" \(.*?\)", "", row))
    assert named == [field.name for field in fields(record)]


def test_examples_pass_mypy(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache")]
    ran = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
