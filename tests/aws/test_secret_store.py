"""Secrets in SSM, on moto."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.secret_store import KEPT_FOR, SsmSecretStore
from duetime.core.errors import Unavailable
from duetime.core.secrets import BadSecret
from duetime.local.moto_backend import fair_moto
from tests.factories import SteppedClock

VALUE = "sk_live_hunter2"


class WatchedSsm:
    """Counts the calls, and fails when a test says so."""

    def __init__(self, ssm: Any) -> None:
        self.ssm = ssm
        self.calls = 0
        self.fails: Exception | None = None

    def get_parameter(self, **fields: Any) -> Any:
        self.calls += 1
        if self.fails:
            raise self.fails
        return self.ssm.get_parameter(**fields)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with fair_moto():
        yield clients.ssm()


@pytest.fixture
def ssm(client: Any) -> WatchedSsm:
    put(client, "stripe")
    return WatchedSsm(client)


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def store(ssm: WatchedSsm, clock: SteppedClock) -> SsmSecretStore:
    return SsmSecretStore(ssm, "prod", ["stripe", "gone", "broken"], clock)


def put(
    client: Any, name: str, text: str | None = None, stage: str = "prod", **fields: Any
) -> None:
    secret = {"value": VALUE, "hosts": ["api.stripe.com"]} | fields
    client.put_parameter(
        Name=f"/duetime/{stage}/{name}",
        Type="SecureString",
        Value=json.dumps(secret) if text is None else text,
        Overwrite=True,
    )


def failure(code: str, status: int) -> ClientError:
    error = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(error, "GetParameter")  # type: ignore[arg-type]


def test_secret_is_decrypted_and_read_from_the_path_of_the_stage(
    ssm: WatchedSsm, store: SsmSecretStore
):
    put(ssm.ssm, "stripe", stage="dev", value="of another stage")
    secret = store.get("stripe")

    assert secret is not None
    assert (secret.name, secret.value, secret.hosts) == ("stripe", VALUE, ("api.stripe.com",))


def test_secret_is_kept_for_five_minutes(
    ssm: WatchedSsm, store: SsmSecretStore, clock: SteppedClock
):
    store.get("stripe")
    put(ssm.ssm, "stripe", value="rotated", previous=VALUE)
    clock.advance(KEPT_FOR - 1)
    kept = store.get("stripe")
    clock.advance(1)
    fresh = store.get("stripe")

    assert kept is not None
    assert kept.value == VALUE
    assert fresh is not None
    assert (fresh.value, fresh.previous) == ("rotated", VALUE)
    assert ssm.calls == 2


def test_secret_is_read_again_after_the_clock_was_set_back(
    ssm: WatchedSsm, store: SsmSecretStore, clock: SteppedClock
):
    store.get("stripe")
    clock.advance(-1)
    store.get("stripe")

    assert ssm.calls == 2


def test_secret_that_does_not_exist_is_asked_for_again(ssm: WatchedSsm, store: SsmSecretStore):
    assert store.get("gone") is None
    assert store.get("gone") is None
    assert ssm.calls == 2


def test_name_that_the_stage_does_not_list_is_not_asked_for(ssm: WatchedSsm, store: SsmSecretStore):
    put(ssm.ssm, "unlisted")

    assert store.get("unlisted") is None
    assert ssm.calls == 0


@pytest.mark.parametrize(
    "error",
    [failure("ThrottlingException", 400), failure("InternalServerError", 500)],
    ids=["throttled", "failed"],
)
def test_ssm_that_does_not_answer_is_unavailable(
    ssm: WatchedSsm, store: SsmSecretStore, error: ClientError
):
    ssm.fails = error
    with pytest.raises(Unavailable):
        store.get("stripe")
    ssm.fails = None
    assert store.get("stripe") is not None


def test_ssm_that_refuses_raises_its_own_error(ssm: WatchedSsm, store: SsmSecretStore):
    ssm.fails = failure("AccessDeniedException", 400)
    with pytest.raises(ClientError, match="AccessDenied"):
        store.get("stripe")


@pytest.mark.parametrize(
    "text", [VALUE, f'{{"value": "{VALUE}"', "[" * 4_000, f'"{VALUE}"', "null"]
)
def test_parameter_that_is_no_secret_is_refused_without_showing_it(
    ssm: WatchedSsm, store: SsmSecretStore, text: str
):
    put(ssm.ssm, "broken", text)
    with pytest.raises(BadSecret) as refused:
        store.get("broken")

    assert VALUE not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


def test_botocore_logs_no_value_at_any_level(
    client: Any, clock: SteppedClock, caplog: pytest.LogCaptureFixture
):
    put(client, "stripe")
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.NOTSET, "botocore")
    caplog.clear()
    store = SsmSecretStore(client, "prod", ["stripe"], clock)
    store.get("stripe")

    assert any("GetParameter" in record.getMessage() for record in caplog.records)
    assert [r.name for r in caplog.records if VALUE in r.getMessage() + str(r.args)] == []
