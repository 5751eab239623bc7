"""The bundles that the functions run: our code, the few libraries it needs, and the handlers.

There are three: the API's has pydantic, the manifest of the handlers and the OpenAPI document, the
executors' has the handlers and their requirements (and pydantic if an annotation may need it), and
the scanner and the relay share the third.
Wheels are fetched for the functions' platform, so Docker is not needed. A bundle is built once and
cached under .cache/bundles until one of its inputs changes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import botocore

from duetime.api.openapi import resource as openapi
from duetime.aws.botocore_endpoints import FILE as ENDPOINTS
from duetime.aws.botocore_endpoints import our_endpoints
from duetime.aws.root_certificates import FILE as ROOTS
from duetime.aws.root_certificates import amazon_roots
from duetime.handlers.app_names import app_name
from duetime.handlers.discovery import Discovered, handlers_in
from duetime.handlers.manifest import manifest_of
from duetime.handlers.registry import BadHandlers, HandlersNotFound
from infra.stage import BadStage, Handlers

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "bundles"
PYTHONS = ROOT / ".cache" / "python"  # fetched by uv
VERSIONS = ROOT / "requirements.lock"

# boto3 and botocore come from Lambda's runtime: they would be nine tenths of a bundle.
NEEDED_BY_ALL = ("aws-lambda-powertools",)
NEEDED_BY_API = ("pydantic",)
NEEDED_FOR_SCHEDULES = ("croniter", "tzdata")
NEEDED_BY_EXECUTOR = ("urllib3", "httpx")  # httpx: a handler may use duetime.client
NEEDED_BY_TYPED = ("pydantic",)  # handlers
NEEDED_BY_TRACES = (
    "opentelemetry-api",
    "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry-sdk",
)

PYTHON = "3.13"  # of the functions
THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HANDLERS = "handlers"  # the folder in the executors' bundle
MANIFEST = "handlers.json"  # in the API's bundle
OUR_MODULES = {"lambdas", "duetime", "aws_lambda_powertools", "boto3", "botocore", "urllib3"}
LOCAL_ONLY = {"__main__.py", "__pycache__", "cli", "local", "sqlite", "terminal.py", "testing"}
WHERE_IT_RUNS = "/var/task"
MAX_CACHED = 4  # bundles of each name
LOCKED = re.compile(r"^([\w.-]+)==(?:.*\\\n)*.*\n", re.MULTILINE)  # a pin with its hashes
PYDANTIC = re.compile(r"^pydantic\b", re.MULTILINE | re.IGNORECASE)
INCLUDED = re.compile(r"(?:-r|-c|--requirement|--constraint)[ =]*(\S+)")

NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.egg-info")
PLATFORMS = {"arm64": "aarch64-manylinux_2_34", "x86_64": "x86_64-manylinux_2_34"}  # AL2023


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """The platform that a bundle is built for."""

    python: str  # such as 3.13
    platform: str | None = None  # as uv names it; None for this machine

    @classmethod
    def function(cls, architecture: str) -> "Machine":
        return cls(python=PYTHON, platform=PLATFORMS[architecture])

    @classmethod
    def this(cls) -> "Machine":
        """This machine, to test a bundle: with the functions' Python version if it is installed."""
        return cls(python=PYTHON if interpreter(PYTHON) else THIS_PYTHON)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundles:
    api: Path
    executor: Path
    roles: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class _Contents:
    name: str
    needs: tuple[str, ...]
    requirements: Path | None = None
    handlers: Path | None = None
    manifest: str | None = None  # JSON
    documented: bool = False  # whether it has the OpenAPI document and its page


def make_bundles(handlers: Handlers | None, machine: Machine, *, traced: bool = False) -> Bundles:
    """`traced`: the API, the scanner and the executors send spans with OpenTelemetry."""
    if interpreter(machine.python) is None and (reason := fetch_interpreter(machine.python)):
        note = f"Python {machine.python} is needed to compile the bundles, and uv cannot fetch it"
        print(f"{note} ({reason}). Cold starts take longer.", file=sys.stderr)
    found = _found(handlers)
    traces = NEEDED_BY_TRACES if traced else ()
    api = _Contents(
        name="api",
        needs=(*NEEDED_BY_ALL, *NEEDED_FOR_SCHEDULES, *NEEDED_BY_API, *traces),
        manifest=_manifest(found, handlers),
        documented=True,
    )
    executor = _Contents(
        name="executor",
        needs=(*NEEDED_BY_ALL, *NEEDED_BY_EXECUTOR, *_converters(found, handlers), *traces),
        requirements=handlers.needs if handlers else None,
        handlers=handlers.folder if handlers else None,
    )
    roles = _Contents(name="roles", needs=(*NEEDED_BY_ALL, *NEEDED_FOR_SCHEDULES, *traces))
    made = (_made(contents, machine) for contents in (api, executor, roles))
    return Bundles(**{path.parent.name: path for path in made})


def _found(handlers: Handlers | None) -> list[Discovered]:
    if handlers is None:
        return []
    _check_files(handlers.folder)
    try:
        return handlers_in(handlers.folder)
    except (HandlersNotFound, BadHandlers) as error:
        raise BadStage(f"{error}.") from error


def _manifest(found: Sequence[Discovered], handlers: Handlers | None) -> str:
    if handlers is None:
        return json.dumps(manifest_of([], app="").json())
    app = handlers.app or app_name(handlers.folder)
    return json.dumps(manifest_of(found, handlers.folder, app=app).json())


def _converters(found: Sequence[Discovered], handlers: Handlers | None) -> tuple[str, ...]:
    """Returns what converts payloads to annotated types, unless the handlers pin it themselves."""
    if handlers is None or not any(handler.typed for handler in found):
        return ()
    files = [*_with_included(handlers.needs)] if handlers.needs else []
    pinned = any(PYDANTIC.search(file.read_text()) for file in files)
    return () if pinned else NEEDED_BY_TYPED


def _check_files(folder: Path) -> None:
    """Raise BadStage for a file that the executors could not import because of its name."""
    for file in sorted(folder.glob("*.py")):
        if file.stem in sys.stdlib_module_names or file.stem in OUR_MODULES:
            name = f"{file.stem!r} is the name of another module; rename the file"
            raise BadStage(f"handlers: {file}: {name}.")


def _made(contents: _Contents, machine: Machine) -> Path:
    made = CACHE / contents.name / _digest(contents, machine)
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as scratch:
            folder = Path(scratch, "bundle")
            _make(contents, machine, folder)
            _compile(folder, machine)
            try:
                folder.rename(made)
            except OSError:
                if not made.exists():  # else another process was faster
                    raise
    made.touch()
    _delete_older_than(made)
    return made


def _delete_older_than(made: Path) -> None:
    by_age = sorted(made.parent.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in by_age[:-MAX_CACHED]:
        shutil.rmtree(path)


def _make(contents: _Contents, machine: Machine, folder: Path) -> None:
    _install(contents, machine, folder)
    for source in _sources():
        target = folder / source.relative_to(ROOT)
        if source.is_dir():
            shutil.copytree(source, target, ignore=NOT_COPIED)
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)
    endpoints = folder / ENDPOINTS.relative_to(ROOT)
    endpoints.parent.mkdir(exist_ok=True)
    endpoints.write_text(json.dumps(our_endpoints(), separators=(",", ":")))
    (folder / ROOTS.relative_to(ROOT)).write_text(amazon_roots())
    if contents.handlers is not None:
        shutil.copytree(contents.handlers, folder / HANDLERS, ignore=NOT_COPIED)
    if contents.manifest is not None:
        (folder / MANIFEST).write_text(contents.manifest)
    if contents.documented:
        (folder / openapi.DOCUMENT_FILE.relative_to(ROOT)).write_bytes(openapi.made_document())
        (folder / openapi.PAGE_FILE.relative_to(ROOT)).write_bytes(openapi.made_page())


def _sources() -> Sequence[Path]:
    """Returns the entry points, and `duetime` without the parts that only run on one machine."""
    package = (path for path in sorted((ROOT / "duetime").iterdir()) if path.name not in LOCAL_ONLY)
    modules = [path for path in package if path.is_dir() or path.suffix == ".py"]
    return (ROOT / "lambdas", *modules)


def _install(contents: _Contents, machine: Machine, folder: Path) -> None:
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--link-mode", "copy"]
    command += ["--target", str(folder), "--only-binary", ":all:"]
    command += ["--python-version", machine.python]
    if machine.platform is not None:
        command += ["--python-platform", machine.platform]
    locked = _locked(contents.needs)
    ours = ["--require-hashes", "--constraint", str(VERSIONS), "--requirement", "-"]
    _run(contents, [*command, *ours], locked)
    if contents.requirements is not None:
        # Handlers pin their own requirements; only our own requirements stay as locked.
        theirs = ["--constraint", "-", "--requirement", str(contents.requirements)]
        _run(contents, [*command, *contents.needs, *theirs], locked)
    for path in (folder / "bin", folder / ".lock"):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _run(contents: _Contents, command: Sequence[str], given: str) -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stderr.split())
        raise BadStage(f"The {contents.name} bundle cannot be built: {reason}")


def _locked(names: Sequence[str]) -> str:
    """Returns the lines of the lock file that pin these packages, with their hashes."""
    found = {pin[1]: pin[0] for pin in LOCKED.finditer(VERSIONS.read_text())}
    return "".join(found[name] for name in names)


def _compile(folder: Path, machine: Machine) -> None:
    """Compile the bundle: a function cannot store bytecode, so each cold start would compile."""
    python = interpreter(machine.python)
    if python is None:
        return
    command = [python, "-m", "compileall", "-q", "-s", str(folder), "-p", WHERE_IT_RUNS]
    command += ["--invalidation-mode", "unchecked-hash", str(folder)]
    subprocess.run(command, check=True)


@cache
def interpreter(version: str) -> str | None:
    """Returns an interpreter of that version. One on the path is run: it may be an empty shim."""
    for candidate in (sys.executable, shutil.which(f"python{version}")):
        if candidate and _version_of(candidate) == version:
            return candidate
    fetched = _uv_python("find", "--managed-python", "--system", "--no-project", version)
    return fetched.stdout.strip() or None


@cache
def fetch_interpreter(version: str) -> str | None:
    """Let uv fetch an interpreter, for `interpreter` to find. Returns why it could not, or None.
    Uses the network once per process."""
    fetched = _uv_python("install", "--no-bin", version)
    interpreter.cache_clear()
    if fetched.returncode == 0:
        return None
    causes = [line.strip() for line in fetched.stderr.splitlines() if line.strip()]
    return causes[-1].removeprefix("cause: ") if causes else f"exit code {fetched.returncode}"


def _uv_python(*command: str) -> subprocess.CompletedProcess[str]:
    here = os.environ | {"UV_PYTHON_INSTALL_DIR": str(PYTHONS), "UV_HTTP_RETRIES": "1"}
    uv = [sys.executable, "-m", "uv", "--color", "never", "python", *command]
    return subprocess.run(uv, env=here, capture_output=True, text=True, check=False)


def _version_of(python: str) -> str:
    ask = "import sys; print(f'{sys.version_info.major}.{sys.version_info.minor}')"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _digest(contents: _Contents, machine: Machine) -> str:
    """Returns a digest of a bundle's inputs and of how it is built."""
    digest = blake2b(digest_size=10)
    compiled = interpreter(machine.python) is not None
    how = (contents.needs, contents.manifest, machine, compiled, botocore.__version__)
    digest.update(repr(how).encode())
    for name, path in _inputs(contents):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _with_included(requirements: Path) -> Iterator[Path]:
    yield requirements
    for line in requirements.read_text().splitlines():
        if found := INCLUDED.match(line):
            yield from _with_included(requirements.parent / found[1])


def _inputs(contents: _Contents) -> Iterator[tuple[str, Path]]:
    named = _with_included(contents.requirements) if contents.requirements else ()
    yield from ((file.name, file) for file in (VERSIONS, Path(__file__), *named))
    for source in (*_sources(), contents.handlers):
        if source is not None:
            paths = sorted(source.rglob("*")) if source.is_dir() else [source]
            kept = (p for p in paths if p.is_file() and "__pycache__" not in p.parts)
            yield from ((str(path.relative_to(source.parent)), path) for path in kept)
