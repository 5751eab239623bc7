"""The built files of the console are those of its source, and small."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from duetime.console.files import BUILT
from tests.running import ROOT

SOURCE = ROOT / "console"
LIMITS = {"js": 60 * 1024, "css": 10 * 1024}  # bytes, gzipped, before the first page is shown


def initial_files() -> list[Path]:
    page = (BUILT / "index.html").read_text()
    return [BUILT / name for name in re.findall(r'"/static/([^"]+)"', page)]


@pytest.mark.parametrize("suffix", LIMITS)
def test_what_loads_first_is_within_its_limit(suffix: str):
    files = [path for path in initial_files() if path.suffix == f".{suffix}"]

    assert files
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in files) <= LIMITS[suffix]


def test_imports_of_the_application_are_preloaded():
    named = {path.name for path in initial_files()}
    (application,) = BUILT.glob("app-*.js")

    imports = set(re.findall(r'from"\./([^"]+)"', application.read_text()))

    assert imports <= named


def test_every_file_has_its_compressed_copies():
    for path in BUILT.iterdir():
        if path.suffix in (".css", ".html", ".js"):
            assert gzip.decompress((BUILT / f"{path.name}.gz").read_bytes()) == path.read_bytes()
            assert (BUILT / f"{path.name}.br").is_file()


def test_lock_file_names_no_registry():
    lock = (SOURCE / "package-lock.json").read_text()

    assert '"resolved"' not in lock
    assert '"integrity"' in lock


@pytest.mark.parametrize("word", ["innerHTML", "outerHTML", "eval(", "new Function", "srcdoc"])
def test_source_makes_no_markup_and_no_code_from_text(word: str):
    for path in (SOURCE / "src").rglob("*.js"):
        if path.parent.name != "vendor":
            assert word not in path.read_text(), path


@pytest.mark.parametrize("pattern", [r"\.toLocale\w*", r"\.get(UTC)?(Hours|Date|Day|Month)\("])
def test_only_one_module_formats_times(pattern: str):
    for path in (SOURCE / "src").rglob("*.js"):
        if path.parent.name not in ("vendor", "models") and path.name != "zone.js":
            assert not re.search(pattern, path.read_text()), path


def test_build_of_the_source_gives_the_same_bytes(tmp_path: Path):
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("needs Node.js and npm")
    shutil.copytree(SOURCE, tmp_path / "console", ignore=shutil.ignore_patterns("node_modules"))
    install = [npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    if subprocess.run(install, cwd=tmp_path / "console", check=False).returncode:
        pytest.skip("npm cannot install the packages here")
    build = ["node", "build.mjs", str(tmp_path / "static")]
    subprocess.run(build, cwd=tmp_path / "console", check=True, stdout=subprocess.DEVNULL)

    made = contents(tmp_path / "static")

    assert made == contents(BUILT), "run `make console` and commit its files"
    vendored = contents(tmp_path / "console/src/vendor")
    assert vendored == contents(SOURCE / "src/vendor"), "run `make console` and commit its files"


def contents(folder: Path) -> dict[str, bytes]:
    """Without the compressed copies, which depend on the version of Node."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.suffix not in (".gz", ".br")
    }
