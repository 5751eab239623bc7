import importlib
import pkgutil

import pytest

import duetime
from duetime.core import errors
from duetime.core.errors import DuetimeError


def every_error(base: type) -> set[type]:
    found = set(base.__subclasses__())
    return found | {error for sub in found for error in every_error(sub)}


for module in pkgutil.walk_packages(duetime.__path__, "duetime."):
    if not module.name.endswith(("__main__", ".moto_backend")):
        importlib.import_module(module.name)

OURS = sorted(
    (e for e in every_error(DuetimeError) if e.__module__.partition(".")[0] == "duetime"),
    key=lambda error: error.__name__,
)


@pytest.mark.parametrize("error", [DuetimeError, errors.Stopped, *OURS], ids=lambda e: e.__name__)
def test_every_error_of_the_package_is_in_the_drawing(error):
    assert error.__name__ in errors.__doc__.split()


def test_errors_that_handlers_raise_or_meet_are_imported_from_the_package():
    public = {name for name in duetime.__all__ if hasattr(errors, name)}
    assert "Unavailable" in public
    assert {getattr(duetime, name).__module__ for name in public} == {"duetime"}


def test_errors_have_their_subject_as_a_field():
    assert errors.Corrupt("task 01K", "no target").item == "task 01K"
    assert errors.DataInUse("/data").path == "/data"
