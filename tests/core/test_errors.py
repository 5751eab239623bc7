import pytest

from lambdas.core import errors

ALL = [value for value in vars(errors).values() if isinstance(value, type)]


@pytest.mark.parametrize("error", ALL)
def test_every_error_is_in_the_tree_and_in_its_drawing(error):
    assert issubclass(error, errors.DuetimeError)
    assert error.__name__ in errors.__doc__


def test_errors_carry_what_they_are_about():
    assert errors.Corrupt("task 01K", "no target").item == "task 01K"
    assert errors.DataInUse("/data").path == "/data"
