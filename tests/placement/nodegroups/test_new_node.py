"""The node that a group would make for a pod."""

import pytest

from webhook.placement.kube.pod import Requirement
from webhook.placement.nodegroups.label_values import ABSENT, ANYTHING, LabelValues
from webhook.placement.nodegroups.new_node import UNKNOWN, NewNode, needs_of, new_node
from webhook.placement.nodegroups.node_group import NodeGroup, of_machine
from webhook.placement.text.keys import HOSTNAME

GROUP = NodeGroup(
    "NodePool",
    "spot",
    labels={
        "disktype": LabelValues.one_of("hdd", "ssd"),
        "rack": ANYTHING.narrowed("Exists", ()),
        "karpenter.k8s.aws/instance-cpu": ANYTHING.narrowed("Lt", ("9",)),
        "karpenter.k8s.aws/instance-memory": ANYTHING.narrowed("Exists", ()),
    },
    offers={"memory": 100},
    remaining={"memory": 60},
)


def made(*needs: Requirement, group: NodeGroup = GROUP, live: tuple[str, ...] = ()) -> NewNode:
    """The node that meets these requirements."""
    node = new_node(group, [needs_of(needs)], {"cpu": 1, "memory": 1, "pods": 1}, lambda _: live)
    assert isinstance(node, NewNode)
    return node


def unmade(*alternatives: tuple[Requirement, ...], group: NodeGroup = GROUP, live: tuple[str, ...] = ()) -> list[str]:
    """What is unmet, in words."""
    node = new_node(group, [needs_of(needs) for needs in alternatives], {}, lambda _: live)
    assert not isinstance(node, NewNode)
    return [str(unmet) for unmet in node]


def test_labels_are_chosen_by_what_the_pod_requires() -> None:
    """Other labels have some value; those that every machine has are there as well, under their older keys, too."""
    labels = made(Requirement("disktype", "NotIn", ("hdd",)), Requirement("rack", "In", ("r1",))).node.labels
    assert labels["disktype"] == "ssd"
    assert labels["rack"] == "r1"
    assert labels["topology.kubernetes.io/zone"] == labels["failure-domain.beta.kubernetes.io/zone"] == "any"
    assert labels[HOSTNAME] == "(new of NodePool spot )"


def test_amounts_are_known_as_far_as_the_group_and_its_limits_state_them() -> None:
    """A label that is the size of the machine bounds what it has to give."""
    assert made().node.allocatable == {"cpu": 8000, "memory": 60, "pods": UNKNOWN}
    narrowed = made(Requirement("karpenter.k8s.aws/instance-cpu", "In", ("2", "4")))
    assert narrowed.node.allocatable["cpu"] == 4000
    small = new_node(GROUP, [{}], {"memory": 1}, lambda _: ())
    assert isinstance(small, NewNode)
    assert small.node.allocatable == {"memory": 60}


def test_labels_that_the_group_does_not_state_may_be_unknown() -> None:
    """Those of machines may have any value, and so may all of a group that states nothing."""
    zone = Requirement("failure-domain.beta.kubernetes.io/zone", "In", ("z1",))
    assert made(zone, Requirement("topology.kubernetes.io/region", "NotIn", ("x",))).unknown == (
        "topology.kubernetes.io/zone",
    )
    silent = NodeGroup("MachineSet", "ms", unstated="any")
    assert made(Requirement("gpu", "Exists"), group=silent).unknown == ("gpu",)
    running = NodeGroup("MachineSet", "ms", unstated="live")
    assert made(Requirement("gpu", "Exists"), group=running, live=("a100",)).node.labels["gpu"] == "a100"
    uid = Requirement("machine-uid", "In", ("new",))
    assert unmade((uid,), group=running, live=tuple(map(str, range(100))))
    assert made(uid, group=running, live=tuple(map(str, range(101)))).unknown == ("machine-uid",)


def test_the_first_alternative_that_can_be_met_is_chosen() -> None:
    """Terms of an affinity are alternatives."""
    node = new_node(
        GROUP,
        [needs_of([Requirement("disktype", "In", (value,))]) for value in ("nvme", "ssd", "hdd")],
        {},
        lambda _: (),
    )
    assert isinstance(node, NewNode)
    assert node.node.labels["disktype"] == "ssd"


@pytest.mark.parametrize(("cpu", "size"), [(2000, "2"), (4000, "4"), (16000, "2")])
def test_an_alternative_of_a_large_machine_comes_before_one_of_a_small_machine(cpu: int, size: str) -> None:
    sizes = [needs_of([Requirement("karpenter.k8s.aws/instance-cpu", "In", (value,))]) for value in ("2", "4")]
    node = new_node(GROUP, sizes, {"cpu": cpu}, lambda _: ())
    assert isinstance(node, NewNode)
    assert node.node.labels["karpenter.k8s.aws/instance-cpu"] == size


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        pytest.param([("disktype", "In", ("nvme",))], "disktype=nvme (it makes hdd, ssd)", id="another value"),
        pytest.param([("disktype", "In", ("b", "a"))], "disktype in (a, b) (it makes hdd, ssd)", id="other values"),
        pytest.param(
            [("disktype", "NotIn", ("ssd", "hdd"))],
            "disktype not in (hdd, ssd) (it makes hdd, ssd)",
            id="none of its values",
        ),
        pytest.param(
            [("disktype", "DoesNotExist", None)], "the label disktype absent (it makes hdd, ssd)", id="no label"
        ),
        pytest.param([("gpu", "Exists", None)], "the label gpu (it does not set that label)", id="no such label"),
        pytest.param([("gpu", "Gt", ("2",))], "gpu > 2 (it does not set that label)", id="above"),
        pytest.param(
            [("karpenter.k8s.aws/instance-cpu", "Gt", ("8",)), ("karpenter.k8s.aws/instance-cpu", "Lt", ("99",))],
            "karpenter.k8s.aws/instance-cpu > 8 and karpenter.k8s.aws/instance-cpu < 99 (it makes 8 or less)",
            id="beyond a bound",
        ),
        pytest.param(
            [(HOSTNAME, "In", ("node-a",))],
            "kubernetes.io/hostname=node-a (the name of a new node is not known)",
            id="a host",
        ),
        pytest.param(
            [("metadata.name", "In", ("node-a",))],
            "metadata.name=node-a (the name of a new node is not known)",
            id="a node",
        ),
    ],
)
def test_what_a_group_cannot_make(needs: list[tuple[str, str, tuple[str, ...] | None]], said: str) -> None:
    """The text is the end of a sentence."""
    assert unmade(tuple(Requirement(*need) for need in needs)) == [said]


def test_values_to_choose_from() -> None:
    """With minValues one value is not enough."""
    group = NodeGroup("NodePool", "np", labels={"type": ANYTHING.narrowed("In", ("a", "b", "c"), 2)})
    assert unmade((Requirement("type", "In", ("a",)),), group=group) == ["type=a (it needs 2 values to choose from)"]


def test_the_nearest_alternative_is_named() -> None:
    """That is the one with the fewest labels that cannot be had."""
    gpu, disk = Requirement("gpu", "Exists"), Requirement("disktype", "In", ("nvme",))
    assert unmade((gpu, disk), (disk,), (gpu, disk)) == ["disktype=nvme (it makes hdd, ssd)"]


def test_a_label_that_no_node_of_the_running_ones_has() -> None:
    """Of a group whose nodes run, labels are known by the nodes there are."""
    running = NodeGroup("MachineSet", "ms", unstated="live")
    assert unmade((Requirement("disktype", "In", ("sssd",)),), group=running, live=("ssd",)) == [
        "disktype=sssd (it makes ssd)"
    ]


@pytest.mark.parametrize(
    ("operators", "made_up"), [(("NotIn", "Exists"), True), (("Exists",), False), (("NotIn", "In", "Exists"), False)]
)
def test_karpenter_makes_up_a_value_where_the_pod_excludes_others(operators: tuple[str, ...], *, made_up: bool) -> None:
    """It takes requirements on a label by their intersection, and lets NotIn pass on labels that nobody states."""
    group = NodeGroup("NodePool", "np", unstated="excluded")
    needs = [Requirement("rack", operator, {"NotIn": ("a",), "In": ("b",)}.get(operator)) for operator in operators]
    found = new_node(group, [needs_of(needs)], {}, lambda _: ())
    assert isinstance(found, NewNode) is made_up
    assert not isinstance(found, NewNode) or found.unknown == ("rack",)


def test_no_way_to_meet_terms_without_requirements() -> None:
    """Where no alternative is left, no node is made and nothing is named."""
    assert new_node(GROUP, [], {}, lambda _: ()) == ()


def test_absence_is_met_by_a_label_that_is_not_set() -> None:
    """NotIn and DoesNotExist hold where the label is absent."""
    node = made(Requirement("gpu", "DoesNotExist"), Requirement("tpu", "NotIn", ("v4",)))
    assert not {"gpu", "tpu"} & node.node.labels.keys()
    assert ABSENT.choice() is None


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("topology.kubernetes.io/zone", True),
        ("topology.ebs.csi.aws.com/zone", True),
        ("karpenter.sh/capacity-type", True),
        ("karpenter.k8s.aws/instance-family", True),
        ("karpenter-ibm.sh/instance-family", True),
        ("node.kubernetes.io/instance-type", True),
        ("karpenter.sh/other", False),
        (HOSTNAME, False),
        ("disktype", False),
        ("example.com/disktype", False),
    ],
)
def test_labels_that_come_from_machines(key: str, *, known: bool) -> None:
    """A group need not state labels that the cloud or the kubelet writes."""
    assert of_machine(key) is known


@pytest.mark.parametrize(
    ("key", "ignored"),
    [
        ("kubernetes.io/hostname", True),
        ("metadata.name", True),
        ("karpenter.sh/initialized", True),
        ("karpenter.sh/capacity-type", False),
        ("karpenter.sh/nodepool", False),
    ],
)
def test_karpenter_ignores_pods_with_requirements_on_some_labels(key: str, *, ignored: bool) -> None:
    """Whichever of its node terms has them, and whatever they are; other autoscalers do not."""
    group = NodeGroup("NodePool", "p", unstated="excluded")
    odd, plain = (Requirement(key, "NotIn", ("x",)),), (Requirement("example.com/a", "NotIn", ("b",)),)
    alternatives = [needs_of(plain), needs_of(odd)]
    said = (f"{key} not in (x) (Karpenter ignores pods with requirements on {key})",)
    found = new_node(group, alternatives, {}, lambda _: ())
    assert (() if isinstance(found, NewNode) else tuple(map(str, found))) == (said if ignored else ())
    assert isinstance(new_node(NodeGroup("node shape", "s"), alternatives, {}, lambda _: ()), NewNode)
