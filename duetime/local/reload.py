"""`duetime local --reload`: imports handlers again after their files have changed.

The new modules replace the old ones in one step, after all of them have been imported. Attempts
that run keep the functions that they began with, and with them the old modules. If a file cannot be
imported, nothing is replaced.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

import duetime
from duetime.core.errors import DuetimeError
from duetime.core.value import value
from duetime.handlers import registry, sources
from duetime.handlers.sources import RecordingFinder, Stamp

LIBRARIES = frozenset({"site-packages", "dist-packages"})
SKIPPED_FOLDERS = LIBRARIES | {"__pycache__", "node_modules"}
DUETIME = Path(duetime.__file__).parent


class NotReloaded(DuetimeError):
    """Raised if changed handlers cannot be imported. The ones before stay in use."""


@value(frozen=True, kw_only=True, slots=True)
class Reloaded:
    names: frozenset[str]
    added: frozenset[str]
    removed: frozenset[str]


@value(frozen=True, kw_only=True, slots=True)
class Root:
    """A folder from which handlers are imported. `deep`: it is watched with its subfolders."""

    folder: Path
    deep: bool

    def files(self) -> Iterator[str]:
        for folder, subfolders, files in os.walk(self.folder):
            subfolders[:] = [f for f in subfolders if _is_watched(folder, f)] if self.deep else []
            yield from (os.path.join(folder, file) for file in files if file.endswith(".py"))


class Reloader:
    """Call `load` once and `poll` now and then, from one thread."""

    def __init__(self, given: Sequence[str]) -> None:
        # As they are now: a handler, or its import, may change the working directory.
        self._sources = [str(Path(s).absolute()) if Path(s).exists() else s for s in given]
        self._roots = [root for source in self._sources if (root := _root(source))]
        self._files: set[str] = set()  # imported now or before: none of them leaves the watch
        self._finder = RecordingFinder(self._is_own)
        self._tried: Mapping[str, Stamp] = {}  # the files as they were at the latest import
        self._changing: Mapping[str, Stamp] | None = None

    def load(self) -> list[str]:
        """Imports the handlers for the first time. Returns the sources that register none. Raises
        HandlersNotFound or BadHandlers."""
        return self._import(RecordingFinder(self._is_own))

    def poll(self) -> Reloaded | None:
        """Imports the handlers again if a file has changed since the last import, but not since
        the last call: it may still be written. Raises NotReloaded."""
        now = self._stamps()
        if now == self._tried:
            self._changing = None
            return None
        if now != self._changing:
            self._changing = now
            return None
        return self._reload()

    def _reload(self) -> Reloaded:
        before = registry.names()
        old = self._finder
        modules = {n: m for n in old.modules if (m := sys.modules.pop(n, None)) is not None}
        finder = RecordingFinder(self._is_own)
        try:
            self._import(finder)
        except BaseException as error:
            _restore(modules, finder.modules)
            _use(old, instead_of=finder)
            if isinstance(error, DuetimeError):
                raise NotReloaded(self._reason(error)) from error
            raise
        after = registry.names()
        return Reloaded(names=after, added=after - before, removed=before - after)

    def _import(self, finder: RecordingFinder) -> list[str]:
        before = self._stamps()
        replaced = self._finder.modules
        _use(finder, instead_of=self._finder)
        try:
            with registry.replacing(replaced):
                empty = [source for source in self._sources if not registry.load(source)]
        finally:
            self._files.update(finder.stamps)
            read = {path: stamp for path, stamp in finder.stamps.items() if stamp is not None}
            self._tried = {**before, **read}
        self._finder = finder
        sources.keep(finder.modules.values())
        return empty

    def _stamps(self) -> dict[str, Stamp]:
        paths = self._files.union(*(root.files() for root in self._roots))
        return {path: stamp for path in paths if (stamp := sources.stamp_of(path)) is not None}

    def _is_own(self, file: Path) -> bool:
        """Whether a module belongs to the handlers: not a library, and not Duetime itself."""
        if not LIBRARIES.isdisjoint(file.parts) or file.is_relative_to(DUETIME):
            return False
        return any(file.resolve().is_relative_to(root.folder) for root in self._roots)

    def _reason(self, error: DuetimeError) -> str:
        text = str(error).removeprefix("handlers: ")
        for source in self._sources:
            text = text.removeprefix(f"{source}: ")
        return text


def _root(source: str) -> Root | None:
    path = Path(source)
    if path.is_dir():
        return Root(folder=path.resolve(), deep=True)
    if path.is_file():
        return Root(folder=path.resolve().parent, deep=False)
    top = source.partition(".")[0]
    spec = PathFinder.find_spec(top, [str(Path.cwd()), *sys.path]) if top else None
    if spec is None:
        return None  # the first import says that there is no such module
    if spec.submodule_search_locations:
        return Root(folder=Path(next(iter(spec.submodule_search_locations))).resolve(), deep=True)
    return Root(folder=Path(str(spec.origin)).resolve().parent, deep=False)


def _is_watched(folder: str, name: str) -> bool:
    """Leaves out hidden folders and virtual environments, which have thousands of files."""
    if name.startswith(".") or name in SKIPPED_FOLDERS:
        return False
    return not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _use(finder: RecordingFinder, *, instead_of: RecordingFinder) -> None:
    others = [found for found in sys.meta_path if found is not instead_of and found is not finder]
    sys.meta_path[:] = [finder, *others]


def _restore(modules: Mapping[str, ModuleType], failed: Iterable[str]) -> None:
    for name in failed:
        sys.modules.pop(name, None)
    sys.modules.update(modules)
    for name, module in modules.items():
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)
