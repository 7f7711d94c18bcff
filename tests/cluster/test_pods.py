"""Pods as placement knows them: what they hold, and who they belong to."""

from typing import Any

import msgspec
import pytest

from tests.cluster.objects import PLACEMENT, pod
from webhook.cluster.objects import pods, wire
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.kube.containers import HostPort
from webhook.placement.kube.pod import Requirement
from webhook.placement.objects.pod import ClaimedTemplates, Guest, PodInfo, Waiting
from webhook.placement.objects.repelling import RepellingTerm
from webhook.placement.text.keys import EXCLUSIVE, HARDWARE

JOB = {"streams.ibm.com/job": "parallel"}
PE = JOB | {"streams.ibm.com/pe": "parallel-0"}


def read(source: dict[str, Any]) -> tuple[PodInfo | None, list[str]]:
    return pods.bound_pod(msgspec.convert(source, wire.PodObject))


def bound(source: dict[str, Any]) -> PodInfo:
    found, notes = read(source)
    assert found is not None
    assert notes == []
    return found


def placed(text: str, labels: dict[str, str] | None = None) -> PodInfo:
    """A processing element with this placement text."""
    return bound(pod(labels=PE if labels is None else labels, annotations={PLACEMENT: text, "other": "x"}))


def test_a_strangers_pod_is_its_requests_and_its_node() -> None:
    assert bound(pod(labels={"app": "web", "streams.ibm.com/pe": "x"}, annotations={PLACEMENT: "hostIsolation"})) == (
        PodInfo(uid="uid-web-1", namespace="default", node="node-a", requests={"cpu": 1000, "pods": 1})
    )


def test_a_strangers_pod_may_name_pools() -> None:
    found = placed("host(P), hostIsolation; b: host(Q[1])", labels={})
    assert (found.job, found.pe, found.labels, found.pools, found.isolated) == ("", "", {}, ("P", "Q"), ())


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_holds_nothing(phase: str) -> None:
    assert read(pod(phase=phase)) == (None, [])


@pytest.mark.parametrize("phase", ["Pending", "Running", "Unknown", "", None, "Resting"])
def test_every_other_pod_holds_its_requests(phase: str | None) -> None:
    assert bound(pod(phase=phase)).requests == {"cpu": 1000, "pods": 1}


def test_a_pod_without_spec_and_status_waits_and_holds_its_place() -> None:
    source = {"metadata": {"name": "web-1"}}
    assert bound(source) == PodInfo(uid="default/web-1", namespace="default", node="", requests={"pods": 1})


def test_a_pod_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedError, match=r"^metadata\.name: missing$"):
        read({"spec": {"containers": []}})


def test_a_pod_that_is_being_deleted_is_terminating() -> None:
    assert bound(pod(deletionTimestamp="2026-01-01T00:00:00Z")).terminating


def test_equal_requests_namespaces_and_nodes_are_one_object_each() -> None:
    first, second = bound(pod("web-1")), bound(pod("web-2"))
    assert (first.requests is second.requests, first.namespace is second.namespace, first.node is second.node) == (
        True,
        True,
        True,
    )


def test_more_kinds_of_requests_than_are_kept_are_read_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods, "_REQUESTS_KEPT", 2)

    def cpu(amount: int) -> int:
        resources = {"requests": {"cpu": f"{amount}m"}}
        return bound(pod(spec={"nodeName": "n", "containers": [{"resources": resources}]})).requests["cpu"]

    assert [cpu(amount) for amount in (1, 2, 3, 4, 1, 4)] == [1, 2, 3, 4, 1, 4]


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("initContainers", [{"resources": {"requests": {"cpu": "7m"}}}]),
        ("resources", {"requests": {"cpu": "7m"}}),
        ("overhead", {"cpu": "7m"}),
    ],
)
def test_pods_with_equal_containers_may_request_different_amounts(part: str, value: object) -> None:
    spec: dict[str, object] = {"nodeName": "n", "containers": [{}]}
    other = {**spec, part: value}
    assert (bound(pod(spec=spec)).requests, bound(pod(spec=other)).requests) == ({"pods": 1}, {"cpu": 7, "pods": 1})


def test_what_is_not_counted_is_noted_of_every_pod() -> None:
    spec = {"nodeName": "node-a", "containers": [{"resources": {"requests": {"cpu": "two"}}}]}
    assert read(pod("web-1", spec=spec))[1] == read(pod("web-2", spec=spec))[1] != []


def test_pods_of_others_share_one_empty_set_of_labels() -> None:
    assert bound(pod("web-1")).labels is bound(pod("web-2")).labels


def test_quantities_that_are_none_count_as_zero_with_a_note() -> None:
    spec = {"nodeName": "node-a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "x"}}}]}
    found, notes = read(pod(spec=spec))
    assert found is not None
    assert found.requests == {"cpu": 1000, "pods": 1}
    assert notes == ['spec.containers[0].resources.requests[memory]: "x" is not a quantity, it counts as 0']


def test_a_processing_element_keeps_job_name_and_own_labels() -> None:
    found = bound(pod(labels=PE | {"app": "x", "streams.ibm.com/hostexlocation.B7": "apart"}))
    assert (found.job, found.pe, found.labels) == (
        "parallel",
        "parallel-0",
        PE | {"streams.ibm.com/hostexlocation.B7": "apart"},
    )


@pytest.mark.parametrize(
    ("text", "pools"),
    [
        pytest.param("host(MyPool)", ("MyPool",), id="pool"),
        pytest.param("host(MyPool[3])", ("MyPool",), id="one host of a pool"),
        pytest.param("A: host(P2); B: host(P1); C: host(P2)", ("P2", "P1"), id="several, each once"),
        pytest.param('host("node-a"), hostIsolation', (), id="no pool"),
        pytest.param("", (), id="empty text"),
    ],
)
def test_a_processing_element_holds_hosts_of_the_pools_that_it_names(text: str, pools: tuple[str, ...]) -> None:
    assert placed(text).pools == pools


@pytest.mark.parametrize(
    ("text", "isolated"),
    [
        pytest.param("hostIsolation", ("parallel-0",), id="of the processing element"),
        pytest.param("Sink: hostIsolation", ("Sink",), id="of an operator"),
        pytest.param("A: hostIsolation; hostIsolation; A: hostIsolation", ("A", "parallel-0"), id="each once"),
        pytest.param('host("x"), partitionIsolation', (), id="none"),
    ],
)
def test_isolated_operators_are_those_with_host_isolation(text: str, isolated: tuple[str, ...]) -> None:
    assert placed(text).isolated == isolated


def test_isolation_of_a_pod_that_says_neither_operator_nor_element_isolates_nothing() -> None:
    assert placed("hostIsolation", JOB).isolated == ()


def test_a_text_that_does_not_parse_holds_what_can_be_read_of_it() -> None:
    assert placed("host(MyPool), nonsense(").pools == ("MyPool",)


def test_a_processing_element_without_annotations_names_nothing() -> None:
    found = bound(pod(labels=PE, annotations=None))
    assert (found.pools, found.isolated) == ((), ())


def test_a_pod_that_only_prefers_to_be_alone_repels_no_pod() -> None:
    annotations = {PLACEMENT: "hostIsolation", "streams.ibm.com/preferred": "host, hostIsolation"}
    assert bound(pod(labels=PE, annotations=annotations)).isolated == ()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [pytest.param(PE, "StatefulSet/w", id="of a job"), pytest.param({"app": "web"}, "", id="of nobody")],
)
def test_the_workload_of_a_jobs_pod_is_known(labels: dict[str, str], expected: str) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "w", "uid": "u", "controller": True}
    assert bound(pod(labels=labels, ownerReferences=[owner])).owner == expected


DAEMON = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}
REPLICA = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r-1", "uid": "u", "controller": True}
MIRROR = {"kubernetes.io/config.mirror": "x"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(pod(ownerReferences=[DAEMON]), True, id="daemon"),
        pytest.param(pod(annotations=MIRROR), True, id="static"),
        pytest.param(pod(ownerReferences=[REPLICA]), False, id="replica"),
        pytest.param(pod(ownerReferences=[{**DAEMON, "controller": False}]), False, id="owned, not controlled"),
        pytest.param(pod(ownerReferences=[{**DAEMON, "apiVersion": "example.com/v1"}]), False, id="called a daemon"),
        pytest.param(pod(ownerReferences=[{**DAEMON, "apiVersion": "v1", "kind": "Node"}]), False, id="called static"),
    ],
)
def test_a_pod_goes_with_its_node_if_that_or_a_daemon_set_made_it(found: dict[str, Any], *, expected: bool) -> None:
    assert bound(found).of_node is expected


EVERYTHING = {"operator": "Exists"}
OURS = {"key": EXCLUSIVE, "operator": "Exists"}
USUAL = [
    {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for state in ("not-ready", "unreachable")
]
ANY = ("NoSchedule", "NoExecute")


def tolerating(*tolerations: object, **metadata: object) -> dict[str, Any]:
    return pod(spec={"nodeName": "node-a", "containers": [], "tolerations": list(tolerations)}, **metadata)


GUESTS: dict[str, tuple[dict[str, Any], Guest | None]] = {
    "any pod": (pod(), None),
    "one with the usual tolerations": (tolerating(*USUAL), None),
    "one that tolerates everything": (tolerating(*USUAL, EVERYTHING), Guest("Pod/web-1", ANY)),
    "one that tolerates the taint": (tolerating(OURS), Guest("Pod/web-1", ANY)),
    "of one effect": (tolerating({**OURS, "effect": "NoSchedule"}), Guest("Pod/web-1", ("NoSchedule",))),
    "of another": (tolerating({**EVERYTHING, "effect": "NoExecute"}), Guest("Pod/web-1", ("NoExecute",))),
    "of none that closes a node": (tolerating({**EVERYTHING, "effect": "PreferNoSchedule"}), None),
    "a daemon": (tolerating(EVERYTHING, ownerReferences=[DAEMON]), Guest("DaemonSet/d", ANY)),
    "a daemon that tolerates nothing": (pod(ownerReferences=[DAEMON]), None),
    "a replica": (
        tolerating(EVERYTHING, ownerReferences=[{**REPLICA, "name": "r-1"}], labels={"pod-template-hash": "1"}),
        Guest("Deployment/r", ANY),
    ),
    "one that is called a daemon": (
        pod(ownerReferences=[{**DAEMON, "apiVersion": "example.com/v1"}]),
        Guest("Pod/web-1", forged=True),
    ),
    "one that is called one and tolerates the taint": (
        tolerating(OURS, ownerReferences=[{**DAEMON, "apiVersion": "example.com/v1"}]),
        Guest("Pod/web-1", ANY, forged=True),
    ),
    "one that something called so does not control": (
        pod(ownerReferences=[{"apiVersion": "example.com/v1", "kind": "DaemonSet", "name": "d"}]),
        None,
    ),
    "a static one": (tolerating(EVERYTHING, annotations=MIRROR), None),
    "one of a job": (tolerating(EVERYTHING, labels=PE), None),
    "one that names a pool": (tolerating(OURS, annotations={PLACEMENT: "host(P)"}), None),
}  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), GUESTS.values(), ids=GUESTS)
def test_what_may_run_on_exclusive_hosts_of_others_is_known(found: dict[str, Any], expected: Guest | None) -> None:
    assert bound(found).guest == expected


def test_a_pod_without_an_owner_does_not_go_with_its_node() -> None:
    assert not bound(pod()).of_node


TOKEN = ("streams.ibm.com/hostexlocation.86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8", "a")
WORKER = ("streams.ibm.com/worker", "true")
UNIFORM = "streams.ibm.com/kubernetes.worker.mapping.uniform"


@pytest.mark.parametrize(
    ("annotations", "labels", "repels"),
    [
        pytest.param({PLACEMENT: 'hostExlocation("a")'}, [TOKEN], (TOKEN,), id="exlocation"),
        pytest.param({UNIFORM: "all-separate-nodes"}, [WORKER], (WORKER,), id="separate nodes"),
        pytest.param({UNIFORM: "all-same-node"}, [WORKER], (), id="one node"),
        pytest.param({PLACEMENT: 'hostExlocation("a")'}, [], (), id="a pod that the webhook did not see"),
        pytest.param(
            {PLACEMENT: 'hostExlocation("a")', "streams.ibm.com/preferred": "hostExlocation"},
            [TOKEN],
            (),
            id="preferred exlocation",
        ),
        pytest.param(
            {UNIFORM: "all-separate-nodes", "streams.ibm.com/preferred": "uniform"}, [WORKER], (), id="preferred nodes"
        ),
    ],
)
def test_a_pod_keeps_away_those_of_its_labels(
    annotations: dict[str, str], labels: list[tuple[str, str]], repels: tuple[tuple[str, str], ...]
) -> None:
    assert bound(pod(labels=PE | dict(labels), annotations=annotations)).repels == repels


@pytest.mark.parametrize(
    ("away", "guards"),
    [
        (None, ()),
        ({}, ()),
        (
            {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "b"}, {"topologyKey": "a"}] * 2},
            ("b", "a"),
        ),
    ],
    ids=["nothing", "nothing required", "something"],
)
def test_a_pod_that_requires_others_to_keep_away_guards_its_node(away: object, guards: tuple[str, ...]) -> None:
    source = pod()
    source["spec"]["affinity"] = {"podAntiAffinity": away}
    assert bound(source).guards == guards


def test_a_pod_that_was_let_in_to_wait_is_known_to_wait_until_it_has_a_node() -> None:
    source = pod(annotations={"streams.ibm.com/waits": "no node yet: why"})
    assert bound(source).waits is None
    del source["spec"]["nodeName"]
    assert bound(source).waits == Waiting("web-1", "no node yet: why")
    source["metadata"]["annotations"] = {"streams.ibm.com/waits": ""}
    assert bound(source).waits is None


# podAntiAffinity


WEB = {"matchLabels": {"app": "web"}}
NEEDS = (Requirement("app", "In", ("web",)),)


def shuns(labels: dict[str, str] | None = None, **term: Any) -> tuple[RepellingTerm, ...]:
    """What is kept of a required term of a pod in the namespace ``default``."""
    stated = {"topologyKey": "zone", "labelSelector": WEB, **term}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [stated]}}
    return bound(pod(labels=labels or {}, spec={"nodeName": "node-a", "affinity": affinity})).shuns


def test_a_term_is_about_the_pods_own_namespace_or_those_that_it_names() -> None:
    assert shuns() == (RepellingTerm("zone", NEEDS, frozenset({"default"})),)
    assert shuns(namespaces=["a", "b"]) == (RepellingTerm("zone", NEEDS, frozenset({"a", "b"})),)
    assert shuns(namespaceSelector={}) == (RepellingTerm("zone", NEEDS, None),)
    named = {"matchLabels": {"kubernetes.io/metadata.name": "c"}}
    assert shuns(namespaces=["a"], namespaceSelector=named) == (RepellingTerm("zone", NEEDS, frozenset({"a", "c"})),)


def test_of_labels_of_namespaces_nothing_is_known() -> None:
    assert shuns(namespaceSelector={"matchLabels": {"team": "t"}}) == (RepellingTerm("zone", NEEDS, frozenset()),)


def test_keys_stand_for_the_labels_that_the_pod_has() -> None:
    mine = {"tenant": "mine"}
    same, others = Requirement("tenant", "In", ("mine",)), Requirement("tenant", "NotIn", ("mine",))
    here = frozenset({"default"})
    assert shuns(mine, matchLabelKeys=["tenant", "other"]) == (RepellingTerm("zone", (*NEEDS, same), here),)
    assert shuns(mine, mismatchLabelKeys=["tenant", "other"]) == (RepellingTerm("zone", (*NEEDS, others), here),)


def test_a_term_about_the_pods_own_job_is_not_kept_and_one_about_another_is() -> None:
    of_job = {"matchLabels": JOB}
    about = RepellingTerm("zone", (Requirement("streams.ibm.com/job", "In", ("parallel",)),), frozenset({"default"}))
    assert shuns({"app": "db"}, labelSelector=of_job) == (about,)
    assert shuns({"streams.ibm.com/job": "another"}, labelSelector=of_job) == (about,)
    assert shuns(JOB, labelSelector=of_job) == ()
    assert shuns(JOB, matchLabelKeys=["streams.ibm.com/job"]) == ()


def test_a_term_without_a_selector_matches_no_pod() -> None:
    assert shuns(labelSelector=None) == ()


def test_large_requests_are_those_of_a_pod_alone() -> None:
    """One pod may request by a megabyte of names, and what is shared is not forgotten with it."""

    def requests(count: int) -> PodInfo:
        amounts = {f"example.com/resource-number-{at}": "1" for at in range(count)}
        return bound(
            pod(spec={"nodeName": "node-a", "containers": [{"name": "c", "resources": {"requests": amounts}}]})
        )

    assert requests(10).requests is requests(10).requests
    large, again = requests(100).requests, requests(100).requests
    assert large is not again
    assert large == again == {f"example.com/resource-number-{at}": 1 for at in range(100)} | {"pods": 1}


def test_an_amount_that_is_not_counted_is_named_beside_large_requests() -> None:
    amounts = {f"example.com/resource-number-{at}": "1" for at in range(100)} | {"cpu": "x"}
    found, notes = read(pod(spec={"nodeName": "n", "containers": [{"name": "c", "resources": {"requests": amounts}}]}))
    assert found is not None
    assert len(found.requests) == 101
    assert notes == ['spec.containers[0].resources.requests[cpu]: "x" is not a quantity, it counts as 0']


def test_many_ports_are_those_of_a_pod_alone() -> None:
    def ports(count: int) -> tuple[HostPort, ...]:
        taken = [{"containerPort": 80, "hostPort": 8000 + at} for at in range(count)]
        return bound(pod(spec={"nodeName": "node-a", "containers": [{"name": "c", "ports": taken}]})).ports

    assert ports(64) is ports(64)
    assert ports(65) is not ports(65)
    assert len(ports(65)) == 65


def test_the_ports_of_its_node_that_a_pod_takes_are_kept() -> None:
    def ports(**spec: Any) -> tuple[HostPort, ...]:
        return bound(pod(spec={"nodeName": "node-a", **spec})).ports

    taken = {"name": "c", "ports": [{"containerPort": 80, "hostPort": 8080}]}
    assert ports(containers=[taken]) == (HostPort("TCP", 8080),)
    assert ports(containers=[taken]) is ports(containers=[taken, taken])
    assert ports(containers=[{"name": "c", "ports": [{"containerPort": 80}]}]) == ()
    assert ports(hostNetwork=True, containers=[{"name": "c", "ports": [{"containerPort": 80, "protocol": "UDP"}]}]) == (
        HostPort("UDP", 80),
    )


def test_a_pod_without_such_terms_repels_no_pod() -> None:
    assert bound(pod(spec={"nodeName": "node-a", "affinity": {"nodeAffinity": {}}})).shuns == ()


def test_of_described_devices_those_are_kept_whose_templates_the_pod_uses() -> None:
    used = DescribedDevices("gpu")
    source = pod(annotations={HARDWARE: "[{device: {class: nic}}, {device: {class: gpu}}, {device: {template: own}}]"})
    templates = [used.template, "own", "hpa-gpus", used.template]
    source["spec"]["resourceClaims"] = [
        {"name": f"c{at}", "resourceClaimTemplateName": name} for at, name in enumerate(templates)
    ]
    found, notes = read(source)
    assert found is not None
    assert (found.claimed, notes) == (ClaimedTemplates("web-1", (used.template,), ((used.template, used),)), [])
