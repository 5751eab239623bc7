"""schemathesis sends requests made from the OpenAPI document: no answer is a 5xx or undocumented.

The examples are the same in every run. `make test-long` sends many more.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from duetime.api.openapi.document import ROUTES
from duetime.api.openapi.route import TEXT
from duetime.core.times import MINUTE
from tests.api.fuzzed import FuzzedSystem, fuzzed_system, plain
from tests.api.openapi import document

SCHEMA: Any = schemathesis.openapi.from_dict(plain(document()))
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}

# A schema cannot say which fields go together (`rule` or `rules`), nor which handlers exist.
NOT_IN_A_SCHEMA = [positive_data_acceptance]
# A task of a batch that is not valid is a result in a 200.
ACCEPTED = [*NOT_IN_A_SCHEMA, negative_data_rejection]
BATCH = "POST /v1/tasks/batch"

# A failing example is not shrunk: the system has changed meanwhile.
QUICK = settings(
    max_examples=settings.default.max_examples // 3,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


# `tag=null` and `tag=1` are tags like any other; test_list.py has those that are too long. An id
# that does not exist is reported, not refused.
ALWAYS_TEXT = {"tag", "ids"}
# A blank body counts as none.
BODY_OPTIONAL = {route.name for route in ROUTES if route.body_optional}


def validate(case: Case, response: Any) -> None:
    label, changed = case.operation.label, altered(case)
    blank = label in BODY_OPTIONAL and not (response.request.body or b"").strip()
    accepts = label == BATCH or blank or (changed and changed <= ALWAYS_TEXT)
    excluded = ACCEPTED if accepts else NOT_IN_A_SCHEMA
    case.validate_response(response, excluded_checks=excluded)


def altered(case: Case) -> set[str]:
    """The parameters that schemathesis has made invalid."""
    how = case.meta.phase.data if case.meta else None
    changes = [how, *getattr(how, "mutations", ())] if how else []
    return {name for change in changes if (name := getattr(change, "parameter", None))}


def answers_as_documented(
    system: FuzzedSystem, label: str, mode: GenerationMode
) -> Callable[[], None]:
    @QUICK
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def send(case: Case) -> None:
        validate(case, case.call(app=system.wsgi))

    return send


def can_be_invalid(label: str) -> bool:
    """Whether a call has anything but an id and headers that may be any text."""
    [route] = [route for route in ROUTES if route.name == label]
    return bool(route.body) or any(p.schema != TEXT or not p.header for p in route.parameters)


@pytest.mark.hypothesis
@pytest.mark.parametrize("label", OPERATIONS)
def test_valid_requests_get_documented_answers(label: str):
    with fuzzed_system() as system:
        answers_as_documented(system, label, GenerationMode.POSITIVE)()


@pytest.mark.hypothesis
@pytest.mark.parametrize("label", [*filter(can_be_invalid, OPERATIONS)])
def test_invalid_requests_are_refused_with_documented_problems(label: str):
    with fuzzed_system() as system:
        answers_as_documented(system, label, GenerationMode.NEGATIVE)()


class Machine(SCHEMA.as_state_machine()):  # type: ignore[misc]
    """Follows the links from what a call has stored to the calls for it, while time passes."""

    def setup(self) -> None:
        self._open = ExitStack()
        self._system = self._open.enter_context(fuzzed_system())

    def teardown(self) -> None:
        self._open.close()

    def get_call_kwargs(self, case: Case) -> dict[str, Any]:
        return {"app": self._system.wsgi}

    def validate_response(self, response: Any, case: Case, **_: Any) -> None:
        validate(case, response)

    @rule(minutes=st.integers(1, 20))
    def time_passes(self, minutes: int) -> None:
        self._system.pass_time(minutes * MINUTE)


@pytest.mark.hypothesis
def test_sequences_of_calls_get_documented_answers():
    Machine.run(settings=settings(QUICK, stateful_step_count=15))
