"""The models of the console's pages, which need no browser: `console/test/`."""

import shutil
import subprocess

import pytest

from tests.running import PATIENCE, ROOT


@pytest.mark.console
@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js 20")
def test_models_of_the_console_pass_their_own_tests() -> None:
    command = ["node", "--test", "--test-reporter=tap", "console/test/models.test.js"]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=False, text=True, timeout=PATIENCE
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
