"""The source code of imported modules, kept as it was when Python imported them.

With `duetime local --reload` a file may have changed since its import, and may be broken. A child
process, which runs an isolated handler, then imports the kept text instead of the file.
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from duetime.core.value import value

Stamp = tuple[int, int, int]  # changes with the file


@value(frozen=True, kw_only=True, slots=True)
class KeptModule:
    name: str
    path: str
    package: bool
    text: bytes


_kept: tuple[KeptModule, ...] = ()


def keep(modules: Iterable[KeptModule]) -> None:
    """Has every child that starts from now on import these modules."""
    global _kept  # noqa: PLW0603 - the modules of a process are global too
    _kept = tuple(modules)


def kept() -> tuple[KeptModule, ...]:
    return _kept


def stamp_of(path: str) -> Stamp | None:
    """Returns None for a file that does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class RecordingFinder(MetaPathFinder):
    """Imports the modules whose file `is_own` accepts, and records what it has read.

    It compiles each file. Python's bytecode cache takes a file for unchanged if it has the same
    size and was written in the same second."""

    def __init__(self, is_own: Callable[[Path], bool]) -> None:
        self.modules: dict[str, KeptModule] = {}
        self.stamps: dict[str, Stamp | None] = {}  # by path, from before the file was read
        self._is_own = is_own

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return None
        if not self._is_own(Path(spec.origin)):
            return None
        package = spec.submodule_search_locations is not None
        spec.loader = _Loader(
            name, spec.origin, lambda: self._read(name, str(spec.origin), package)
        )
        return spec

    def _read(self, name: str, path: str, package: bool) -> bytes:
        self.stamps[path] = stamp_of(path)
        text = Path(path).read_bytes()
        self.modules[name] = KeptModule(name=name, path=path, package=package, text=text)
        return text


class KeptFinder(MetaPathFinder):
    """Imports kept modules, whatever their files contain now."""

    def __init__(self, modules: Iterable[KeptModule]) -> None:
        self._modules = {module.name: module for module in modules}

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        module = self._modules.get(name)
        if module is None:
            return None
        folder = [str(Path(module.path).parent)] if module.package else None
        loader = _Loader(name, module.path, lambda: module.text)
        return spec_from_file_location(
            name, module.path, loader=loader, submodule_search_locations=folder
        )


def import_from(modules: Sequence[KeptModule]) -> None:
    """Has this process import these modules from their kept text."""
    if modules:
        sys.meta_path.insert(0, KeptFinder(modules))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, read: Callable[[], bytes]) -> None:
        super().__init__(name, path)
        self._read = read

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self._read(), self.path)
