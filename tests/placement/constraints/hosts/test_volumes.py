"""The pod's volumes: nodes that cannot use them are out, and what is not known refuses nobody."""

from collections.abc import Iterable

import pytest

from tests.builders import Json, cluster, decided, node, nodes, pod
from tests.placement.planning.at_once import job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.objects.node import Node
from webhook.placement.objects.volumes import Claim, PersistentVolume, StorageClass, Volumes
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault
from webhook.placement.text.rule import Rule

ZONE = "topology.kubernetes.io/zone"
CLAIM = "PersistentVolumeClaim c"


def having(key: str, *values: str) -> NodeTerm:
    """The term for nodes with one of these values of the label."""
    return NodeTerm(match_expressions=(Requirement(key, "In", values),))


ON_A = (having(keys.HOSTNAME, "node-a"),)
IN_Z = (having(ZONE, "z"),)
BOUND = Claim("default", "c", "v")
UNBOUND = Claim("default", "c", storage_class="fast")


def stored(
    claim: Claim | None = BOUND,
    volume: PersistentVolume | None = None,
    classes: Iterable[StorageClass] = (),
    machines: Iterable[Node] | None = None,
) -> Inventory:
    """A cluster of three nodes with this claim, its volume, and these classes."""
    inventory = cluster(nodes(3) if machines is None else machines)
    if claim:
        inventory.volumes.put_claim(claim)
    if volume:
        inventory.volumes.put_volume(volume)
    for found in classes:
        inventory.volumes.put_class(found)
    return inventory


def with_claim(placement: str | None = None, name: str = "c", **tweaks: object) -> Json:
    return pod(placement, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}], **tweaks)


def made_with_it(storage_class: str | None = "fast") -> Json:
    spec = {} if storage_class is None else {"storageClassName": storage_class}
    return pod(volumes=[{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}])


def candidates(found: Json, inventory: Inventory) -> list[str]:
    decision = decided(found, inventory)
    assert decision.verdict, decision.message
    known = inventory.nodes
    return [name for name in sorted(known.slot_of) if decision.verdict.candidates & known.named(name)]


# Claims that are bound


def test_a_bound_claim_ties_the_pod_to_the_nodes_of_its_volume() -> None:
    inventory = stored(volume=PersistentVolume("v", ON_A))
    found = decided(with_claim(), inventory)
    assert (candidates(with_claim(), inventory), found.refused, found.warnings) == (["node-a"], False, ())


def test_a_volume_without_node_affinity_ties_it_to_none() -> None:
    inventory = stored(volume=PersistentVolume("v"))
    assert candidates(with_claim(), inventory) == ["node-a", "node-b", "node-c"]


def test_one_of_several_terms_is_enough() -> None:
    terms = (*ON_A, having(keys.HOSTNAME, "node-c"))
    assert candidates(with_claim(), stored(volume=PersistentVolume("v", terms))) == ["node-a", "node-c"]


def test_another_node_by_clause_is_refused() -> None:
    found = decided(with_claim('host("node-c")'), stored(volume=PersistentVolume("v", ON_A)))
    assert (found.fault, found.rules, found.message) == (
        Fault.FORBIDDEN,
        (Rule.HOST, Rule.VOLUMES),
        (
            f'host("node-c") and {CLAIM} cannot both hold: 0 of 3 nodes can run this pod.\n'
            "  2 nodes are not named node-c\n"
            f"  1 node cannot use {CLAIM}\n"
            'Nearest fix: drop host("node-c") (1 node would fit).'
        ),
    )


def test_a_volume_of_no_node_is_refused_by_itself() -> None:
    found = decided(with_claim(), stored(volume=PersistentVolume("v", (having(keys.HOSTNAME, "gone"),))))
    assert found.message == (
        f"{CLAIM} cannot hold: 0 of 3 nodes can run this pod.\n"
        f"  3 nodes cannot use {CLAIM}\n"
        f"Nearest fix: drop {CLAIM} (3 nodes would fit)."
    )


def test_a_volume_of_a_zone_asks_for_a_node_there() -> None:
    found = decided(with_claim(), stored(volume=PersistentVolume("v", IN_Z)))
    assert found.message.splitlines()[-1] == (
        f"Nearest fix: add a node with {ZONE}=z, or drop {CLAIM} (3 nodes would fit)."
    )


@pytest.mark.parametrize(
    "terms",
    [
        pytest.param((NodeTerm(match_expressions=(Requirement(ZONE, "Exists"),)),), id="any value"),
        pytest.param((*IN_Z, having(ZONE, "y")), id="several terms"),
        pytest.param((NodeTerm(match_fields=(Requirement("metadata.name", "In", ("gone",)),)),), id="a name"),
    ],
)
def test_what_no_single_label_says_is_not_advice(terms: tuple[NodeTerm, ...]) -> None:
    found = decided(with_claim(), stored(volume=PersistentVolume("v", terms)))
    assert found.message.splitlines()[-1] == f"Nearest fix: drop {CLAIM} (3 nodes would fit)."


def test_a_node_that_is_added_would_not_have_a_local_volume() -> None:
    inventory = stored(volume=PersistentVolume("v", ON_A))
    found = decided(with_claim(requests={"cpu": "64"}), inventory)
    assert "add a node" not in found.message


def test_a_node_that_is_added_in_its_zone_could_use_a_volume_of_the_zone() -> None:
    machines = [node("node-a", labels={ZONE: "z"}), node("node-b")]
    found = decided(with_claim(requests={"cpu": "64"}), stored(volume=PersistentVolume("v", IN_Z), machines=machines))
    assert "Nearest fix: add a node with cpu 64 to offer and the label topology.kubernetes.io/zone=z" in found.message


def test_the_pods_of_a_job_are_tied_to_their_volumes() -> None:
    volume = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}
    element = {
        "operators": [{"name": "A", "placement": 'host("node-c")'}],
        "template": {"spec": {"containers": [{"name": "main", "image": "i"}], **volume}},
    }
    found = judged(job_spec(element), stored(volume=PersistentVolume("v", ON_A)))
    assert found.headline == (
        f'processing element app-0: host("node-c") and {CLAIM} cannot both hold: 0 of 3 nodes can run this pod.'
    )


def test_apart_with_one_volume_cannot_be() -> None:
    volume = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}
    elements = (
        {
            "name": f"app-{at}",
            "operators": [{"name": "A", "placement": 'hostExlocation("x")'}],
            "template": {"spec": {"containers": [{"name": "main", "image": "i"}], **volume}},
        }
        for at in range(2)
    )
    found = judged(job_spec(*elements), stored(volume=PersistentVolume("v", ON_A)))
    assert f"{CLAIM}" in found.headline
    assert found.refused


# Claims that are not


UNKNOWN = "the nodes that can use it are unknown; the pod waits for one of them"
UNKNOWN_VOLUME = "it is bound to an unknown volume; the pod waits for its node"
NOT_BOUND = "it is not bound yet: its node is chosen independently of the pod, which waits"
BY_HAND = "it is not bound yet; which nodes have a volume for it is not judged, and the pod waits for one"
NO_CLASS = "it is not bound and its class is unknown; the pod waits until it is bound"


@pytest.mark.parametrize(
    ("inventory", "doubt"),
    [
        pytest.param(stored(None), UNKNOWN, id="a claim that was not read"),
        pytest.param(stored(), UNKNOWN_VOLUME, id="a volume that was not read"),
        pytest.param(stored(UNBOUND), NO_CLASS, id="no class"),
        pytest.param(stored(UNBOUND, classes=[StorageClass("fast")]), NOT_BOUND, id="bound without the pod"),
        pytest.param(stored(UNBOUND, classes=[StorageClass("fast", waits=True, by_hand=True)]), BY_HAND, id="by hand"),
        pytest.param(stored(Claim("default", "c", storage_class="")), NO_CLASS, id="of no class"),
        pytest.param(stored(Claim("default", "c")), NO_CLASS, id="of a default class that there is not"),
        pytest.param(stored(Claim("other", "c", "v"), PersistentVolume("v", ON_A)), UNKNOWN, id="of another namespace"),
    ],
)
def test_what_is_not_known_is_a_warning_and_no_refusal(inventory: Inventory, doubt: str) -> None:
    found = decided(with_claim(), inventory)
    assert (found.refused, found.warnings) == (False, (f"{CLAIM}: {doubt}",))
    assert candidates(with_claim(), inventory) == ["node-a", "node-b", "node-c"]


def test_a_claim_that_there_is_not_is_waited_for() -> None:
    inventory = stored(None)
    inventory.volumes.missing(("default", "c"))
    assert decided(with_claim(), inventory).warnings == (f"{CLAIM}: this claim does not exist; the pod waits for it",)


@pytest.mark.parametrize("found", [with_claim(), made_with_it()], ids=["a claim", "one made with the pod"])
def test_a_volume_is_made_where_its_class_makes_any(found: Json) -> None:
    fast = StorageClass("fast", waits=True, terms=ON_A)
    inventory = stored(UNBOUND, classes=[fast])
    assert (candidates(found, inventory), decided(found, inventory).warnings) == (["node-a"], ())


def test_a_class_may_make_volumes_anywhere() -> None:
    inventory = stored(UNBOUND, classes=[StorageClass("fast", waits=True)])
    assert (candidates(with_claim(), inventory), decided(with_claim(), inventory).warnings) == (
        ["node-a", "node-b", "node-c"],
        (),
    )


def test_the_default_class_counts_where_none_is_named() -> None:
    classes = [StorageClass("a", waits=True, default=True), StorageClass("b", waits=True, terms=ON_A, default=True)]
    assert candidates(made_with_it(None), stored(classes=classes)) == ["node-a"]


@pytest.mark.parametrize(
    ("storage_class", "clause"),
    [("fast", "volume of StorageClass fast"), (None, "volume of the default StorageClass")],
)
def test_a_volume_that_is_made_with_the_pod_is_named_by_its_class(storage_class: str | None, clause: str) -> None:
    gone = (having(keys.HOSTNAME, "gone"),)
    inventory = stored(classes=[StorageClass("fast", waits=True, terms=gone, default=True)])
    found = decided(made_with_it(storage_class), inventory)
    assert (found.headline, found.rules) == (
        f"{clause} cannot hold: 0 of 3 nodes can run this pod.",
        (Rule.VOLUMES,),
    )


def test_a_template_without_a_spec_is_of_the_default_class() -> None:
    found = pod(volumes=[{"name": "data", "ephemeral": {}}])
    assert decided(found, stored()).warnings == (f"volume of the default StorageClass: {NO_CLASS}",)


def test_a_claim_that_is_dropped_leaves_the_other_volumes() -> None:
    found = with_claim(nodeSelector={keys.HOSTNAME: "node-b"})
    found["spec"]["volumes"].append({"name": "tmp", "emptyDir": {}})
    assert decided(found, stored(volume=PersistentVolume("v", ON_A))).message.splitlines()[-1] == (
        "Nearest fix: drop nodeSelector kubernetes.io/hostname=node-b (1 node would fit)."
    )


def test_volumes_of_other_kinds_are_not_looked_at() -> None:
    found = pod(volumes=[{"name": "tmp", "emptyDir": {}}, {"name": "host", "hostPath": {"path": "/"}}])
    assert decided(found, stored(None)).warnings == ()


def test_a_job_is_told_what_is_not_known_of_its_claims() -> None:
    volume = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}
    template = {"spec": {"containers": [{"name": "main", "image": "i"}], **volume}}
    found = judged(job_spec({"template": template}, {"template": template}), stored(None))
    assert (found.refused, found.warnings) == (
        False,
        (f"processing element app-0: {CLAIM}: {UNKNOWN}",),
    )


# What is known


def test_what_is_dropped_is_not_known_any_more() -> None:
    volumes = Volumes()
    volumes.put_claim(BOUND)
    volumes.put_volume(PersistentVolume("v"))
    volumes.put_class(StorageClass("fast", default=True))
    volumes.drop_claim("default", "c")
    volumes.drop_volume("v")
    volumes.drop_class("fast")
    assert (volumes.volume("v"), volumes.class_named("fast"), volumes.class_named(None)) == (None, None, None)
    assert decided(with_claim(), cluster(nodes(1)).with_volumes(volumes)).warnings == (f"{CLAIM}: {UNKNOWN}",)
