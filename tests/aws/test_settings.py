import json

import pytest

from duetime.aws.settings import Settings
from duetime.core.lanes import Lane
from duetime.core.retention import KEY_LIFE
from duetime.core.times import DAY

REQUIRED = {
    "DUETIME_TABLE": "tasks",
    "DUETIME_QUEUES": json.dumps({"high": "https://q/1/h", "medium": "m", "low": "https://r/l"}),
}


def test_settings_have_defaults():
    settings = Settings.read(REQUIRED)
    assert (settings.table, settings.shards, settings.catch_up) == ("tasks", 16, 100)
    assert settings.retention == 30 * DAY
    assert settings.longest_timeout == 840


def test_numbers_in_the_environment_are_read():
    settings = Settings.read(REQUIRED | {"DUETIME_CATCH_UP": "7", "DUETIME_SHARDS": "4"})
    assert (settings.catch_up, settings.shards) == (7, 4)


def test_the_executors_of_a_lane_are_not_known_unless_they_are_given():
    settings = Settings.read(REQUIRED | {"DUETIME_AT_ONCE_HIGH": "60"})
    assert settings.at_once == {Lane.HIGH: 60, Lane.MEDIUM: 0, Lane.LOW: 0}


def test_the_hosts_that_executors_call_come_between_commas():
    settings = Settings.read(REQUIRED | {"DUETIME_ALLOW_HOSTS": "10.0.0.0/8,db.internal"})
    assert settings.hosts_allowed == ["10.0.0.0/8", "db.internal"]
    assert Settings.read(REQUIRED).hosts_allowed == []


def test_the_names_of_secrets_come_between_commas():
    settings = Settings.read(REQUIRED | {"DUETIME_SECRETS": "stripe,hook.v2"})
    assert settings.secret_names == ["stripe", "hook.v2"]
    assert Settings.read(REQUIRED).secret_names == []


def test_the_targets_of_a_stage_are_json():
    main = {"cluster": "c", "secret": "s", "database": "d"}
    given = json.dumps({"sqs": ["arn:a"], "sql": {"main": main}})
    settings = Settings.read(REQUIRED | {"DUETIME_TARGETS": given})
    assert settings.targets_allowed.patterns == {"sqs": ["arn:a"], "sql": ["main"]}
    assert settings.databases == {"main": main}
    assert Settings.read(REQUIRED).targets_allowed.patterns == {}
    assert Settings.read(REQUIRED).databases == {}


@pytest.mark.parametrize("days", [1, 3650])
def test_a_retention_is_given_in_days(days: int):
    settings = Settings.read(REQUIRED | {"DUETIME_RETENTION_DAYS": str(days)})
    assert settings.retention == days * DAY


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"DUETIME_CATCH_UP": "0"}, "DUETIME_CATCH_UP must be at least 1, not 0"),
        ({"DUETIME_CATCH_UP": "fast"}, "DUETIME_CATCH_UP must be a whole number, not 'fast'"),
        ({"DUETIME_RETENTION_DAYS": "0"}, "DUETIME_RETENTION_DAYS must be from 1 to 3650, not 0"),
        (
            {"DUETIME_RETENTION_DAYS": "3651"},
            "DUETIME_RETENTION_DAYS must be from 1 to 3650, not 3651",
        ),
        ({"DUETIME_SHARDS": ""}, "DUETIME_SHARDS must be a whole number, not ''"),
        (
            {"DUETIME_LONGEST_TIMEOUT": "0"},
            "DUETIME_LONGEST_TIMEOUT must be from 1 to 604800, not 0",
        ),
        (
            {"DUETIME_LONGEST_TIMEOUT": "604801"},
            "DUETIME_LONGEST_TIMEOUT must be from 1 to 604800, not 604801",
        ),
    ],
)
def test_an_invalid_variable_is_named(given: dict[str, str], reason: str):
    with pytest.raises(ValueError, match=f"^{reason}$"):
        Settings.read(REQUIRED | given)


def test_a_task_outlives_its_idempotency_key():
    assert Settings.read(REQUIRED | {"DUETIME_RETENTION_DAYS": "1"}).retention >= KEY_LIFE


def test_missing_variables_are_named():
    with pytest.raises(ValueError, match=r"^not set: DUETIME_QUEUES$"):
        Settings.read({k: v for k, v in REQUIRED.items() if k != "DUETIME_QUEUES"})


def test_aging_can_be_set_and_turned_off():
    assert Settings.read(REQUIRED).age_after == 3_600
    assert Settings.read(REQUIRED | {"DUETIME_AGE_AFTER": "0"}).age_after == 0
    with pytest.raises(ValueError, match="DUETIME_AGE_AFTER must be 0 or at least 300, not 299"):
        Settings.read(REQUIRED | {"DUETIME_AGE_AFTER": "299"})
