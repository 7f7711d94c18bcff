"""What is kept, under which key, and for how long it holds."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import NAMESPACE, Json, asked, bound_pod, cluster, job, node, nodes, pod, pool, typed
from tests.placement.devices.clusters import CLASS, asking, on
from tests.placement.spreading_pods import spread
from webhook.placement.devices.published.claims import ClaimSpec, ClaimTemplate, ResourceClaim
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.pod import PodInfo
from webhook.placement.request.memo import LENGTH_LIMIT, Key, Memo, key_of
from webhook.placement.request.world import World
from webhook.placement.text import keys

ALONE, TOGETHER = pod("host(MyPool)"), pod('hostColocation("t")')


def key(found: Json, inventory: Inventory) -> Key:
    made = key_of(typed(found), NAMESPACE, inventory)
    assert made is not None
    return made


def kept(found: Json, inventory: Inventory) -> Memo[str]:
    memo = Memo[str]()
    memo.keep(World(inventory, Policy()), key(found, inventory), asked(found, inventory), "answer")
    return memo


def test_what_was_kept_is_found() -> None:
    inventory = cluster(nodes(1), pools=[pool()])
    assert kept(ALONE, inventory).find(inventory, key(ALONE, inventory)) == "answer"


def test_what_was_not_kept_is_not_found() -> None:
    inventory = cluster(nodes(1), pools=[pool()])
    assert kept(ALONE, inventory).find(inventory, key(TOGETHER, inventory)) is None


def test_in_another_cluster_nothing_is_found() -> None:
    inventory, other = (cluster(nodes(1), pools=[pool()]) for _ in range(2))
    assert kept(ALONE, inventory).find(other, key(ALONE, other)) is None


ZONES = NodeTopology(TopologyPolicy.SINGLE, TopologyScope.POD, (NumaZone(),))

CHANGES: dict[str, Callable[[Inventory], None]] = {
    "a node": lambda inventory: inventory.set_node(node("node-z")),
    "a node group": lambda inventory: inventory.node_groups.put(NodeGroup("NodePool", "spot")),
    "a pool": lambda inventory: inventory.set_pool(pool("Other")),
    "a job": lambda inventory: inventory.set_job(job({"parallel-0": "hostIsolation"})),
    "a DeviceClass": lambda inventory: inventory.devices.put_class(DeviceClass("gpu.example.com")),
    "NUMA zones": lambda inventory: inventory.topologies.put("node-a", ZONES),
    "an isolated pod of the job": lambda inventory: inventory.set_pod(bound_pod(isolated=["Sink"])),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_was_kept_is_lost_with_a_change_of(change: Callable[[Inventory], None]) -> None:
    inventory = cluster(nodes(1), pools=[pool()])
    before, memo = key(ALONE, inventory), kept(ALONE, inventory)
    change(inventory)
    assert memo.find(inventory, before) is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(ALONE, "answer", id="without a clause about other pods"),
        pytest.param(TOGETHER, None, id="with one"),
        pytest.param(pod(topologySpreadConstraints=spread()), None, id="that is spread beside them"),
    ],
)
def test_another_pod_of_the_job_matters_only_to_a_pod(found: Json, expected: str | None) -> None:
    inventory = cluster(nodes(1), pools=[pool()])
    memo = kept(found, inventory)
    inventory.set_pod(bound_pod())
    assert memo.find(inventory, key(found, inventory)) == expected


CLAIMING = pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])

DEVICE_CHANGES: dict[str, Callable[[Inventory], None]] = {
    "slices": lambda inventory: inventory.devices.put_slice(on("node-a", 1)),
    "claims": lambda inventory: inventory.devices.put_claim(ResourceClaim("default", "gpu", ClaimSpec())),
    "templates": lambda inventory: inventory.devices.put_template(ClaimTemplate("default", "gpu", ClaimSpec())),
}


@pytest.mark.parametrize("change", DEVICE_CHANGES.values(), ids=DEVICE_CHANGES.keys())
@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(ALONE, "answer", id="without devices"),
        pytest.param(CLAIMING, None, id="with claims"),
        pytest.param(asking(), None, id="with a mapped resource"),
    ],
)
def test_devices_matter_only_to_a_pod(found: Json, expected: str | None, change: Callable[[Inventory], None]) -> None:
    inventory = cluster(nodes(1), pools=[pool()])
    inventory.devices.put_class(CLASS)
    memo = kept(found, inventory)
    change(inventory)
    assert memo.find(inventory, key(found, inventory)) == expected


def near(**labels: str) -> dict[str, Any]:
    """An affinity with pods of these labels; a mapping cannot be part of a key as it is."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": labels}}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_an_affinity_with_labels_is_part_of_the_key() -> None:
    inventory = cluster(nodes(1))
    one, same, other = (key(pod(affinity=near(app=app)), inventory) for app in ("a", "a", "b"))
    assert hash(one) == hash(same)
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("said", "same"),
    [
        pytest.param({}, True, id="that is not spread by them"),
        pytest.param({"topologySpreadConstraints": spread()}, False, id="that may be spread by them"),
    ],
)
def test_labels_of_others_are_part_of_the_key_only_of_a_pod(said: Json, *, same: bool) -> None:
    inventory = cluster(nodes(1))
    one, other = (key(pod(labels={"app": app}, **said), inventory) for app in ("a", "b"))
    assert (one == other) is same


@pytest.mark.parametrize(
    "found",
    [pytest.param(pod('host("node-a")'), id="by a clause"), pytest.param(pod(nodeName="node-a"), id="by its spec")],
)
def test_nothing_is_kept_for_a_pod_that_names_its_node(found: Json) -> None:
    """Free room there changes with every pod of the cluster."""
    inventory = cluster(nodes(1))
    assert key_of(typed(found), NAMESPACE, inventory) is None


@pytest.mark.parametrize("name", [f"{keys.PREFIX}contentId", "example.com/note"])
def test_unread_annotations_are_no_part_of_the_key(name: str) -> None:
    inventory = cluster(nodes(1))
    one, other = (pod("hostIsolation", annotations={name: text}) for text in ("a", "b"))
    assert key(one, inventory) == key(other, inventory)


def test_a_pod_of_uncommon_length_has_no_key() -> None:
    found = pod(nodeSelector={"label": "x" * LENGTH_LIMIT})
    assert key_of(typed(found), NAMESPACE, cluster(nodes(1))) is None


LONG: dict[str, dict[str, Any]] = {
    "a job": {"job": "x" * LENGTH_LIMIT},
    "an annotation of ours": {"annotations": {keys.HARDWARE: "x" * LENGTH_LIMIT}},
    "an owner": {"owner": "x" * LENGTH_LIMIT},
    "a label beside spread constraints": {
        "labels": {"app": "x" * LENGTH_LIMIT}, "topologySpreadConstraints": spread()
    },
}  # fmt: skip


@pytest.mark.parametrize("more", LONG.values(), ids=LONG.keys())
def test_a_pod_with_long_metadata_has_no_key(more: dict[str, Any]) -> None:
    assert key_of(typed(pod("host(MyPool)", **more)), NAMESPACE, cluster(nodes(1))) is None


def test_metadata_that_no_decision_reads_may_be_long() -> None:
    long = "x" * LENGTH_LIMIT
    found = pod(
        "host(MyPool)", labels={"app": long}, annotations={"example.com/note": long, f"{keys.PREFIX}contentId": long}
    )
    assert key_of(typed(found), NAMESPACE, cluster(nodes(1))) is not None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("Filter: host(MyPool)", "Join: /* of all */ host(MyPool)", True, id="with other operators"),
        pytest.param("host(MyPool)", "host(Other)", False, id="with other arguments"),
        pytest.param('hostExlocation("a")', 'hostColocation("a")', False, id="with other clauses"),
        pytest.param("Filter: hostIsolation", "Join: hostIsolation", False, id="that isolate other operators"),
        pytest.param("Filter: host(", "Join: host(", False, id="with errors"),
    ],
)
def test_placement_texts_that_ask_the_same_have_one_key(one: str, other: str, *, same: bool) -> None:
    inventory = cluster(nodes(1))
    assert (key(pod(one), inventory) == key(pod(other), inventory)) is same


@pytest.mark.parametrize(
    ("placements", "pods", "same"),
    [
        pytest.param({}, [], True, id="of which nothing is known"),
        pytest.param({"parallel-1": "hostIsolation"}, [], False, id="whose model isolates one of them"),
        pytest.param({}, [bound_pod(pe="parallel-1", isolated=["Sink"])], False, id="that runs one of them isolated"),
        pytest.param({"parallel-9": "hostIsolation"}, [], True, id="that isolates others"),
    ],
)
def test_processing_elements_are_told_apart_in_a_job(
    placements: dict[str, str], pods: list[PodInfo], *, same: bool
) -> None:
    inventory = cluster(nodes(1), pods=pods)
    inventory.set_job(job(placements))
    one, other = (key(pod("host(MyPool)", pe=pe), inventory) for pe in ("parallel-0", "parallel-1"))
    assert (one == other) is same


def test_an_answer_that_quotes_its_text_is_kept_for_that_text() -> None:
    inventory = cluster(nodes(1))
    world = World(inventory, Policy())
    one, memo = key(ALONE, inventory), Memo[str]()
    memo.keep(world, one, asked(ALONE, inventory), "for all")
    assert memo.find(inventory, one, "a text") == "for all"
    memo.keep(world, one, asked(ALONE, inventory), "for one", "a text")
    assert (memo.find(inventory, one, "a text"), memo.find(inventory, one, "another")) == ("for one", None)


def test_an_answer_about_hosts_that_a_pool_is_yet_to_get_is_not_kept() -> None:
    pending = pool(size=1)
    inventory = cluster(nodes(1), pools=[pending])
    world, memo = World(inventory, Policy()), Memo[str]()
    world.allocation(pending)
    memo.keep(world, key(ALONE, inventory), asked(ALONE, inventory), "answer")
    assert len(memo) == 0
