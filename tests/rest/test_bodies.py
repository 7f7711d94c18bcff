"""What a body may say, in which spellings, and how every mistake is named."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.rest.rest_server import consumer, intent, requirement
from webhook.placement.kube.resource_name import UNITS
from webhook.rest.bodies import Unit, read_body
from webhook.rest.intents import (
    ConsumerEntity,
    ConsumerWorkload,
    DeviceWish,
    HardwareWish,
    IntentEntity,
    RequirementEntity,
)
from webhook.rest.request_error import RequestError
from webhook.rest.routes import NAME_RULE, Collection

LONG = "x" * 1025


def errors(collection: Collection, body: Any) -> list[tuple[str, str]]:
    """Field and rule of each mistake."""
    with pytest.raises(RequestError) as refused:
        read_body(collection, body)
    assert refused.value.status == 400
    return [(error.field, error.rule) for error in refused.value.errors]


def test_the_name_of_an_unknown_field_is_cut() -> None:
    with pytest.raises(RequestError) as refused:
        read_body(Collection.INTENTS, intent() | {"\n" * 5000: 1})
    (error,) = json.loads(refused.value.document())["errors"]
    assert error["field"] == ("\\n" * 200)[:397] + "..."


@pytest.mark.parametrize("spec", [{"app": "a"}, {"appName": "a", "app": None}, {"app": "a", "appName": "a"}])
def test_spellings_of_an_intent(spec: dict[str, Any]) -> None:
    found = read_body(Collection.INTENTS, {"metadata": {"name": "i"}, "spec": spec})
    assert isinstance(found, IntentEntity)
    assert found.app == "a"


def test_what_an_answer_says_can_be_sent_again() -> None:
    body = intent(appName="fwall", resourceConsumers=[])
    assert isinstance(read_body(Collection.INTENTS, body), IntentEntity)


@pytest.mark.parametrize(
    ("body", "field", "rule"),
    [
        ([], "body", "must be an object"),
        ({}, "metadata", "is required, but missing"),
        (intent("-x"), "metadata.name", f'"-x" {NAME_RULE}'),
        (intent("x\n"), "metadata.name", f'"x\\n" {NAME_RULE}'),
        (intent("x" * 129), "metadata.name", f'"{"x" * 80}..." has more than 128 characters'),
        (intent(app=None), "spec.app", "is missing: the application that the intent is for"),
        (intent(app=""), "spec.app", '"" must not be empty'),
        (intent(app=3), "spec.app", '"3" must be a text'),
        (intent(appName="b"), "spec.appName", 'is "b", but spec.app is "fwall", and both mean the same'),
        (intent(appname="b"), "spec.appname", 'unknown field "appname" (did you mean appName?)'),
        (
            intent(resourceConsumers=[{}]),
            "spec.resourceConsumers",
            "must be empty: each child is created by a request of its own",
        ),
        (intent(resourceConsumers=True), "spec.resourceConsumers", '"true" must be a list'),
        (
            intent() | {"metadata": {"name": "i", "description": LONG}},
            "metadata.description",
            f'"{"x" * 80}..." has more than 1024 characters',
        ),
        (
            intent() | {"kind": "x"},
            "kind",
            'unknown field "kind": use one of metadata, spec',
        ),
        (
            intent() | {"a.b": "x"},
            "a.b",
            'unknown field "a.b": use one of metadata, spec',
        ),
        (intent(**{"a.b": 1}), "spec.a.b", 'unknown field "a.b": use one of app, appName, resourceConsumers'),
        (intent(**{"": 1}), "spec.", 'unknown field "": use one of app, appName, resourceConsumers'),
    ],
)
def test_mistakes_of_an_intent(body: Any, field: str, rule: str) -> None:
    assert errors(Collection.INTENTS, body) == [(field, rule)] or (field, rule) in errors(Collection.INTENTS, body)


@pytest.mark.parametrize(
    "spec",
    [
        {"consumer": {"container-name": "c"}},
        {"consumer": {"container": "c"}},
        {"container": "c", "consumer": {}},
        {"container": "c", "consumer": {"container": "c", "container-name": "c"}},
    ],
)
def test_spellings_of_a_consumer(spec: dict[str, Any]) -> None:
    spec["consumer"] |= {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}
    found = read_body(Collection.CONSUMERS, {"metadata": {"name": "c"}, "spec": spec})
    assert isinstance(found, ConsumerEntity)
    assert found.consumer.container == "c"


FLAT: dict[str, Any] = {"apiVersion": "v19", "kind": "Deployment", "name": "w"}


@pytest.mark.parametrize(
    "spec",
    [
        FLAT | {"container": "c", "replicas": 2},
        FLAT | {"container-name": "c", "container": "c", "replicas": 2},
        FLAT | {"consumer": FLAT | {"container": "c", "replicas": 2}},
        {"consumer": FLAT | {"replicas": 2}, "container": "c", "kind": "Deployment"},
    ],
)
def test_a_workload_stands_below_consumer_or_beside_it(spec: dict[str, Any]) -> None:
    found = read_body(Collection.CONSUMERS, {"metadata": {"name": "c"}, "spec": spec})
    assert isinstance(found, ConsumerEntity)
    assert found.consumer == ConsumerWorkload("v19", "Deployment", "w", "c", 2)


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, [(f"spec.{name}", "missing: names the workload") for name in ("apiVersion", "kind", "name")]),
        ({"kind": "Deployment", "name": "w"}, [("spec.apiVersion", "missing: names the workload")]),
        (
            FLAT | {"consumer": FLAT | {"name": "x", "replicas": 2}, "replicas": 3},
            [
                ("spec.name", 'is "w", but spec.consumer.name is "x", and both mean the same'),
                ("spec.replicas", 'is "3", but spec.consumer.replicas is "2", and both mean the same'),
            ],
        ),
        (FLAT | {"replicas": 0}, [("spec.replicas", '"0" is not a whole number from 1 to 10000')]),
        (FLAT | {"replicas": 10_001}, [("spec.replicas", '"10001" is not a whole number from 1 to 10000')]),
        (FLAT | {"replicas": True}, [("spec.replicas", '"true" must be a whole number')]),
    ],
)
def test_mistakes_of_a_workload_beside_consumer(spec: dict[str, Any], wrong: list[tuple[str, str]]) -> None:
    assert errors(Collection.CONSUMERS, {"metadata": {"name": "c"}, "spec": spec}) == wrong


def test_mistakes_of_a_consumer() -> None:
    assert errors(Collection.CONSUMERS, consumer(container="other")) == [
        ("spec.container", 'is "other", but spec.consumer.container-name is "palo-alto-e3000", and both mean the same')
    ]
    body = {"metadata": {"name": "c"}, "spec": {"consumer": {"kind": "", "naam": "w"}}}
    assert errors(Collection.CONSUMERS, body) == [
        ("spec.consumer.apiVersion", "is required, but missing"),
        ("spec.consumer.kind", '"" must not be empty'),
        ("spec.consumer.name", "is required, but missing"),
        ("spec.consumer.naam", 'unknown field "naam" (did you mean name?)'),
    ]


CPU = HardwareWish("cpu", mandatory=True, allocatable=True, requests=4, limits=4)
DISK = HardwareWish("disk", mandatory=True, allocatable=False, value="ssd")


@pytest.mark.parametrize(
    ("spec", "wish"),
    [
        ({"name": "cpu", "requests": 4, "limits": 4, "mandatory": True, "allocatable": True}, CPU),
        ({"name": "cpu", "requests": 4, "limits": 4}, CPU),
        ({"resource": {"name": "cpu", "requests": 4, "limits": 4}, "allocatable": True}, CPU),
        ({"name": "cpu", "resource": {"requests": 4, "limits": 4}}, CPU),
        ({"name": "cpu", "requests": 4, "resource": {"name": "cpu", "requests": 4, "limits": 4}}, CPU),
        ({"name": "disk", "value": "ssd"}, DISK),
        ({"key": "disk", "value": "ssd", "allocatable": False}, DISK),
        ({"resource": {"key": "disk", "value": "ssd"}}, DISK),
        (
            {"device": {"template": "two-gpus"}, "container-name": "c"},
            HardwareWish(mandatory=True, allocatable=True, container="c", device=DeviceWish(template="two-gpus")),
        ),
        (
            {"device": {"class": "gpu", "selector": "true", "count": 2, "sameAttribute": "a.example/b"}},
            HardwareWish(
                mandatory=True,
                allocatable=True,
                device=DeviceWish(device_class="gpu", selector="true", count=2, same_attribute="a.example/b"),
            ),
        ),
        (
            {"name": "memory", "limits": "1500", "units": "GB", "mandatory": False, "weight": 3, "container": "c"},
            HardwareWish(
                "memory", mandatory=False, weight=3, allocatable=True, limits="1500", units="GB", container="c"
            ),
        ),
    ],
)
def test_spellings_of_a_requirement(spec: dict[str, Any], wish: HardwareWish) -> None:
    found = read_body(Collection.REQUIREMENTS, requirement("r", **spec))
    assert isinstance(found, RequirementEntity)
    assert found.spec == wish


AMOUNT = 'must be a whole number, or a quantity as text such as "500m"'
CHOICES = "'KB', 'MB', 'GB', 'TB', 'Ki', 'Mi', 'Gi' or 'Ti'"


@pytest.mark.parametrize(
    ("spec", "field", "rule"),
    [
        ({"requests": 1}, "spec", "needs a name: of a resource, or of a node label"),
        ({"name": "cpu"}, "spec", "needs requests or limits: how much of cpu"),
        ({"name": "cpu", "requests": 0.5}, "spec.requests", f'"0.5" {AMOUNT}'),
        ({"name": "cpu", "requests": 0}, "spec.requests", f'"0" {AMOUNT}'),
        ({"name": "cpu", "requests": True}, "spec.requests", f'"true" {AMOUNT}'),
        ({"name": "cpu", "requests": []}, "spec.requests", AMOUNT),
        ({"name": "cpu", "requests": "a"}, "spec.requests", '"a" is not a Kubernetes quantity'),
        ({"name": "cpu", "requests": 10**40}, "spec.requests", f'"1{"0" * 40}" is too much'),
        ({"name": "cpu", "requests": 4, "limits": 2}, "spec.requests", "requests 4 of cpu are more than limits 2"),
        ({"name": "gpu", "limits": 1}, "spec.name",
         '"gpu" is not a container resource: cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu'),
        ({"name": "memory", "limits": 1, "units": "KiB"}, "spec.units", f'"KiB" is not one of {CHOICES}'),
        ({"name": "cpu", "limits": 1, "weight": 11}, "spec.weight", '"11" is not a whole number from 1 to 10'),
        ({"name": "cpu", "limits": 1, "weight": 0}, "spec.weight", '"0" is not a whole number from 1 to 10'),
        ({"name": "cpu", "limits": 1, "weight": "1"}, "spec.weight", '"1" must be a whole number'),
        ({"name": "cpu", "limits": 1, "mandatory": "yes"}, "spec.mandatory", '"yes" must be true or false'),
        ({"name": "cpu", "value": "x", "allocatable": True}, "spec.value",
         "belongs to a node label, and this requirement is allocatable"),
        ({"name": "cpu", "value": "x", "limits": 1}, "spec.limits",
         "belongs to a resource, and this requirement is not allocatable"),
        ({"name": "cpu", "key": "memory", "limits": 1}, "spec.key",
         'is "memory", but spec.name is "cpu", and both mean the same'),
        ({"name": "cpu", "limits": 1, "resource": {"limits": 2}}, "spec.resource.limits",
         'is "2", but spec.limits is "1", and both mean the same'),
        ({"name": "cpu", "limits": 1, "resource": {"limit": 2}}, "spec.resource.limit",
         'unknown field "limit" (did you mean limits?)'),
        ({"name": "cpu", "limits": 1, "resource": 3}, "spec.resource", '"3" must be an object'),
        ({"device": {"claim": "a", "template": "b"}}, "spec.device",
         "names both a claim and a template: remove one of them"),
        ({"device": {"count": 2}}, "spec.device", "needs the class of the devices"),
        ({"device": {"class": "GPU"}}, "spec.device.class", '"GPU" is not the name of a DeviceClass'),
        ({"device": {"clas": "gpu"}}, "spec.device.clas", 'unknown field "clas" (did you mean class?)'),
        ({"device": {"class": "a", "template": "b"}}, "spec.device",
         "names a template, which already defines its devices: remove class"),
    ],
)  # fmt: skip
def test_mistakes_of_a_requirement(spec: dict[str, Any], field: str, rule: str) -> None:
    assert errors(Collection.REQUIREMENTS, requirement("r", **spec)) == [(field, rule)]


def test_all_mistakes_are_told_at_once_and_with_their_values() -> None:
    spec = {"name": "gpu", "limits": 1, "mandatory": False, "weight": 3, "value": None}
    with pytest.raises(RequestError) as refused:
        read_body(Collection.REQUIREMENTS, {"metadata": {"name": "-"}, "spec": {**spec, "weight": 11}})
    assert [(error.field, error.value) for error in refused.value.errors] == [
        ("metadata.name", "-"),
        ("spec.weight", "11"),
    ]


def test_units_are_those_of_the_webhook() -> None:
    assert set(get_args(Unit)) == set(UNITS)


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(max_size=8),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(
            some.sampled_from(["metadata", "spec", "name", "key", "resource", "consumer", "limits", "value"]), inner
        )
    ),
    max_leaves=12,
)


@given(some.sampled_from(Collection), JSON)
def test_any_value_is_read_or_refused(collection: Collection, value: Any) -> None:
    try:
        read_body(collection, value)
    except RequestError as refused:
        assert refused.errors  # noqa: PT017 -- both ways are right


@given(JSON)
def test_any_spec_of_a_requirement_is_read_or_refused(spec: Any) -> None:
    try:
        read_body(Collection.REQUIREMENTS, {"metadata": {"name": "r"}, "spec": spec})
    except RequestError as refused:
        assert refused.document()  # noqa: PT017 -- both ways are right
