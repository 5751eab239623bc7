"""The named parameters of a statement are found where the database would find them."""

import pytest

from duetime.core.sql_parameters import bound_values, names_in, replace_parameters


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("SELECT 1", []),
        ("SELECT :a, :b_1, :a", ["a", "b_1"]),
        ("SELECT ':a', \":b\", ''':c', :d", ["d"]),
        (r"SELECT E'it\'s :a', e':b', :c", ["c"]),
        ("SELECT :a -- :b\n, :c /* :d\n:e */", ["a", "c"]),
        ("SELECT $$ :a $$, $x$ $$ :b $x$, :c", ["c"]),
        ("SELECT :a::text, b::int, :c", ["a", "c"]),
        ("SELECT x[1:2], y[m:n], :1", []),
        ("WHERE a=:a AND(:b)", ["a", "b"]),
        ("SELECT 'open :a", ["a"]),  # the database refuses it
    ],
)
def test_parameters_are_found_outside_of_quotes_comments_and_casts(
    statement: str, names: list[str]
):
    assert names_in(statement) == names


def test_replaced_parameters_leave_the_rest_of_the_statement_alone():
    statement = "SELECT ':a', 5 % :b -- :c"
    replaced = replace_parameters(statement, "<{}>".format, lambda text: text.replace("%", "%%"))

    assert replaced == "SELECT ':a', 5 %% <b> -- :c"


def test_values_of_duetime_come_before_those_of_the_payload():
    payload = {"task_id": "forged", "doc": {"a": [1]}, "unused": 1}
    values = bound_values("SELECT :task_id, :attempt, :doc", payload, "01K", 3)

    assert values == {"task_id": "01K", "attempt": 3, "doc": '{"a":[1]}'}


def test_parameter_without_a_value_is_named():
    with pytest.raises(KeyError, match="missing"):
        bound_values("SELECT :missing", {}, "01K", 1)
