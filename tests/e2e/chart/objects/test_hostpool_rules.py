"""The API server refuses the HostPools that ``webhook/placement/objects/pool_spec.py`` refuses, and no others."""

import msgspec
import pytest

from tests.e2e.chart.objects.hostpools import Spec, ask, expression
from tests.e2e.client.api import Api, RefusedError
from webhook.placement.objects.pool_spec import HostPoolSpec, problems_of_spec

GOOD: dict[str, Spec] = {
    "nothing at all": {},
    "the name of SPL": {"name": "P1"},
    "a name with underscores around it": {"name": "__my_Pool_"},
    "a name of underscores": {"name": "___"},
    "a name of 63 characters": {"name": "x" * 63},
    "a job": {"job": "parallel"},
    "literal hosts": {"hosts": ["foo", "10.8.5.6"]},
    "a dotted host": {"hosts": ["worker-1.example.com"]},
    "an IPv6 host": {"hosts": ["2001:db8::8:800:200c:417a"]},
    "an IPv6 host with a zone": {"hosts": ["fe80::1%eth0"]},
    "an IPv6 host with an IPv4 tail": {"hosts": ["::ffff:10.0.0.1"]},
    "a host of 253 characters": {"hosts": ["x" * 253]},
    "5000 hosts": {"hosts": [f"worker-{number}" for number in range(5000)]},
    "hosts and what defaults fill in": {"hosts": ["foo"], "mode": "Shared", "elastic": False, "tags": []},
    "one host wanted": {"size": 1},
    "5000 hosts wanted": {"size": 5000},
    "tags": {"tags": ["ib", "blue"]},
    "64 tags": {"tags": [f"t{number}" for number in range(64)]},
    "everything but hosts": {"name": "P", "job": "j", "size": 2, "tags": ["a"], "mode": "Exclusive", "elastic": True},
    "an empty selector": {"selector": {}},
    "a label to have": {"selector": {"matchLabels": {"disktype": "ssd", "empty": ""}}},
    "In": expression("In", "a", "b"),
    "NotIn": expression("NotIn", "a"),
    "Exists": expression("Exists"),
    "DoesNotExist": expression("DoesNotExist"),
    "Gt": expression("Gt", "5"),
    "Lt a number with many zeros before it": expression("Lt", f"{'0' * 40}5"),
    "Gt the largest number of 64 bits": expression("Gt", str(2**63 - 1)),
    "devices": {
        "size": 2,
        "devices": [
            {"class": "gpu.example.com"},
            {"class": "x" * 253, "selector": "device.driver == 'a'" + " " * 1004, "count": 32},
        ],
    },
    "hosts and no devices": {"hosts": ["foo"], "devices": []},
}

BAD: dict[str, tuple[Spec, str]] = {
    "a name with a space": ({"name": "my pool"}, "spec.name"),
    "a name of 64 characters": ({"name": "x" * 64}, "spec.name"),
    "no hosts": ({"hosts": []}, "spec.hosts"),
    "5001 hosts": ({"hosts": [f"worker-{number}" for number in range(5001)]}, "spec.hosts"),
    "a host in capitals": ({"hosts": ["Foo"]}, "spec.hosts[0]"),
    "a host without a name": ({"hosts": [""]}, "spec.hosts[0]"),
    "a network": ({"hosts": ["2001:db8::/32"]}, "spec.hosts[0]"),
    "an IPv6 host with nine groups": ({"hosts": ["1:2:3:4:5:6:7:8:9"]}, "spec.hosts[0]"),
    "a host of 254 characters": ({"hosts": ["x" * 254]}, "spec.hosts[0]"),
    "the same host twice": ({"hosts": ["foo", "bar", "foo"]}, "spec.hosts[2]"),
    "hosts and a size": ({"hosts": ["foo"], "size": 1}, "spec.hosts: Forbidden: excludes size"),
    "hosts and tags": ({"hosts": ["foo"], "tags": ["a"]}, "spec.hosts: Forbidden: excludes tags"),
    "hosts and a selector": ({"hosts": ["foo"], "selector": {}}, "spec.hosts: Forbidden: excludes selector"),
    "exclusive hosts": ({"hosts": ["foo"], "mode": "Exclusive"}, "spec.hosts: Forbidden: excludes mode Exclusive"),
    "elastic hosts": ({"hosts": ["foo"], "elastic": True}, "spec.hosts: Forbidden: excludes elastic"),
    "hosts and devices": (
        {"hosts": ["foo"], "devices": [{"class": "a"}]},
        "spec.hosts: Forbidden: excludes devices",
    ),
    "devices without a size": (
        {"devices": [{"class": "a"}]},
        "spec.size: Required value: missing, a HostPool that selects devices must state how many hosts it takes",
    ),
    "devices without a class": ({"size": 1, "devices": [{"count": 1}]}, "spec.devices[0].class: Required value"),
    "a class in capitals": ({"size": 1, "devices": [{"class": "A"}]}, "spec.devices[0].class"),
    "an empty condition": ({"size": 1, "devices": [{"class": "a", "selector": ""}]}, "spec.devices[0].selector"),
    "a condition of 1025 characters": (
        {"size": 1, "devices": [{"class": "a", "selector": "x" * 1025}]},
        "spec.devices[0].selector",
    ),
    "no device": ({"size": 1, "devices": [{"class": "a", "count": 0}]}, "spec.devices[0].count"),
    "33 devices": ({"size": 1, "devices": [{"class": "a", "count": 33}]}, "spec.devices[0].count"),
    "five kinds of devices": ({"size": 1, "devices": [{"class": "a"}] * 5}, "spec.devices"),
    "no host wanted": ({"size": 0}, "spec.size"),
    "5001 hosts wanted": ({"size": 5001}, "spec.size"),
    "half a host": ({"size": 1.5}, "spec.size"),
    "exclusive without a size": (
        {"mode": "Exclusive"},
        "spec.size: Required value: missing, an Exclusive pool must state how many hosts it takes",
    ),
    "an unknown mode": ({"mode": "shared"}, "spec.mode"),
    "an empty tag": ({"tags": [""]}, "spec.tags[0]"),
    "a tag that is not a label value": ({"tags": ["a b"]}, "spec.tags[0]"),
    "a tag of 64 characters": ({"tags": ["x" * 64]}, "spec.tags[0]"),
    "the same tag twice": ({"tags": ["a", "a"]}, "spec.tags[1]"),
    "65 tags": ({"tags": [f"t{number}" for number in range(65)]}, "spec.tags"),
    "a label that is not a label value": ({"selector": {"matchLabels": {"a": "b c"}}}, "spec.selector.matchLabels.a"),
    "an expression without a key": (expression("Exists", key=""), "spec.selector.matchExpressions[0].key"),
    "an unknown operator": (expression("in", "a"), "spec.selector.matchExpressions[0].operator"),
    "In without values": (expression("In"), "values: Invalid value: must have at least one value when"),
    "Exists with a value": (expression("Exists", "a"), "values: Invalid value: must be absent when"),
    "Gt without a number": (expression("Gt", "a"), "values: Invalid value: must be one 64-bit integer when"),
    "Lt with two numbers": (
        expression("Lt", "1", "2"),
        "values: Invalid value: must be one 64-bit integer when",
    ),
    "Lt a negative number": (expression("Lt", "-5"), "spec.selector.matchExpressions[0].values[0]"),
    "a value that is not a label value": (expression("NotIn", "a b"), "spec.selector.matchExpressions[0].values[0]"),
    "Gt beyond 64 bits": (expression("Gt", str(2**63)), "spec.selector.matchExpressions[0]"),
}


def refused_by_admission(spec: Spec) -> bool:
    try:
        return bool(list(problems_of_spec(msgspec.convert(spec, HostPoolSpec))))
    except msgspec.ValidationError:
        return True


@pytest.mark.parametrize("spec", GOOD.values(), ids=GOOD.keys())
def test_a_good_pool_is_taken_by_both(pools: Api, spec: Spec) -> None:
    assert ask(pools, spec)["spec"] == {"mode": "Shared", "elastic": False, **spec}
    assert not refused_by_admission(spec)


@pytest.mark.parametrize(("spec", "said"), BAD.values(), ids=BAD.keys())
def test_a_bad_pool_is_refused_by_both_at_the_field(pools: Api, spec: Spec, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        ask(pools, spec)
    assert (refused.value.code, said in refused.value.message) == (422, True), refused.value.message
    assert refused_by_admission(spec)


def test_a_pool_without_a_spec_has_the_defaults(pools: Api) -> None:
    made = ask(pools, None)
    assert made["spec"] == {"mode": "Shared", "elastic": False}


def test_a_job_that_no_pod_can_belong_to_is_refused(pools: Api) -> None:
    with pytest.raises(RefusedError, match="spec.job"):
        ask(pools, {"job": "a b"})


def test_an_unknown_field_is_refused_where_the_client_asks_for_that_as_kubectl_does(pools: Api) -> None:
    with pytest.raises(RefusedError, match='400: .*unknown field "spec.sizes"'):
        ask(pools, {"sizes": 2}, fieldValidation="Strict")


def test_an_unknown_field_is_never_stored(pools: Api) -> None:
    assert "sizes" not in ask(pools, {"sizes": 2})["spec"]
