"""Every example of the page "Test with pytest" runs, in a project that has nothing else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from duetime import testing
from duetime.testing import World
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


def test_reference_names_everything_that_is_public():
    reference = (ROOT / "docs" / "reference" / "python.md").read_text()
    section = reference.partition("## Testing")[2].partition("\n## ")[0]
    members = {name for name in vars(Observed) | vars(World) if not name.startswith("_")}
    public = {*testing.__all__, *members}
    assert {name for name in public if not re.search(rf"\b{name}\b", section)} == set()


def test_examples_pass_mypy(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache")]
    ran = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
