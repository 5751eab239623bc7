from collections.abc import Iterator
from typing import Any

import pytest

from duetime.aws import clients
from duetime.local.moto_backend import fair_moto
from tests.backends import a_table


@pytest.fixture(scope="module")
def moto() -> Iterator[None]:
    with fair_moto():
        yield


@pytest.fixture(scope="module")
def dynamodb(moto: None) -> Any:
    return clients.dynamodb()


@pytest.fixture(scope="module")
def sqs(moto: None) -> Any:
    return clients.sqs()


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    with a_table(dynamodb) as name:
        yield name
