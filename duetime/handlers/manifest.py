"""The manifest of an app: its handlers, their defaults, and the schedules that it declares.

The API refuses a task whose handler does not exist, and fills in the defaults of those that do. A
deployed API has no handlers to import, so its bundle has their manifest as a file::

    {
      "app": "shop",
      "handlers": {"shop.restock": {"defaults": {"priority": "low"}, "source": "shop.py:12",
                                    "doc": "Orders what is missing.", "payload_schema": {…}}},
      "schedules": [{"name": "shop.restock", "rule": {…}, "task": {…}, "source": "shop.py:12"}]
    }

The entries of `schedules` are those of `POST /v1/schedules/sync`.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from duetime.core.value import value
from duetime.handlers import registry
from duetime.handlers.defaults import Defaults
from duetime.handlers.handler import Handler
from duetime.handlers.registry import BadHandlers, HandlersNotFound

if TYPE_CHECKING:
    from duetime.handlers.discovery import Discovered, Place


@value(frozen=True, kw_only=True, slots=True)
class Manifest:
    app: str
    handlers: Mapping[str, Mapping[str, Any]]
    schedules: Sequence[Mapping[str, Any]]

    def json(self) -> dict[str, Any]:
        return {"app": self.app, "handlers": self.handlers, "schedules": self.schedules}


def read(source: str | Path, *, app: str | None = None, allow_empty: bool = False) -> Manifest:
    """Reads the manifest of a folder, a file or a module of handlers, without importing them. A
    folder needs a handler, unless `allow_empty` is true.

    Raises HandlersNotFound, or BadHandlers with the file and line of what cannot be read."""
    from duetime.handlers.app_names import app_name
    from duetime.handlers.discovery import handlers_in, handlers_of

    path = Path(source)
    if not path.exists():
        path = _module_path(str(source))
    found = handlers_in(path, allow_empty=allow_empty) if path.is_dir() else handlers_of([path])
    root = path if path.is_dir() else path.parent
    return manifest_of(found, root, app=app or app_name(source))


def registered(roots: Iterable[Path] = (), *, app: str) -> Manifest:
    """Returns the manifest of the handlers that this process has registered. Their schedules must
    be literals all the same: the source is read, and must say what the handlers say. Their payloads
    must fit the handlers.

    Places are relative to the first of the `roots` that holds the file."""
    from duetime.handlers.discovery import bad_source, handlers_of, refusing_misfits

    scheduled = [h for h in registry.handlers().values() if h.schedules]
    places = {handler.name: place_of(handler) for handler in scheduled}
    files = sorted({file for file, _ in places.values()})
    found = {one.name: one for one in handlers_of(files, scheduled=True)}
    for handler in scheduled:
        read_schedules = found[handler.name].schedules if handler.name in found else ()
        if tuple(schedule for schedule, _ in read_schedules) != handler.schedules:
            reason = f"the schedule of handler {handler.name!r} cannot be read from the source"
            raise bad_source(places[handler.name], f"{reason}: give literals to task(…)")
        for schedule, place in read_schedules:
            with refusing_misfits(place):
                handler.check(schedule.payload)
    ours = [found[handler.name] for handler in scheduled]
    resolved = [root.resolve() for root in roots]
    return manifest_of(sorted(ours, key=lambda one: one.name), *resolved, app=app)


def manifest_of(found: Iterable["Discovered"], *roots: Path, app: str) -> Manifest:
    """Returns the manifest of handlers whose files are below the roots."""
    found = list(found)
    return Manifest(
        app=app,
        handlers={one.name: _entry(one, roots) for one in found},
        schedules=[
            {**schedule.body(one.name), "source": _source(place, roots)}
            for one in found
            for schedule, place in one.schedules
        ],
    )


def _entry(one: "Discovered", roots: Sequence[Path]) -> dict[str, Any]:
    known = {"doc": one.doc, "payload_schema": one.payload_schema}
    return {
        "defaults": one.defaults,
        "source": _source(one.place, roots),
        **{name: found for name, found in known.items() if found is not None},
    }


def load(file: Path) -> Manifest:
    """Reads a manifest from a file, or the list of names that earlier releases wrote."""
    if not file.is_file():
        raise HandlersNotFound(f"handlers: there is no file '{file}'")
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadHandlers(f"handlers: {file}: {error}") from error
    match content:
        case list() if all(isinstance(name, str) for name in content):
            return Manifest(app="", handlers={name: {} for name in content}, schedules=[])
        case {"handlers": dict() as found} if all(isinstance(f, dict) for f in found.values()):
            return Manifest(
                app=content.get("app", ""),
                handlers=found,
                schedules=content.get("schedules", []),
            )
    raise BadHandlers(f"handlers: {file} is not a manifest of handlers")


def defaults_in(manifest: Manifest) -> dict[str, Defaults]:
    """Returns the name of every handler, with the defaults of its tasks."""
    return {name: fields.get("defaults", {}) for name, fields in manifest.handlers.items()}


def place_of(handler: Handler[..., Any]) -> "Place":
    """Returns where a registered handler begins."""
    code = inspect.unwrap(cast(Callable[..., Any], handler)).__code__
    return Path(code.co_filename).resolve(), code.co_firstlineno


def _source(place: "Place", roots: Sequence[Path]) -> str:
    file, line = place
    root = next((root for root in roots if file.is_relative_to(root)), file.parent)
    return f"{file.relative_to(root).as_posix()}:{line}"


def _module_path(name: str) -> Path:
    """Returns the file or the folder of a module, without importing its parents."""
    import sys
    from importlib.machinery import PathFinder

    top, *rest = name.split(".")
    spec = PathFinder.find_spec(top, [str(Path.cwd()), *sys.path]) if top else None
    if spec is not None:
        folders = list(spec.submodule_search_locations or [])
        path = Path(folders[0], *rest) if folders else Path(str(spec.origin))
        if path.is_dir():
            return path
        file = path if path.suffix == ".py" else path.with_suffix(".py")
        if file.is_file():
            return file
    raise HandlersNotFound(f"handlers: there is no folder, file or module {name!r}")
