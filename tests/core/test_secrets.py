"""Secrets as values: what they must have, who may use them, and that no text shows them."""

from typing import Any

import pytest

from duetime.core.secrets import BadSecret, Secret, read_secret, references_in

VALUE = "sk_live_hunter2"


def a_secret(**fields: Any) -> Secret:
    return read_secret("stripe", {"value": VALUE, "hosts": ["api.stripe.com"]} | fields)


def test_secret_has_a_value_and_is_for_namespace_default():
    secret = a_secret(previous="old")

    assert (secret.value, secret.previous) == (VALUE, "old")
    assert secret.namespaces == ("default",)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (VALUE, "must be an object"),
        (None, "must be an object"),
        ([VALUE], "must be an object"),
        ({"hosts": ["a.b"]}, "must have a value of 1 to 4,096 characters"),
        ({"value": "", "hosts": ["a.b"]}, "must have a value"),
        ({"value": 5, "hosts": ["a.b"]}, "must have a value"),
        ({"value": VALUE * 1_000, "hosts": ["a.b"]}, "must have a value"),
        ({"value": VALUE, "previous": "", "hosts": ["a.b"]}, "must have a previous"),
        ({"value": VALUE}, "must have hosts such as"),
        ({"value": VALUE, "hosts": []}, "must have hosts such as"),
        ({"value": VALUE, "hosts": VALUE}, "must have hosts such as"),
        ({"value": VALUE, "hosts": ["*"]}, "must have hosts such as"),
        ({"value": VALUE, "hosts": ["a.b:443"]}, "without ports or paths"),
        ({"value": VALUE, "hosts": ["https://a.b"]}, "without ports or paths"),
        ({"value": VALUE, "hosts": ["a.b/c"]}, "without ports or paths"),
        ({"value": VALUE, "hosts": ["a.*.b"]}, "must have hosts such as"),
        ({"value": VALUE, "hosts": ["a.b"], "namespaces": []}, "must have namespaces such as"),
        ({"value": VALUE, "hosts": ["a.b"], "namespaces": None}, "must have namespaces such as"),
        ({"value": VALUE, "hosts": ["a.b"], VALUE: 1}, "has a field that is none of value"),
    ],
)
def test_bad_secret_is_refused_without_showing_it(given: Any, reason: str):
    with pytest.raises(BadSecret) as refused:
        read_secret("stripe", given)

    assert reason in str(refused.value)
    assert "'stripe'" in str(refused.value)
    assert VALUE not in str(refused.value)


def test_repr_of_a_secret_shows_no_value():
    secret = a_secret(previous="hunter1")

    assert VALUE not in repr(secret)
    assert "hunter1" not in f"{secret} {[secret]} {secret.value!r} {secret.previous!r}"


@pytest.mark.parametrize(
    ("hosts", "host"),
    [
        (["api.stripe.com"], "api.stripe.com"),
        (["api.stripe.com"], "API.Stripe.com."),
        (["API.stripe.com"], "api.stripe.com"),
        (["*.stripe.com"], "api.stripe.com"),
        (["*.stripe.com"], "a.b.stripe.com"),
        (["::1"], "[::1]"),
        (["[2001:db8::1]"], "2001:db8::1"),
        (["10.0.0.7"], "10.0.0.7"),
        (["other.com", "api.stripe.com"], "api.stripe.com"),
    ],
)
def test_listed_host_may_use_a_secret(hosts: list[str], host: str):
    assert a_secret(hosts=hosts).refusal(host, "default", plain=False) is None


@pytest.mark.parametrize(
    ("hosts", "host"),
    [
        (["api.stripe.com"], "evil.com"),
        (["api.stripe.com"], "api.stripe.com.evil.com"),
        (["api.stripe.com"], "xapi.stripe.com"),
        (["api.stripe.com"], "stripe.com"),
        (["*.stripe.com"], "stripe.com"),
        (["*.stripe.com"], "evilstripe.com"),
        (["10.0.0.7"], "10.0.0.70"),
        (["api.stripe.com"], ""),
    ],
)
def test_other_host_may_not_use_a_secret(hosts: list[str], host: str):
    reason = a_secret(hosts=hosts).refusal(host, "default", plain=False)

    assert reason == f"is not for host {host!r}"


def test_namespace_must_be_listed():
    shop = a_secret(namespaces=["shop"])

    assert shop.refusal("api.stripe.com", "shop", plain=False) is None
    assert shop.refusal("api.stripe.com", "default", plain=False) == (
        "is not for namespace 'default'"
    )
    assert a_secret(namespaces=["*"]).refusal("api.stripe.com", "any", plain=False) is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_value_is_sent_without_tls_on_loopback(host: str):
    assert a_secret(hosts=[host]).refusal(host, "default", plain=True) is None


@pytest.mark.parametrize("host", ["api.stripe.com", "127.0.0.1.evil.com", "127.evil.com"])
def test_value_is_sent_without_tls_elsewhere_only_if_the_host_says_http(host: str):
    reason = a_secret(hosts=[host]).refusal(host, "default", plain=True)

    assert reason is not None
    assert f'"http://{host}"' in reason
    assert a_secret(hosts=[f"http://{host}"]).refusal(host, "default", plain=True) is None
    assert a_secret(hosts=[f"http://{host}"]).refusal(host, "default", plain=False) is None


def test_references_are_found_with_their_paths():
    target = {
        "headers": {"A": {"$secret": "a"}, "B": "plain"},
        "sign": {"$secret": "s"},
        "deep": [{"x": {"$secret": "d"}}],
    }

    assert list(references_in(target)) == [
        ("target.headers.A", "a"),
        ("target.sign", "s"),
        ("target.deep.0.x", "d"),
    ]


def test_references_are_found_in_a_value_of_any_depth():
    deep: Any = {"$secret": "a"}
    for _ in range(50_000):
        deep = [deep]

    assert [name for _, name in references_in(deep, "")] == ["a"]
