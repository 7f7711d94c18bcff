"""Every SPL sample of the design document "Streams host constraints", through the webhook, against its YAML.

The document shows ``matchExpressions`` as a map, which no API server takes: here it is the list it must be. Every
generated pod selector also names the job (``docs/colocation.md``).
"""

from typing import Any

import pytest

from tests.answers import patched, refused
from tests.builders import NAMESPACE, cluster, job, node, nodes, pod, pool, review
from webhook.admission.mutate import mutate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.text import keys

Json = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TOGETHER = "streams.ibm.com/hostcolocation.9034FF9E2B8F00B47A44DFAF3C2A37176C101E2A"
APART = "streams.ibm.com/hostexlocation.B76ADE163D874CC5BC0F408D70CFC165667EEC5F"
SINK = "streams.ibm.com/hostisolation.E53E8D5300C878019A997D4CFB7201C7ED2EE003"


def streams_pod(placement: str | None, pe: str = "parallel-0", job: str = "parallel") -> Json:
    """The pod of the document's samples, before the webhook."""
    found = pod(placement, job=job, pe=pe, labels={"app": "streams"})
    found["spec"]["containers"] = [
        {
            "name": "streams",
            "args": ["/opt/ibm/streams/system/impl/bin/streams-k8s-bootstrap"],
            "image": "us.icr.io/spl_team/streams-runtime:6.release",
        }
    ]
    return found


def changed(found: Json, inventory: Inventory) -> tuple[Json, Json]:
    """The labels (but the seal) and the spec that the webhook added, with everything else proven to be as it was."""
    after = patched(found, mutate(review(found), inventory, Policy()))
    labels, own = after["metadata"]["labels"], found["metadata"]["labels"]
    spec = {key: value for key, value in after["spec"].items() if key not in found["spec"]}
    assert {key: labels[key] for key in own} == own
    assert {key: after["spec"][key] for key in found["spec"]} == found["spec"]
    return {key: value for key, value in labels.items() if key not in own and key != keys.SEAL}, spec


def pods_with(key: str, value: str, name: str = "parallel") -> list[Json]:
    """A list of one pod term."""
    expressions = [
        {"key": key, "operator": "In", "values": [value]},
        {"key": "streams.ibm.com/job", "operator": "In", "values": [name]},
    ]
    return [{"labelSelector": {"matchExpressions": expressions}, "topologyKey": "kubernetes.io/hostname"}]


NAMED_HOSTS = {
    "nodeAffinity": {
        REQUIRED: {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}]
        }
    }
}
"""What goes with terms about other pods: on a node without a host name the scheduler would not see them."""


def node_term(*expressions: Json) -> Json:
    """A spec with one required node term."""
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}}


@pytest.mark.parametrize("host", ["foo.watson.ibm.com", "10.4.40.83"], ids=["name", "IP address"])
def test_a_specific_host_is_the_node_name(host: str) -> None:
    inventory = cluster([*nodes(2), node("foo.watson.ibm.com", addresses=["10.4.40.83"])], jobs=[job({})])
    assert changed(streams_pod(f'host("{host}")'), inventory) == ({}, {"nodeName": "foo.watson.ibm.com"})


def test_an_ip_address_that_no_node_has_fails_the_submission() -> None:
    answer = mutate(review(streams_pod('host("10.4.40.83")')), cluster(nodes(2)), Policy())
    assert refused(answer)[0] == 403


def test_any_host_of_a_pool_is_one_with_its_tag() -> None:
    inventory = cluster([node("node-a", labels={keys.TAG: "source"}), node("node-b")], pools=[pool(tags=["source"])])
    expression = {"key": "streams.ibm.com/hostpool", "operator": "In", "values": ["source"]}
    assert changed(streams_pod("Source: host(MyPool)"), inventory) == ({}, node_term(expression))


def member(name: str, operator: str = "Exists", *values: str) -> Json:
    """The expression on the label of a pool's hosts."""
    key = keys.membership(NAMESPACE, name)
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


TAGS = [{"key": f"hostpool.streams.ibm.com/{tag}", "operator": "Exists"} for tag in ("blue", "ib")]
TEN = [f"node-{chr(ord('a') + at)}" for at in range(10)]
TOLERATION = {"key": "streams.ibm.com/exclusive", "operator": "Equal", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            pool("P1", phase=Phase.PENDING, size=10, tags=["ib", "blue"]), node_term(*TAGS, member("p1")), id="P1"
        ),
        pytest.param(
            pool("P2", phase=Phase.PENDING, size=10, tags=["ib", "blue"], mode="Exclusive"),
            {**node_term(*TAGS, member("p2")), "tolerations": [{**TOLERATION, "value": "default.p2"}]},
            id="P2",
        ),
        pytest.param(pool("P4", phase=Phase.PENDING, size=10), node_term(member("p4")), id="P4"),
        pytest.param(
            pool("P5", phase=Phase.PENDING, size=10, mode="Exclusive"),
            {**node_term(member("p5")), "tolerations": [{**TOLERATION, "value": "default.p5"}]},
            id="P5",
        ),
        pytest.param(pool("P3", tags=["ib", "blue"]), node_term(*TAGS), id="P3"),
        pytest.param(pool("P6"), {}, id="P6"),
        pytest.param(
            pool("NamesPool", phase=Phase.PENDING, hosts=TEN[:2]), node_term(member("namespool")), id="NamesPool"
        ),
        pytest.param(
            pool("IPsPool", phase=Phase.PENDING, hosts=["10.8.5.0", "10.8.5.1"]),
            node_term(member("ipspool")),
            id="IPsPool",
        ),
    ],
)
def test_every_kind_of_pool_is_labels_and_taints(found: Pool, expected: Json) -> None:
    labels = {f"hostpool.streams.ibm.com/{tag}": "" for tag in ("ib", "blue")}
    ten = [node(name, labels=labels, addresses=[f"10.8.5.{at}"]) for at, name in enumerate(TEN)]
    placement = f"Source: host({found.spl_name})"
    assert changed(streams_pod(placement), cluster(ten, pools=[found])) == ({}, expected)


def test_a_particular_host_of_a_pool_is_a_label_of_its_own() -> None:
    found = pool(size=10, assigned=TEN)
    expected = node_term(member("mypool", "In", "5"))
    assert changed(streams_pod("Source: host(MyPool[5])"), cluster(nodes(10), pools=[found])) == ({}, expected)


def test_elements_that_run_together_are_near_their_label() -> None:
    affinity = {**NAMED_HOSTS, "podAffinity": {REQUIRED: pods_with(TOGETHER, "together")}}
    assert changed(streams_pod('Out: hostColocation("together")'), cluster(nodes(1))) == (
        {TOGETHER: "together"},
        {"affinity": affinity},
    )


def test_elements_that_run_apart_are_away_from_their_label() -> None:
    affinity = {**NAMED_HOSTS, "podAntiAffinity": {REQUIRED: pods_with(APART, "apart")}}
    assert changed(streams_pod('Out: hostExlocation("apart")'), cluster(nodes(1))) == (
        {APART: "apart"},
        {"affinity": affinity},
    )


EXAMPLE = job(
    {
        "parallel-0": {"Source": "partitionIsolation"},
        "parallel-1": {"Work": "partitionIsolation"},
        "parallel-2": {"Sink": "partitionIsolation, hostIsolation"},
    },
    name="ex",
)


@pytest.mark.parametrize(
    ("pe", "placement", "labels", "spec"),
    [
        pytest.param("parallel-0", "Source: partitionIsolation", {SINK: "Sink"}, {}, id="Source"),
        pytest.param("parallel-1", "Work: partitionIsolation", {SINK: "Sink"}, {}, id="Work"),
        pytest.param(
            "parallel-2",
            "Sink: partitionIsolation, hostIsolation",
            {},
            {"affinity": {**NAMED_HOSTS, "podAntiAffinity": {REQUIRED: pods_with(SINK, "Sink", "ex")}}},
            id="Sink",
        ),
    ],
)
def test_an_element_that_runs_alone_is_away_from_the_label_of_all_others(
    pe: str, placement: str, labels: Json, spec: Json
) -> None:
    inventory = cluster(nodes(3), jobs=[EXAMPLE])
    assert changed(streams_pod(placement, pe, "ex"), inventory) == (labels, spec)
