"""HostPool objects under review."""

from typing import Any

import pytest

from tests.admission.submitted_pools import ELASTIC, host_pool, validated
from tests.answers import refused, response
from tests.builders import JOB, UID, Json

VALID: dict[str, dict[str, Any]] = {
    "unsized, untagged, shared": {},
    "unsized, tagged, shared": {"tags": ["ib", "blue"], "mode": "Shared"},
    "sized": {"size": 10},
    "largest": {"size": 5000},
    "sized, tagged, exclusive": {"size": 1, "tags": ["ib"], "mode": "Exclusive"},
    "of a job, with an SPL name": {"name": "P1", "job": JOB, "size": 1},
    "hosts": {"hosts": ["foo", "10.8.5.6", "2001:db8::1"]},
    "hosts with what a default filled in": {"hosts": ["foo"], "mode": "Shared", "elastic": False, "tags": []},
    "selector": {
        "selector": {
            "matchLabels": {"disk": "ssd"},
            "matchExpressions": [
                {"key": "a", "operator": "In", "values": ["x"]},
                {"key": "b", "operator": "NotIn", "values": ["x", "y"]},
                {"key": "c", "operator": "Exists"},
                {"key": "d", "operator": "DoesNotExist"},
                {"key": "e", "operator": "Gt", "values": ["1"]},
                {"key": "f", "operator": "Lt", "values": ["9"]},
            ],
        }
    },
    "elastic": {"tags": ["a"], "elastic": True},
    "devices": {
        "size": 1,
        "devices": [{"class": "a"}, {"class": "b.c", "selector": "device.driver == 'd'", "count": 32}],
    },
    "no devices": {"devices": []},
    "hosts without devices": {"hosts": ["foo"], "devices": []},
    "nulls": dict.fromkeys(("name", "job", "hosts", "size", "tags", "selector", "devices", "mode", "elastic")),
}


@pytest.mark.parametrize("spec", VALID.values(), ids=VALID.keys())
def test_a_pool_that_makes_sense_is_allowed(spec: dict[str, Any]) -> None:
    found = response(validated(host_pool(**spec), policy=ELASTIC))
    assert found | {"warnings": []} == {"uid": UID, "allowed": True, "warnings": []}


@pytest.mark.parametrize("found", [{"metadata": {"name": "p"}}, {"spec": {}}], ids=["no spec", "no metadata"])
def test_a_pool_may_say_nothing(found: Json) -> None:
    assert response(validated(found))["allowed"]


INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "hosts and size": ({"hosts": ["a"], "size": 1}, "spec.hosts: excludes size"),
    "hosts and everything": (
        {
            "hosts": ["a"],
            "size": 1,
            "tags": ["t"],
            "selector": {},
            "devices": [{"class": "a"}],
            "mode": "Exclusive",
            "elastic": True,
        },
        "spec.hosts: excludes size, tags, selector, devices, mode Exclusive, elastic",
    ),
    "devices without a size": (
        {"devices": [{"class": "a"}]},
        "spec.size: missing, a HostPool that selects devices must state how many hosts it takes",
    ),
    "exclusive devices without a size": (
        {"devices": [{"class": "a"}], "mode": "Exclusive"},
        "spec.size: missing, an Exclusive pool must state how many hosts it takes",
    ),
    "devices that are none": (
        {
            "size": 1,
            "devices": [{}, {"class": "A"}, {"class": "a", "selector": "", "count": 0}, {"class": "a", "count": 33}],
        },
        (
            "spec.devices[0].class: missing: a DeviceClass\n"
            'spec.devices[1].class: "A" is not the name of a DeviceClass\n'
            "spec.devices[2].selector: must not be empty\n"
            "spec.devices[2].count: 0 is less than 1\n"
            "spec.devices[3].count: 33 is more than 32"
        ),
    ),
    "too many kinds of devices": (
        {"size": 1, "devices": [{"class": f"c{at}"} for at in range(5)]},
        "spec.devices: 5 entries, at most 4 are allowed",
    ),
    "no host": ({"hosts": []}, "spec.hosts: must name at least one host"),
    "a host that is none": (
        {"hosts": ["a", "", "Foo_bar"]},
        (
            'spec.hosts[1]: "" is neither an IP address nor a node name\n'
            'spec.hosts[2]: "Foo_bar" is neither an IP address nor a node name'
        ),
    ),
    "an address twice": (
        {"hosts": ["2001:db8::1", "2001:DB8:0::1"]},
        'spec.hosts[1]: "2001:db8::1" is also spec.hosts[0]',
    ),
    "a host twice": ({"hosts": ["a", "b", "a"]}, 'spec.hosts[2]: "a" is also spec.hosts[0]'),
    "too many hosts": (
        {"hosts": [f"h{at}" for at in range(5001)]},
        "spec.hosts: 5001 hosts, at most 5000 are allowed",
    ),
    "size 0": ({"size": 0}, "spec.size: 0 is not between 1 and 5000"),
    "negative size": ({"size": -1}, "spec.size: -1 is not between 1 and 5000"),
    "size 5001": ({"size": 5001}, "spec.size: 5001 is not between 1 and 5000"),
    "size 2^53": ({"size": 2**53}, "spec.size: 9007199254740992 is not between 1 and 5000"),
    "exclusive without a size": (
        {"mode": "Exclusive"},
        "spec.size: missing, an Exclusive pool must state how many hosts it takes",
    ),
    "no such mode": ({"mode": "shared"}, 'spec.mode: "shared" is not one of Shared, Exclusive'),
    "no such mode of a list": ({"hosts": ["a"], "mode": "x"}, 'spec.mode: "x" is not one of Shared, Exclusive'),
    "a tag that is not a label value": (
        {"tags": ["ok", "two words"]},
        'spec.tags[1]: "two words" is not a label value',
    ),
    "an empty tag": ({"tags": [""]}, "spec.tags[0]: must not be empty"),
    "a tag too long": ({"tags": ["x" * 64]}, "spec.tags[0]: 64 characters, at most 63 are allowed"),
    "a tag twice": ({"tags": ["a", "a"]}, 'spec.tags[1]: "a" is also spec.tags[0]'),
    "too many tags": ({"tags": [f"t{at}" for at in range(65)]}, "spec.tags: 65 tags, at most 64 are allowed"),
    "an SPL name that is none": (
        {"name": "two words"},
        'spec.name: "two words" is not an SPL identifier or label value of at most 63 characters',
    ),
    "a selector's operator": (
        {"selector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "in"}]}},
        'spec.selector.matchExpressions[0].operator: "in" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt',
    ),
    "a selector's values": (
        {"selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "In"}]}},
        "spec.selector.matchExpressions[1].values: must have at least one value when the operator is In",
    ),
    "a selector's empty key": (
        {"selector": {"matchExpressions": [{"key": "", "operator": "Exists"}]}},
        'spec.selector.matchExpressions[0].key: "" is not a label key such as kubernetes.io/hostname or disktype',
    ),
    "a selector's label value": (
        {"selector": {"matchLabels": {"a": "two words"}}},
        'spec.selector.matchLabels[a]: "two words" is not a label value',
    ),
    "several at once": (
        {"size": 0, "tags": ["-"], "mode": "x"},
        (
            'spec.mode: "x" is not one of Shared, Exclusive\n'
            "spec.size: 0 is not between 1 and 5000\n"
            'spec.tags[0]: "-" is not a label value'
        ),
    ),
}


@pytest.mark.parametrize(("spec", "expected"), INVALID.values(), ids=INVALID.keys())
def test_a_pool_that_makes_no_sense_is_refused(spec: dict[str, Any], expected: str) -> None:
    assert refused(validated(host_pool(**spec))) == (422, expected)


UNREADABLE: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": ({"hots": ["a"]}, "hots: there is no such field"),
    "size as text": ({"size": "10"}, 'size: "10" is a text, expected a whole number'),
    "size as a fraction": ({"size": 1.5}, "size: 1.5 is a number, expected a whole number"),
    "size as truth": ({"size": True}, "size: true is a truth value, expected a whole number"),
    "tags as text": ({"tags": "ib"}, 'tags: "ib" is a text, expected a list'),
    "a tag as a number": (
        {"tags": ["a", 1]},
        'tags[1]: 1 is a whole number, expected a text: write it in quotes, "1"',
    ),
}


@pytest.mark.parametrize(("spec", "expected"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_pool_of_other_types_is_refused_readably(spec: dict[str, Any], expected: str) -> None:
    assert refused(validated(host_pool(**spec))) == (422, f"the HostPool is not readable: spec.{expected}")
