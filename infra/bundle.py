"""What the functions run: our code, the few libraries it needs, and the handlers.

Three bundles: the API's has pydantic and the handlers' names, the executors' has the handlers and
what they need, the scanner and the relay share the third. Wheels are fetched for the functions'
own platform, so no Docker is needed. A bundle is made once and kept under .cache/bundles until
something that goes into it changes.
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

from infra.stage import BadStage, Handlers
from lambdas.aws.endpoints import FILE as ENDPOINTS
from lambdas.aws.endpoints import our_endpoints
from lambdas.handler_names import names_in
from lambdas.registry import BadHandlers, HandlersNotFound

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "bundles"
PYTHONS = ROOT / ".cache" / "python"  # what uv has fetched
VERSIONS = ROOT / "requirements.lock"

# boto3 and botocore are those of Lambda's own runtime: they would be nine tenths of a bundle.
NEEDED_BY_ALL = ("aws-lambda-powertools",)
NEEDED_BY_API = ("pydantic",)
NEEDED_FOR_SCHEDULES = ("croniter", "tzdata")
NEEDED_BY_EXECUTOR = ("urllib3", "httpx")  # httpx: a handler may use duetime.client

PYTHON = "3.13"  # of the functions
THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HANDLERS = "handlers"  # the folder in the executors' bundle
HANDLER_NAMES = "handlers.json"  # in the API's
OUR_MODULES = {"lambdas", "duetime", "aws_lambda_powertools", "boto3", "botocore", "urllib3"}
WHERE_IT_RUNS = "/var/task"
KEPT = 4  # bundles of each name
LOCKED = re.compile(r"^([\w.-]+)==(?:.*\\\n)*.*\n", re.MULTILINE)  # a pin with its hashes
INCLUDED = re.compile(r"(?:-r|-c|--requirement|--constraint)[ =]*(\S+)")

NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.egg-info")
PLATFORMS = {"arm64": "aarch64-manylinux_2_34", "x86_64": "x86_64-manylinux_2_34"}  # AL2023


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What a bundle is made for."""

    python: str  # such as 3.13
    platform: str | None = None  # as uv names it; else the one we run on

    @classmethod
    def function(cls, architecture: str) -> "Machine":
        return cls(python=PYTHON, platform=PLATFORMS[architecture])

    @classmethod
    def this(cls) -> "Machine":
        """The one we run on, to try a bundle: with the functions' own Python if there is one."""
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
    handler_names: tuple[str, ...] | None = None


def make_bundles(handlers: Handlers | None, machine: Machine) -> Bundles:
    if interpreter(machine.python) is None and (reason := fetch_interpreter(machine.python)):
        note = f"Python {machine.python} is not here to compile the bundles, and uv cannot fetch it"
        print(f"{note} ({reason}): cold starts take longer.", file=sys.stderr)
    names = _names(handlers)
    api = _Contents(
        name="api",
        needs=(*NEEDED_BY_ALL, *NEEDED_FOR_SCHEDULES, *NEEDED_BY_API),
        handler_names=names,
    )
    executor = _Contents(
        name="executor",
        needs=(*NEEDED_BY_ALL, *NEEDED_BY_EXECUTOR),
        requirements=handlers.needs if handlers else None,
        handlers=handlers.folder if handlers else None,
    )
    roles = _Contents(name="roles", needs=(*NEEDED_BY_ALL, *NEEDED_FOR_SCHEDULES))
    made = (_made(contents, machine) for contents in (api, executor, roles))
    return Bundles(**{path.parent.name: path for path in made})


def _names(handlers: Handlers | None) -> tuple[str, ...]:
    if handlers is None:
        return ()
    _check_files(handlers.folder)
    try:
        return tuple(names_in(handlers.folder))
    except (HandlersNotFound, BadHandlers) as error:
        raise BadStage(f"{error}.") from error


def _check_files(folder: Path) -> None:
    """What would keep the executors from importing them, as far as their names tell."""
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
                if not made.exists():  # else another was faster
                    raise
    made.touch()
    _forget_older_than(made)
    return made


def _forget_older_than(made: Path) -> None:
    by_age = sorted(made.parent.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in by_age[:-KEPT]:
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
    endpoints.parent.mkdir()
    endpoints.write_text(json.dumps(our_endpoints(), separators=(",", ":")))
    if contents.handlers is not None:
        shutil.copytree(contents.handlers, folder / HANDLERS, ignore=NOT_COPIED)
    if contents.handler_names is not None:
        (folder / HANDLER_NAMES).write_text(json.dumps(contents.handler_names))


def _sources() -> Sequence[Path]:
    """Of `duetime` only what a handler imports."""
    return (ROOT / "lambdas", ROOT / "duetime" / "__init__.py", ROOT / "duetime" / "client")


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
        # Handlers pin what they need themselves; only what we name stays as it is locked.
        theirs = ["--constraint", "-", "--requirement", str(contents.requirements)]
        _run(contents, [*command, *contents.needs, *theirs], locked)
    for path in (folder / "bin", folder / ".lock"):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _run(contents: _Contents, command: Sequence[str], given: str) -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        told = " ".join(done.stderr.split())
        raise BadStage(f"The {contents.name} bundle cannot be made: {told}")


def _locked(names: Sequence[str]) -> str:
    """The lines of the lock file that pin these packages, with their hashes."""
    found = {pin[1]: pin[0] for pin in LOCKED.finditer(VERSIONS.read_text())}
    return "".join(found[name] for name in names)


def _compile(folder: Path, machine: Machine) -> None:
    """A function cannot keep what it compiles, so without this each cold start does it again."""
    python = interpreter(machine.python)
    if python is None:
        return
    command = [python, "-m", "compileall", "-q", "-s", str(folder), "-p", WHERE_IT_RUNS]
    command += ["--invalidation-mode", "unchecked-hash", str(folder)]
    subprocess.run(command, check=True)


@cache
def interpreter(version: str) -> str | None:
    """One of that version. A name on the path may be a shim that leads nowhere."""
    for candidate in (sys.executable, shutil.which(f"python{version}")):
        if candidate and _version_of(candidate) == version:
            return candidate
    fetched = _uv_python("find", "--managed-python", "--system", "--no-project", version)
    return fetched.stdout.strip() or None


@cache
def fetch_interpreter(version: str) -> str | None:
    """Lets uv fetch one, for `interpreter` to find; why it cannot, or None. Asks the network once
    in a process."""
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
    """Of everything that goes into a bundle, and of how it is made."""
    digest = blake2b(digest_size=10)
    compiled = interpreter(machine.python) is not None
    how = (contents.needs, contents.handler_names, machine, compiled, botocore.__version__)
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
