"""A runner imports what its roles import later, while it still has file descriptors for it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "duetime"
ROLES = ("engine", "executor", "scanner")
STARTED = """
import sys
from duetime.local import runner
from duetime.local.interpreter import import_lazy_modules
import_lazy_modules()
print(*sys.modules, sep="\\n")
"""


def imported_in_functions(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("duetime"):
                    yield str(inner.module)


def test_runner_has_imported_what_its_roles_import_on_first_use():
    """Targets are left out: a runner imports those that its options name."""
    files = [
        f for role in ROLES for f in (PACKAGE / role).rglob("*.py") if "targets" not in f.parts
    ]
    wanted = {module for file in files for module in imported_in_functions(file)}
    started = subprocess.run(
        [sys.executable, "-c", STARTED], capture_output=True, text=True, check=True
    )
    assert len(wanted) > 20
    assert wanted - set(started.stdout.split()) == set()
