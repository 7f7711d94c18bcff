"""What an HPAIntent says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.consumer import Consumer
from webhook.placement.objects.intent import CONSUMER_LIMIT, Intent, read_intent

WORKLOAD = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api-server"}
CPU = {"name": "cpu", "limits": 1}


def consumer(*requirements: object, **tweaks: object) -> dict[str, Any]:
    return {"consumer": WORKLOAD, "requirements": list(requirements), **tweaks}


def read(spec: object) -> Intent:
    return read_intent("edge", "fwall", spec)


def wrong(spec: object) -> list[str]:
    return [f"{problem.field}: {problem.message}" for problem in read(spec).problems]


def only(spec: object) -> Consumer:
    found = read(spec)
    assert found.problems == ()
    [one] = found.consumers
    return one


def test_an_intent_has_consumers_and_their_hardware() -> None:
    core = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "core-fwall", "container-name": "palo-alto-e3000"}
    gpu = {"mandatory": False, "weight": 9, "allocatable": True, "name": "nvidia.com/gpu", "limits": 1}
    spec = {
        "app": "fwall",
        "consumers": [
            {"name": "core", "consumer": core, "requirements": [{"name": "core-fwall-gpu-needs", "spec": gpu}]},
            consumer({"name": "disktype", "value": "ssd"}),
        ],
    }
    path = "HPAIntent fwall spec.consumers"
    device = Hardware(
        f"{path}[0].requirements[0]",
        "nvidia.com/gpu",
        mandatory=False,
        weight=9,
        container="palo-alto-e3000",
        requests=NANO,
        limits=NANO,
    )
    label = Hardware(f"{path}[1].requirements[0]", "disktype", value="ssd")
    assert read_intent("edge", "fwall", spec, "HPAIntent fwall ") == Intent(
        "edge",
        "fwall",
        (
            Consumer("core", "apps", "StatefulSet/core-fwall", (device,)),
            Consumer("api-server", "apps", "Deployment/api-server", (label,)),
        ),
        app="fwall",
    )


@pytest.mark.parametrize("spec", [{}, {"app": "x"}, {"consumers": None}, {"consumers": []}], ids=str)
def test_an_intent_may_have_no_consumers_yet(spec: dict[str, Any]) -> None:
    assert read(spec) == Intent("edge", "fwall", app=spec.get("app", ""))


@pytest.mark.parametrize("requirements", [None, []], ids=str)
def test_a_consumer_may_have_no_requirements_yet(requirements: object) -> None:
    assert only({"consumers": [{"consumer": WORKLOAD, "requirements": requirements}]}).hardware == ()


def test_a_kind_of_the_core_has_no_group() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "name": "p"}
    one = only({"consumers": [{"consumer": pod}]})
    assert (one.group, one.owner) == ("", "Pod/p")


@pytest.mark.parametrize(
    ("kind", "version", "group"),
    [
        ("Deployment", "v19", "apps"),
        ("CronJob", "1.19", "batch"),
        ("ReplicationController", "v1", ""),
        ("Rollout", "v1", ""),
        ("Deployment", "extensions/v1beta1", "extensions"),
    ],
)
def test_a_version_without_a_group_stands_for_that_of_the_kind(kind: str, version: str, group: str) -> None:
    """EMCO's examples name a release of Kubernetes."""
    one = only({"consumers": [{"consumer": {"apiVersion": version, "kind": kind, "name": "w"}}]})
    assert one.group == group


SPELLINGS: dict[str, tuple[dict[str, Any], str]] = {
    "below consumer": ({"consumer": {**WORKLOAD, "container-name": "c", "replicas": 2}}, "api-server"),
    "below consumer, with a name of its own": (
        {"name": "one", "consumer": {**WORKLOAD, "container": "c"}, "replicas": 2},
        "one",
    ),
    "as EMCO's programs send it": (
        {"metadata": {"name": "one"}, "spec": {**WORKLOAD, "container": "c", "replicas": 2}},
        "one",
    ),
    "as EMCO's design has it": (
        {"metadata": {"name": "one"}, "spec": {"consumer": {**WORKLOAD, "container-name": "c"}, "replicas": "2"}},
        "one",
    ),
    "beside the requirements": ({**WORKLOAD, "container": "c", "replicas": 2}, "api-server"),
    "in all places": (
        {
            "name": "one",
            "consumer": {**WORKLOAD, "container": "c"},
            "spec": {**WORKLOAD, "consumer": {**WORKLOAD, "replicas": 2}},
            "replicas": 2,
        },
        "one",
    ),
}


@pytest.mark.parametrize(("said", "name"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_consumer_has_spellings(said: dict[str, Any], name: str) -> None:
    one = only({"consumers": [{**said, "requirements": [CPU]}]})
    assert (one.name, one.group, one.owner, one.replicas) == (name, "apps", "Deployment/api-server", 2)
    assert [hardware.container for hardware in one.hardware] == ["c"]


CONTAINERS: dict[str, dict[str, Any]] = {
    "of the workload": {"consumer": {**WORKLOAD, "container-name": "nginx"}},
    "of the workload, by another word": {"consumer": {**WORKLOAD, "container": "nginx"}},
    "of the consumer": {"consumer": WORKLOAD, "container": "nginx"},
    "in all places": {"consumer": {**WORKLOAD, "container": "nginx", "container-name": "nginx"}, "container": "nginx"},
}


@pytest.mark.parametrize("said", CONTAINERS.values(), ids=CONTAINERS)
def test_what_is_allocatable_goes_to_the_container(said: dict[str, Any]) -> None:
    [hardware] = only({"consumers": [{**said, "requirements": [CPU]}]}).hardware
    assert hardware.container == "nginx"


@pytest.mark.parametrize("spec", [{"app": "a", "appName": "a"}, {"appName": "a"}], ids=str)
def test_an_application_has_two_names(spec: object) -> None:
    assert wrong(spec) == []
    assert read(spec).app == "a"


def test_an_application_may_say_on_how_many_clusters_it_is_to_run() -> None:
    assert read({}).replication_count is None
    assert read({"replicationCount": 3}).replication_count == 3


SAMPLE = "must be a consumer: {name, consumer: {apiVersion, kind, name, container-name}, requirements}"

WRONG: dict[str, tuple[object, list[str]]] = {
    "no mapping": ([], ["spec: must be a mapping with consumers"]),
    "nothing": (None, ["spec: must be a mapping with consumers"]),
    "a mistyped field": ({"consumer": []}, ['spec: unknown field "consumer" (did you mean consumers?)']),
    **{
        f"{count} clusters": (
            {"replicationCount": count},
            [f"spec.replicationCount: {said} is not a whole number from 1 to 1000"],
        )
        for count, said in ((0, '"0"'), (1001, '"1001"'), (1.5, '"1.5"'), ("x", '"x"'), ([], "it"))
    },
    "two applications": (
        {"app": "a", "appName": "b"},
        ['spec.appName: is "b", but spec.app is "a", and both mean the same'],
    ),
    "a list of applications": ({"app": ["a"]}, ["spec.app: must be one word"]),
    "consumers that are no list": ({"consumers": "x"}, ["spec.consumers: must be a list"]),
    "too many consumers": (
        {"consumers": [consumer()] * (CONSUMER_LIMIT + 1)},
        ["spec.consumers: has 65 consumers, at most 64 are allowed"],
    ),
    "a consumer that is a word": ({"consumers": ["x"]}, [f"spec.consumers[0]: {SAMPLE}"]),
    "a consumer without a workload": ({"consumers": [{"name": "x"}]}, [f"spec.consumers[0]: {SAMPLE}"]),
    "a mistyped field of a consumer": (
        {"consumers": [consumer(requirement=[])]},
        ['spec.consumers[0]: unknown field "requirement" (did you mean requirements?)'],
    ),
    "a mistyped field of a workload": (
        {"consumers": [{"consumer": {**WORKLOAD, "kid": "x"}}]},
        ['spec.consumers[0].consumer: unknown field "kid" (did you mean kind?)'],
    ),
    "half a workload": (
        {"consumers": [{"consumer": {"name": "", "kind": None}}]},
        [
            "spec.consumers[0].consumer.apiVersion: missing: names the workload",
            "spec.consumers[0].consumer.kind: missing: names the workload",
            "spec.consumers[0].consumer.name: missing: names the workload",
        ],
    ),
    "a workload of lists": (
        {"consumers": [{"consumer": {**WORKLOAD, "kind": ["x"], "container": ["y"]}}]},
        [
            "spec.consumers[0].consumer.kind: must be one word",
            "spec.consumers[0].consumer.container: must be one word",
        ],
    ),
    "a spec that is a word": ({"consumers": [{"consumer": WORKLOAD, "spec": "x"}]}, [f"spec.consumers[0]: {SAMPLE}"]),
    "a spec without a workload": (
        {"consumers": [{"spec": {"kid": "x", "consumer": None}}]},
        [
            'spec.consumers[0].spec: unknown field "kid" (did you mean kind?)',
            *(f"spec.consumers[0].spec.{name}: missing: names the workload" for name in ("apiVersion", "kind", "name")),
        ],
    ),
    "two workloads": (
        {"consumers": [{"consumer": WORKLOAD, "kind": "StatefulSet", "spec": {**WORKLOAD, "name": "other"}}]},
        [
            (
                'spec.consumers[0].kind: is "StatefulSet", but spec.consumers[0].consumer.kind is "Deployment", '
                "and both mean the same"
            ),
            (
                'spec.consumers[0].spec.name: is "other", but spec.consumers[0].consumer.name is "api-server", '
                "and both mean the same"
            ),
        ],
    ),
    "two numbers of replicas": (
        {"consumers": [{"consumer": {**WORKLOAD, "replicas": 2}, "replicas": 3}]},
        [
            (
                'spec.consumers[0].replicas: is "3", but spec.consumers[0].consumer.replicas is "2", '
                "and both mean the same"
            )
        ],
    ),
    **{
        f"replicas {count}": (
            {"consumers": [consumer(replicas=count)]},
            [f'spec.consumers[0].replicas: "{count}" is not a whole number from 1 to 10000'],
        )
        for count in (0, 10_001, "many")
    },
    "a list of replicas": (
        {"consumers": [consumer(replicas=[])]},
        ["spec.consumers[0].replicas: must be one word"],
    ),
    "a name that is a list": (
        {"consumers": [{"consumer": WORKLOAD, "name": [], "container": {}}]},
        ["spec.consumers[0].name: must be one word", "spec.consumers[0].container: must be one word"],
    ),
    "two containers of a workload": (
        {"consumers": [{"consumer": {**WORKLOAD, "container-name": "a", "container": "b"}}]},
        [
            (
                'spec.consumers[0].consumer.container: is "b", but spec.consumers[0].consumer.container-name is "a", '
                "and both mean the same"
            )
        ],
    ),
    "two containers of a consumer": (
        {"consumers": [{"consumer": {**WORKLOAD, "container": "a"}, "container": "b"}]},
        [
            (
                'spec.consumers[0].container: is "b", but spec.consumers[0].consumer.container is "a", '
                "and both mean the same"
            )
        ],
    ),
    "requirements that are no list": (
        {"consumers": [{"consumer": WORKLOAD, "requirements": "cpu"}]},
        [
            (
                "spec.consumers[0].requirements: must be a list of requirements, "
                "such as [{name: nvidia.com/gpu, limits: 1}]"
            )
        ],
    ),
    "a requirement": (
        {"consumers": [consumer(), consumer(CPU, {"name": "cpu"}, name="x")]},
        ["spec.consumers[1].requirements[1]: needs requests or limits: how much of cpu"],
    ),
    "two consumers of one name": (
        {"consumers": [consumer(), consumer(), consumer(name="x"), consumer(name="x"), consumer(name="x")]},
        ['spec.consumers: "api-server" occurs twice', 'spec.consumers: "x" occurs twice'],
    ),
}


@pytest.mark.parametrize(("spec", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_path(spec: object, expected: list[str]) -> None:
    assert wrong(spec) == expected


def test_ten_problems_are_named() -> None:
    assert len(wrong({f"field-{at}": 1 for at in range(10_000)})) == 10


def test_a_consumer_keeps_its_own_problems_for_its_pods() -> None:
    found = read({"consumers": [consumer(CPU), consumer({"name": "cpu"}, name="x")]})
    assert [[problem.message for problem in one.problems] for one in found.consumers] == [
        [],
        ["needs requests or limits: how much of cpu"],
    ]


def test_a_consumer_that_names_no_workload_matches_no_pod() -> None:
    assert read({"consumers": [{"consumer": {}}]}).consumers == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["app", "consumers", "consumer", "requirements", "name", "kind", "apiVersion", "spec", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON | JSON.map(lambda one: {"consumers": [{"consumer": WORKLOAD, "requirements": [one]}, one]}))
def test_any_json_is_an_intent(spec: object) -> None:
    found = read(spec)
    assert (found.namespace, found.name) == ("edge", "fwall")
    assert all(problem.field.startswith("spec") for problem in found.problems)
