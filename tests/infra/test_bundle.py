"""The contents of the bundles, and their platform."""

import json
import platform
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duetime.api.openapi import resource as openapi
from duetime.aws import botocore_endpoints as endpoints
from duetime.aws import root_certificates as roots
from infra import bundle
from infra.bundle import MANIFEST, ROOT, Bundles, Machine, make_bundles
from infra.stage import BadStage, Handlers
from tests.infra.conftest import a_stage

AARCH64 = 183  # e_machine of an ELF file
ENDPOINTS = endpoints.FILE.relative_to(ROOT)
ROOTS = roots.FILE.relative_to(ROOT)


@pytest.fixture(scope="module")
def arm() -> Bundles:
    return make_bundles(a_stage().handlers, Machine.function("arm64"))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles of temporary handlers are not kept."""
    monkeypatch.setattr(bundle, "CACHE", tmp_path / "bundles")


@pytest.fixture(scope="module")
def here() -> Bundles:
    """The bundles that test_journey runs."""
    return make_bundles(a_stage().handlers, Machine.this())


HANDLER = "from duetime import task\n@task('a')\ndef a(p, c): ...\n"


def a_shop(folder: Path, source: str = HANDLER, needs: str = "") -> Path:
    """A folder of handlers."""
    shop = folder / "shop"
    shop.mkdir()
    (shop / "shop.py").write_text(source)
    (shop / "requirements.txt").write_text(needs)
    return shop


def files(bundle: Path) -> dict[str, Path]:
    return {str(path.relative_to(bundle)): path for path in bundle.rglob("*") if path.is_file()}


def plain(bundle: Path) -> set[str]:
    """Returns the files, without bytecode and installation records."""
    return {
        name
        for name in files(bundle)
        if not name.endswith((".so", ".pyc", "/RECORD", "/WHEEL", "/uv_cache.json"))
    }


def test_native_code_is_for_the_functions_own_machine(arm: Bundles):
    native = [path for name, path in files(arm.api).items() if name.endswith(".so")]
    assert native
    for path in native:
        assert int.from_bytes(path.read_bytes()[18:20], "little") == AARCH64
        assert "cpython-313-aarch64" in path.name


@pytest.mark.parametrize("name", ["api", "executor", "roles"])
def test_the_tested_functions_are_the_deployed_ones(arm: Bundles, here: Bundles, name: str):
    assert plain(getattr(arm, name)) == plain(getattr(here, name))


def test_only_the_api_has_pydantic_and_nobody_brings_boto3(arm: Bundles):
    packages = {
        name: {path.name for path in getattr(arm, name).iterdir() if path.is_dir()}
        for name in ("api", "executor", "roles")
    }
    assert "pydantic" in packages["api"]
    for name in ("executor", "roles"):
        assert not packages[name] & {"pydantic", "pydantic_core"}
    assert "httpx" in packages["executor"], "for handlers that use duetime.client"
    assert not (packages["api"] | packages["roles"]) & {"httpx", "urllib3"}
    for names in packages.values():
        assert not names & {"boto3", "botocore", "moto", "tests", "infra", "bin"}
        assert names >= {"lambdas", "duetime", "aws_lambda_powertools"}


@pytest.mark.parametrize("name", ["api", "executor", "roles"])
def test_clients_find_the_endpoints_of_our_services_and_no_others(arm: Bundles, name: str):
    aws, *_ = json.loads((getattr(arm, name) / ENDPOINTS).read_text())["partitions"]
    assert set(aws["services"]) == {"dynamodb", "streams.dynamodb", "lambda", "s3", "sqs", "ssm"}


@pytest.mark.parametrize("name", ["api", "executor", "roles"])
def test_clients_find_the_certificate_authorities_of_aws(arm: Bundles, name: str):
    assert (getattr(arm, name) / ROOTS).read_text() == roots.amazon_roots()


def test_the_api_has_the_manifest_and_the_executors_the_handlers(arm: Bundles):
    manifest = json.loads((arm.api / MANIFEST).read_text())
    assert {"demo.hello", "video.encode"} <= manifest["handlers"].keys()
    assert (arm.executor / "handlers" / "hello.py").is_file()
    assert not (arm.api / "handlers").exists()
    assert not (arm.roles / "handlers").exists()


def test_only_the_api_has_the_openapi_document_and_its_page(arm: Bundles):
    document = openapi.DOCUMENT_FILE.relative_to(ROOT)
    page = openapi.PAGE_FILE.relative_to(ROOT)
    assert (arm.api / document).read_bytes() == openapi.made_document()
    assert (arm.api / page).read_bytes() == openapi.made_page()
    for other in (arm.executor, arm.roles):
        assert not (other / document).exists()
        assert not (other / page).exists()


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_a_bundle_is_made_anew_only_when_something_changes(tmp_path: Path, arm: Bundles):
    handlers, machine = Handlers(folder=a_shop(tmp_path)), Machine.function("arm64")
    first = make_bundles(handlers, machine)
    assert first.roles.name == arm.roles.name
    assert first.executor.name != arm.executor.name
    assert make_bundles(handlers, machine) == first

    (handlers.folder / "shop.py").write_text(HANDLER.replace("'a'", "'b'"))
    second = make_bundles(handlers, machine)
    assert first.executor.exists()
    assert second.executor != first.executor
    assert [*json.loads((second.api / MANIFEST).read_text())["handlers"]] == ["b"]


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_a_file_that_the_requirements_include_counts_too(tmp_path: Path):
    handlers = Handlers(folder=a_shop(tmp_path, needs="-r more.in\n"))
    (handlers.folder / "more.in").write_text("idna==3.7\n")
    first = make_bundles(handlers, Machine.function("arm64"))
    (handlers.folder / "more.in").write_text("idna==3.8\n")
    second = make_bundles(handlers, Machine.function("arm64"))
    assert (first.executor / "idna-3.7.dist-info").exists()
    assert (second.executor / "idna-3.8.dist-info").exists()


@pytest.mark.usefixtures("elsewhere")
def test_a_file_that_the_executors_could_not_import(tmp_path: Path):
    shop = a_shop(tmp_path)
    (shop / "shop.py").rename(shop / "json.py")
    with pytest.raises(BadStage, match="'json' is the name of another module; rename the file"):
        make_bundles(Handlers(folder=shop), Machine.function("arm64"))


@pytest.fixture
def pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Hides every interpreter but uv's own."""
    monkeypatch.setattr(bundle, "PYTHONS", tmp_path / "pythons")
    monkeypatch.setattr(sys, "executable", _uv_alone(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for asked in (bundle.interpreter, bundle.fetch_interpreter):
        asked.cache_clear()
    yield tmp_path / "pythons"
    monkeypatch.undo()
    for asked in (bundle.interpreter, bundle.fetch_interpreter):
        asked.cache_clear()


def _uv_alone(folder: Path) -> str:
    """Makes an executable that runs `-m uv` and reports no Python version."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\n[ "$1" = -m ] && exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_an_interpreter_that_uv_has_fetched_compiles_the_bundles(pythons: Path):
    version = bundle.THIS_PYTHON
    assert bundle.interpreter("3.99") is None
    full = platform.python_version()
    kept = pythons / f"cpython-{full}-linux-{platform.machine()}-gnu"
    (kept / "bin").mkdir(parents=True)
    base = Path(sys.base_prefix, "bin", f"python{version}")
    (kept / "bin" / f"python{version}").symlink_to(base)
    bundle.interpreter.cache_clear()
    assert bundle.interpreter(version) == str(kept / "bin" / f"python{version}")


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere", "pythons")
def test_a_bundle_says_why_there_is_no_interpreter_and_is_made_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    monkeypatch.setenv("UV_PYTHON_INSTALL_MIRROR", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as the CDK does
    bundles = make_bundles(None, Machine.function("arm64"))
    said = capfd.readouterr().err
    assert said.startswith("Python 3.13 is needed to compile the bundles, and uv cannot fetch it")
    assert "refused" in said
    assert "\x1b" not in said
    assert len(said.splitlines()) == 1
    assert not list(bundles.roles.rglob("*.pyc"))


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_old_bundles_are_deleted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundle, "MAX_CACHED", 1)
    first = make_bundles(None, Machine.function("arm64"))
    monkeypatch.setattr(bundle, "NEEDED_BY_ALL", ("jmespath",))
    second = make_bundles(None, Machine.function("arm64"))
    assert second.roles.exists()
    assert not first.roles.exists()


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_requirements_of_the_handlers_come_along(tmp_path: Path):
    shop = a_shop(tmp_path, needs="requests==2.32.3\n")  # which the lock has in another version
    bundles = make_bundles(Handlers(folder=shop), Machine.function("arm64"))
    assert (bundles.executor / "requests").is_dir()
    assert not (bundles.api / "requests").exists()


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_bundles_have_opentelemetry_if_the_stage_sends_spans():
    traced = make_bundles(None, Machine.function("arm64"), traced=True)
    plain = make_bundles(None, Machine.function("arm64"))
    for name in ("api", "executor", "roles"):
        assert (getattr(traced, name) / "opentelemetry" / "exporter" / "otlp").is_dir()
        assert not (getattr(plain, name) / "opentelemetry").exists()


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_executors_have_pydantic_if_an_annotation_needs_it(tmp_path: Path):
    shop = a_shop(tmp_path, "from duetime import task\n@task('a')\ndef a(day: date): ...\n")
    bundles = make_bundles(Handlers(folder=shop), Machine.function("arm64"))
    assert (bundles.executor / "pydantic_core").is_dir()

    (shop / "requirements.txt").write_text("pydantic==2.12.0\n")
    pinned = make_bundles(Handlers(folder=shop), Machine.function("arm64"))
    assert (pinned.executor / "pydantic-2.12.0.dist-info").is_dir()


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_a_bundle_holds_the_locked_versions_whatever_the_handlers_need_beside(tmp_path: Path):
    shop = a_shop(tmp_path, needs="idna==3.7\n")
    bundles = make_bundles(Handlers(folder=shop), Machine.function("arm64"))
    locked = set(re.findall(r"^([\w.-]+)==([\w.]+)", bundle.VERSIONS.read_text(), re.MULTILINE))
    found = {
        tuple(path.name.removesuffix(".dist-info").replace("_", "-").rsplit("-", 1))
        for made in (bundles.api, bundles.executor, bundles.roles)
        for path in made.glob("*.dist-info")
    }
    assert found - locked == {("idna", "3.7")}


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_a_bundle_is_not_made_of_a_package_with_another_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """We do not name jmespath: powertools needs it."""
    lock = bundle.VERSIONS.read_text()
    [pin] = re.findall(r"^jmespath==(?:.*\\\n)*.*\n", lock, re.MULTILINE)
    other = tmp_path / "other.lock"
    other.write_text(lock.replace(pin, re.sub("sha256:.{4}", "sha256:0000", pin)))
    monkeypatch.setattr(bundle, "VERSIONS", other)
    with pytest.raises(BadStage, match="Hash mismatch for `jmespath"):
        make_bundles(None, Machine.function("arm64"))


@pytest.mark.parametrize(
    ("source", "needs", "said"),
    [
        ("x = 1\n", "", "handlers: "),
        (HANDLER.replace("'a'", "NAME"), "", "shop.py:2"),
        (HANDLER, "no-such-package-of-anybody==99\n", "The executor bundle cannot be built: "),
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_handlers_that_cannot_be_bundled(tmp_path: Path, source: str, needs: str, said: str):
    shop = a_shop(tmp_path, source, needs)
    with pytest.raises(BadStage) as refused:
        make_bundles(Handlers(folder=shop), Machine.function("arm64"))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
