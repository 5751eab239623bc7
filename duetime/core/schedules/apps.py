"""The apps that declare schedules in code, and the generations of their syncs.

An app takes a generation, a number that grows, and then syncs its declarations with it. Only the
highest generation that has begun to sync may write: every write of a sync has the condition that
its generation is still the current one. So a sync of an old deployment that was held up cannot
overwrite a newer one, and a rollback, which takes a new number, can.

All apps are one small document that is replaced as a whole, by its revision. So two apps that
declare schedules of the same handler at the same time cannot both begin.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace

from duetime.core.codec import from_json, to_json
from duetime.core.errors import DuetimeError
from duetime.core.value import value


class SyncConflict(DuetimeError):
    """A sync of declared schedules that the state of the apps forbids."""


class Superseded(SyncConflict):
    """A newer generation of the app has begun to sync."""

    def __init__(self, app: str, generation: int) -> None:
        super().__init__(
            f"generation {generation} of app {app!r} is not the current one: a newer deployment"
            " has synced its schedules"
        )


class HandlerClaimed(SyncConflict):
    """Another app declares schedules of the same handler."""


@value(frozen=True, kw_only=True, slots=True)
class App:
    taken: int = 0  # the highest generation that was handed out
    current: int = 0  # the highest generation that has begun to sync
    digest: str = ""  # of the declarations of the current generation
    handlers: Mapping[str, str] = field(default_factory=dict)  # with schedules; and where
    schedules: tuple[str, ...] = ()  # the ids that its syncs may have stored


@value(frozen=True, kw_only=True, slots=True)
class Apps:
    by_name: Mapping[str, App] = field(default_factory=dict)
    revision: int = 0
    nonce: str = ""  # of the writer: two writers may want the same apps, and one must lose

    def get(self, name: str) -> App:
        return self.by_name.get(name, App())

    def with_app(self, name: str, app: App) -> "Apps":
        return Apps(by_name={**self.by_name, name: app}, revision=self.revision + 1)


def take_generation(apps: Apps, name: str) -> Apps:
    app = apps.get(name)
    return apps.with_app(name, replace(app, taken=app.taken + 1))


def begin_sync(
    apps: Apps,
    name: str,
    generation: int,
    *,
    digest: str,
    handlers: Mapping[str, str],
    schedules: Iterable[str],
) -> Apps:
    """Makes a generation the current one. The ids of its schedules are stored before the schedules
    are, so that a sync that dies leaves none that a later one cannot find."""
    check_sync(apps, name, generation, digest=digest, handlers=handlers)
    begun = replace(
        apps.get(name),
        current=generation,
        digest=digest,
        handlers=handlers,
        schedules=tuple(sorted({*apps.get(name).schedules, *schedules})),
    )
    return apps if begun == apps.get(name) else apps.with_app(name, begun)


def check_sync(
    apps: Apps, name: str, generation: int, *, digest: str, handlers: Mapping[str, str]
) -> None:
    """Raises SyncConflict if the generation must not sync."""
    app = apps.get(name)
    if generation > app.taken:
        raise SyncConflict(f"generation {generation} of app {name!r} was never taken")
    if generation < app.current:
        raise Superseded(name, generation)
    if generation == app.current and digest != app.digest:
        raise SyncConflict(
            f"generation {generation} of app {name!r} has synced other schedules: take a new one"
        )
    for other, claim in apps.by_name.items():
        both = sorted(claim.handlers.keys() & handlers.keys()) if other != name else ()
        if both:
            raise HandlerClaimed(
                f"handler {both[0]!r} is declared by app {other!r} at {claim.handlers[both[0]]},"
                f" and by app {name!r} at {handlers[both[0]]}"
            )


def finish_sync(apps: Apps, name: str, generation: int, schedules: Iterable[str]) -> Apps:
    """Forgets the ids of schedules that are gone or not the app's any more."""
    app = apps.get(name)
    kept = tuple(sorted(schedules))
    if app.current != generation or app.schedules == kept:
        return apps
    return apps.with_app(name, replace(app, schedules=kept))


def encode_apps(apps: Apps) -> str:
    return to_json([apps.nonce, {name: asdict(app) for name, app in apps.by_name.items()}])


def decode_apps(text: str, revision: int) -> Apps:
    nonce, found = from_json(text)
    apps = {n: App(**{**f, "schedules": tuple(f["schedules"])}) for n, f in found.items()}
    return Apps(by_name=apps, revision=revision, nonce=nonce)
