"""What refused Jobs are told holds for all of their elements, and works when it is followed."""

from typing import Any

import pytest

from tests.builders import cluster, node
from tests.placement.planning.at_once import AtOnce, element, job_spec, judged
from tests.placement.planning.test_haste import Ending
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.planning.refusal.group_refusal import refuse_group
from webhook.placement.planning.search.solver import LOOKS, Unhurried, finished

HDD, SSD = {"disk": "hdd"}, {"disk": "ssd"}
TAG, TAGS = "streams.ibm.com/hostpool", "hostpool.streams.ibm.com/"
POOL: dict[str, Any] = {"name": "P", "size": 1, "mode": "Exclusive"}


def text(inventory: Inventory, *elements: dict[str, Any], pools: tuple[dict[str, Any], ...] = ()) -> str:
    """The refusal of a Job of these elements."""
    return judged(job_spec(*elements, pools=pools), inventory).text


def two_hosts(first: str, second: str, disk: str = "") -> dict[str, Any]:
    """An element with two operators, each of which names a host."""
    operators = [{"name": "A", "placement": first}, {"name": "B", "placement": second}]
    return {**element(disk=disk), "operators": operators}


def test_pools_of_the_job_get_hosts_that_suit_its_elements() -> None:
    """The pool could have node-b, whatever the controller would choose: it takes no part in the conflict."""
    two = cluster([node("node-a", labels=SSD), node("node-b", labels=HDD)])
    assert text(two, two_hosts("host(P[0])", 'host("node-a")', "hdd"), pools=(POOL,)) == (
        'processing element app-0: host("node-a") and nodeSelector disk=hdd cannot both hold: '
        "0 of 2 nodes can run this pod.\n"
        "  1 node is not named node-a\n"
        "  1 node does not have the label disk=hdd\n"
        'Nearest fix: label node node-a disk=hdd, or drop host("node-a") (1 node would fit).'
    )


def test_pools_that_cannot_have_their_hosts_are_told_together_with_elements() -> None:
    two = cluster([node("node-a", labels=SSD), node("node-b", labels=SSD)])
    large = {**POOL, "size": 3}
    assert text(two, element("host(P)", disk="hdd"), pools=(large,)) == (
        "1 of 1 processing element cannot run even by itself (app-0), "
        "and HostPools of the Job cannot have their hosts:\n"
        "  app-0: nodeSelector disk=hdd cannot hold: 0 of 2 nodes can run this pod. "
        "Nearest fix: label one more node disk=hdd, or drop nodeSelector disk=hdd (2 nodes would fit).\n"
        "  HostPool P (3 hosts, Exclusive) cannot have its hosts: 2 nodes are eligible. "
        "Nearest fix: lower the size of HostPool P to 2."
    )
    followed = cluster([node("node-a", labels=HDD), node("node-b", labels=SSD)])
    assert not text(followed, element("host(P)", disk="hdd"), pools=({**POOL, "size": 2},))


def test_why_other_nodes_are_not_eligible_is_said() -> None:
    infra = Taint("dedicated", "infra", "NoSchedule")
    four = cluster([*(node(f"node-{at}", labels={TAG: "x"}) for at in "ab"), node("c"), node("d", taints=[infra])])
    three = ({**POOL, "size": 3, "tags": ["x"]}, {**POOL, "name": "Q"})
    assert text(four, element(), pools=three[:1]) == (
        "HostPool P (3 hosts, Exclusive) cannot have its hosts: 2 nodes are eligible.\n"
        "  2 nodes lack the tag x\n"
        "Nearest fix: lower the size of HostPool P to 2."
    )
    assert text(four, element(), pools=({**POOL, "size": 2}, {**POOL, "name": "Q", "size": 2})) == (
        "HostPool P (2 hosts, Exclusive) and HostPool Q (2 hosts, Exclusive) cannot all have their hosts: "
        "3 nodes are eligible.\n"
        "  HostPool P: 1 node has the taint dedicated=infra:NoSchedule\n"
        "  HostPool Q: 1 node has the taint dedicated=infra:NoSchedule\n"
        "Nearest fix: make more nodes eligible."
    )


def test_a_single_tag_is_spelled_as_one_where_the_other_pool_is_dropped() -> None:
    """Beside the tags of P the tag of Q is a label of its own; by itself it is a value of the one label."""
    two = cluster([node("node-a", labels={TAG: "blue"}), node("node-b", labels={f"{TAGS}red": "", f"{TAGS}blue": ""})])
    pools = ({**POOL, "tags": ["red", "blue"]}, {**POOL, "name": "Q", "tags": ["blue"]})
    found = text(two, two_hosts("host(P)", "host(Q)"), pools=pools)
    assert found.splitlines()[0] == ("host(P) and host(Q) cannot both hold: 0 of 1 processing element fits (app-0).")
    assert found.splitlines()[-1] == "Nearest fix: drop host(P) (it would fit)."
    assert not text(two, element("host(Q)"), pools=pools)


def test_each_token_of_a_group_is_a_clause() -> None:
    two = cluster([node("node-a"), node("node-b")])
    both = 'hostColocation("c"), hostColocation("d"), hostExlocation("x")'
    assert text(two, element('hostExlocation("x"), hostColocation("c")'), element(both)) == (
        'hostColocation("c") and hostExlocation("x") cannot both hold: '
        "1 of 2 processing elements fits (app-0, app-1).\n"
        'Nearest fix: drop hostColocation("c") (all 2 would fit), or run 1 of these 2.'
    )


def test_fewest_clauses_count_even_if_fewer_elements_have_a_conflict_of_more() -> None:
    """Two elements and three clauses conflict, too: the isolated one and one of the others."""
    one = cluster([node("node-a", cpu=4000), node("node-b", cpu=1000)])
    elements = (element(cpu="2"), element(cpu="2"), element("hostIsolation", cpu="1500m"))
    first = text(one, *elements).splitlines()[0]
    assert first == (
        "cpu 2 (resources of processing elements app-0, app-1) and cpu 1500m (resources of processing element app-2) "
        "cannot both hold: 2 of 3 processing elements fit (app-0, app-1, app-2)."
    )


@pytest.mark.parametrize(
    ("inventory", "stated", "pools", "fix"),
    [
        pytest.param(
            cluster([node("node-a", labels=SSD, cpu=4000), node("node-b", cpu=1000)]),
            (element(cpu="3", disk="ssd"), element(cpu="3", disk="ssd")),
            (),
            "add a node with cpu 3 free and the label disk=ssd, or",
            id="that of a nodeSelector",
        ),
        pytest.param(
            cluster([node("node-a", labels={TAG: "x"}, cpu=4000), node("node-b", cpu=1000)]),
            (element("host(P)", cpu="3"), element("host(P)", cpu="3")),
            ({"name": "P", "tags": ["x"]},),
            f"add a node with cpu 3 free and the label {TAG}=x, or",
            id="that of a tag",
        ),
    ],
)
def test_a_node_to_add_is_named_with_its_label(
    inventory: Inventory, stated: tuple[dict[str, Any], ...], pools: tuple[dict[str, Any], ...], fix: str
) -> None:
    assert f"Nearest fix: {fix}" in text(inventory, *stated, pools=pools)


def test_requests_are_lowered_to_what_all_elements_have_room_for() -> None:
    one = cluster([node("node-a", cpu=4000), node("node-b", cpu=3000)])
    found = text(one, element(cpu="3"), element(cpu="3"), element(cpu="2"))
    assert found.splitlines()[-1] == (
        "Nearest fix: add a node with cpu 3 free, or "
        "lower cpu 3 (resources of processing elements app-0, app-1) to cpu 2 (all 3 would fit), or run 2 of these 3."
    ), found


class Late(AtOnce):
    """The clock jumps ahead: after the first question there is no time."""

    def left(self) -> float:
        """The time for the next question."""
        self.seconds -= 19.9
        return self.seconds


def test_what_is_said_of_a_small_job_does_not_depend_on_time() -> None:
    apart = job_spec(*(element('hostExlocation("a")', cpu=str(cpu)) for cpu in (1, 2, 3)))
    two = cluster([node("node-a"), node("node-b")])
    group = judged(apart, two).group
    assert group
    late = group.with_members(group.stated, Late())
    assert finished(refuse_group(late, (), "processing element")).text == judged(apart, two).text


def test_of_a_large_job_time_counts() -> None:
    apart = job_spec(*(element('hostExlocation("a")') for _ in range(17)))
    group = judged(apart, cluster([node("node-a")])).group
    assert group
    late = group.with_members(group.stated, Late())
    assert finished(refuse_group(late, (), "processing element")).fix == (
        "not found in time; explain and plan search longer"
    )


def test_whenever_the_time_for_a_large_job_ends_a_fix_is_named_or_said_to_be_missing() -> None:
    """What is named was tried, however little time was left for the rest."""
    apart = job_spec(*(element('hostExlocation("a")') for _ in range(17)))
    group = judged(apart, cluster([node("node-a")])).group
    assert group
    lasts = [
        finished(refuse_group(group.with_members(group.stated, Ending(looks)), (), "processing element")).fix
        for looks in range(0, 40, 2)
    ]
    assert [*dict.fromkeys(lasts)] == [
        "not found in time; explain and plan search longer",
        "run 1 of these 17",
        "add 16 nodes, or run 1 of these 17",
    ]


def test_looks_at_the_clock_end() -> None:
    clock = Unhurried(AtOnce(0))
    assert [clock.left() for _ in range(LOOKS + 1)][-2:] == [1.0, 0.0]


def test_what_makes_nodes_eligible_is_said_where_no_smaller_pool_helps() -> None:
    one = cluster([node("node-a", labels=SSD)])
    assert text(one, element(), pools=({**POOL, "tags": ["x"]},)) == (
        "HostPool P (1 host, Exclusive) cannot have its hosts: 0 nodes are eligible.\n"
        "  1 node lacks the tag x\n"
        f"Nearest fix: label one more node {TAG}=x (HostPool P could then have its hosts)."
    )
    assert text(one, element(), pools=({**POOL, "tags": ["x"], "size": 2},)).splitlines()[-1] == (
        f"Nearest fix: label one more node {TAG}=x (1 of 2 would be eligible)."
    )


def between(*words: str) -> dict[str, Any]:
    """An element that needs 8 cores, on a node whose size is above 9; ``words`` are more about that size."""
    found = element(cpu="8")
    terms = [{"key": "size", "operator": "Gt", "values": ["9"]}]
    terms += [{"key": "size", "operator": word.split()[0], "values": word.split()[1:]} for word in words]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}
    spec = {"affinity": {"nodeAffinity": required}, "containers": [{"name": "worker", "image": "worker:1"}]}
    return {**found, "template": {"spec": spec}}


def test_a_node_to_add_has_a_number_within_bounds_as_its_label() -> None:
    """Where the nearest numbers are excluded no label is named, and so no node."""
    one = cluster([node("node-a", labels={"size": "15"})])
    lower = (
        "lower cpu 8 (resources of processing elements app-0, app-1) to cpu 4 (all 2 would fit), or run 1 of these 2"
    )
    assert text(one, between(), between()).splitlines()[-1] == (
        f"Nearest fix: add a node with cpu 8 free and the label size=10, or {lower}."
    )
    excluded = between("Lt 20", "NotIn 10 19")
    assert text(one, excluded, excluded).splitlines()[-1] == f"Nearest fix: {lower}."
