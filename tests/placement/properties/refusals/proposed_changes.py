"""The changes of a cluster that refusals propose, made in every way that a reader could make them."""

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json, standing
from tests.placement.properties.oracle import mapping as oracle_mapping
from tests.placement.properties.oracle.request import OracleRequest, amount
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool, PoolHost

CONDITIONS = {
    "uncordon one node": "node.kubernetes.io/unschedulable",
    "make one more node ready": "node.kubernetes.io/not-ready",
    "make one more node reachable": "node.kubernetes.io/unreachable",
}
EXCLUSIVE = "streams.ibm.com/exclusive"
HOSTNAME = "kubernetes.io/hostname"

ROOM = r"add (?:a node|nodes) with room for (?:(?:one|\d+) more of them|all of them)"

Case = tuple[Json, Cluster]
"""A pod and a cluster."""


def with_change(text: str, pod: Json, cluster: Cluster) -> Iterator[Case]:
    """Pod and cluster after the change, for every node that it could be made to."""
    if stated := re.fullmatch(r"(add a node.*?) (?:and|with) the labels? (\S+(?: and \S+)*)", text):
        yield from labelled(stated[1], stated[2], pod, cluster)
        return
    for pattern, change in CHANGES:
        if found := re.fullmatch(pattern, text):
            yield from change(pod, cluster, *found.groups())
            return
    raise AssertionError(text)


def labelled(text: str, labels: str, pod: Json, cluster: Cluster) -> Iterator[Case]:
    """A node comes that has these labels, those that the rest of the text names, and no others."""
    pairs = (pair.partition("=") for pair in labels.split(" and "))
    said = {key: value if equals else "zz-any" for key, equals, value in pairs}
    known = {node.name: node for node in cluster.nodes}
    for changed_pod, changed in with_change(text, pod, cluster):
        (new,) = (node for node in changed.nodes if known.get(node.name) != node)
        stated = {key: value for key, value in new.labels.items() if key == HOSTNAME or f" {key} " in f"{text} "}
        yield changed_pod, with_node(changed, replace(new, labels={**stated, **said}))


def crowd_with(text: str, pod: Json, cluster: Cluster, missing: int) -> Iterator[Case]:
    """The same for what a refusal of replicas proposes; ``missing`` of them find no room."""
    roomy = {"cpu": 10**6, "memory": 2**50, "pods": 10**3, "example.com/gpu": 10**3, "example.com/fpga": 10**3}
    if re.fullmatch(
        r"add (a node|nodes) with room for (one|\d+) more of them|add a node with room for all of them", text
    ):
        for node in cluster.nodes:
            more = [like(node, f"zz-new-{at}", allocatable=roomy) for at in range(missing)]
            yield pod, dataclasses.replace(cluster, nodes=(*cluster.nodes, *more))
    elif found := re.fullmatch(
        r"add (?:a node|(\d+) nodes, each) with another (\S+) and room for (?:one|\d+) of them", text
    ):
        for node in cluster.nodes:
            names = [f"zz-new-{at}" for at in range(int(found[1] or 1))]
            new = [like(node, name, labels={found[2]: name}, allocatable=roomy) for name in names]
            yield pod, dataclasses.replace(cluster, nodes=(*cluster.nodes, *new))
    elif found := re.fullmatch(r"use a larger HostPool than (\w+)", text):
        yield from larger(pod, cluster, found[1], missing)
    else:
        alone = re.sub(r" \((?:.* nodes helps?; )?\d+ more nodes are needed in all\)$", "", text)
        yield from with_change(alone, pod, cluster)


def like(node: Node, name: str, **changed: Any) -> Node:
    """A node that is yet to come, like one that there is."""
    labels = {**node.labels, HOSTNAME: name} | changed.pop("labels", {})
    return replace(node, name=name, uid=f"uid-of-{name}", labels=labels, **{"addresses": (), **changed})


def with_node(cluster: Cluster, node: Node) -> Cluster:
    """The cluster with this node, in the place of the one of its name if there is one."""
    others = tuple(other for other in cluster.nodes if other.name != node.name)
    return dataclasses.replace(cluster, nodes=(*others, node))


def tolerate(pod: Json, cluster: Cluster, key: str, value: str | None, effect: str) -> Iterator[Case]:
    """The pod puts up with the taint."""
    toleration = {"key": key, "operator": "Equal", "value": value or "", "effect": effect}
    spec = pod["spec"] | {"tolerations": [*(pod["spec"].get("tolerations") or ()), toleration]}
    yield pod | {"spec": spec}, cluster


def cure(pod: Json, cluster: Cluster, text: str) -> Iterator[Case]:
    """A node's condition ends."""
    for node in cluster.nodes:
        taints = tuple(taint for taint in node.taints if taint.key != CONDITIONS[text])
        yield pod, with_node(cluster, replace(node, taints=taints))


def only(change: Callable[[Json, Cluster, str], Iterator[Case]]) -> Callable[[Json, Cluster, str, str], Iterator[Case]]:
    """The change made to the node of that name alone."""

    def changed(pod: Json, cluster: Cluster, name: str, text: str) -> Iterator[Case]:
        for after_pod, after in change(pod, cluster, text):
            if all(node in after.nodes for node in cluster.nodes if node.name != name):
                yield after_pod, after

    return changed


def label(pod: Json, cluster: Cluster, text: str) -> Iterator[Case]:
    """A node is given the labels."""
    pairs = (pair.partition("=") for pair in text.split(" and "))
    labels = {key: value if equals else "zz-new" for key, equals, value in pairs}
    for node in cluster.nodes:
        yield pod, with_node(cluster, replace(node, labels={**node.labels, **labels}))


def elsewhere(pod: Json, cluster: Cluster, key: str) -> Iterator[Case]:
    """A node comes that is in a domain of its own."""
    return ((pod, with_node(cluster, like(node, "zz-new", labels={key: "zz-new"}))) for node in cluster.nodes)


def named(pod: Json, cluster: Cluster, name: str) -> Iterator[Case]:
    """A node of that name comes; nothing is left of what ran on one that had the name before."""
    left = dataclasses.replace(cluster, pods=tuple(found for found in cluster.pods if found.node != name))
    return ((pod, with_node(left, like(node, name))) for node in cluster.nodes)


def addressed(pod: Json, cluster: Cluster, address: str) -> Iterator[Case]:
    """A node of that address comes."""
    return ((pod, with_node(cluster, like(node, "zz-new", addresses=(address,)))) for node in cluster.nodes)


def matching(pod: Json, cluster: Cluster, text: str) -> Iterator[Case]:
    """A node comes whose labels meet the expression."""
    one = next(need for need in oracle_mapping.EXPRESSIONS if oracle_mapping.in_words(need) == text)
    values = one.get("values") or ["x"]
    value = {"In": values[0], "Exists": "x", "Gt": "100", "Lt": "-100"}.get(one["operator"])
    # What is not in a list may be missing, or be something else: topology spread constraints want it to be there.
    other = [{one["key"]: "zz-other"}] if one["operator"] == "NotIn" and one["key"] != HOSTNAME else []
    for node in cluster.nodes:
        new = like(node, "zz-new")
        rest = {key: there for key, there in new.labels.items() if key != one["key"] or key == HOSTNAME}
        for label in [{one["key"]: value} if value is not None else {}, *other]:
            yield pod, with_node(cluster, replace(new, labels=rest | label))


def offering(pod: Json, cluster: Cluster, text: str) -> Iterator[Case]:
    """A node comes that has so much to give."""
    offers = {name: amount_of(name, said) for name, said in (part.split(" ") for part in text.split(", "))}
    for node in cluster.nodes:
        roomy = {name: max(offers.get(name, 0), node.allocatable.get(name, 0)) for name in {*offers, *node.allocatable}}
        yield pod, with_node(cluster, like(node, "zz-new", allocatable=roomy))


def amount_of(name: str, said: str) -> int:
    """Amounts as messages write them."""
    return int(said.removesuffix("Gi")) * 2**30 if said.endswith("Gi") else amount(name, said)


def free(pod: Json, cluster: Cluster, _text: str = "") -> Iterator[Case]:
    """Some pods of a node are gone."""
    for node in cluster.nodes:
        there = [found for found in cluster.pods if found.node == node.name]
        for count in range(1, len(there) + 1):
            for gone in itertools.combinations(there, count):
                yield pod, dataclasses.replace(cluster, pods=tuple(one for one in cluster.pods if one not in gone))


def release(pod: Json, cluster: Cluster) -> Iterator[Case]:
    """An exclusive pool that has a node, and is not the pod's own, is deleted, and the node is free of its taint."""
    own = {pool.name for _, pool in OracleRequest(pod, TEAM, cluster).pools}
    for gone in cluster.pools:
        if gone.mode == "Exclusive" and gone.name not in own:
            changed = dataclasses.replace(cluster, pools=tuple(pool for pool in cluster.pools if pool is not gone))
            for node in cluster.nodes:
                taints = tuple(taint for taint in node.taints if taint.value != f"{gone.namespace}.{gone.name}")
                yield pod, with_node(changed, replace(node, taints=taints))


def untaint(pod: Json, cluster: Cluster) -> Iterator[Case]:
    """Nobody's taint is taken off a node."""
    for node in cluster.nodes:
        own = {f"{pool.namespace}.{pool.name}" for pool in cluster.pools if pool.mode == "Exclusive"}
        taints = tuple(taint for taint in node.taints if taint.key != EXCLUSIVE or taint.value in own)
        yield pod, with_node(cluster, replace(node, taints=taints))


def smaller(pod: Json, cluster: Cluster, name: str) -> Iterator[Case]:
    """The pool asks for fewer hosts."""
    for pool in named_pools(pod, cluster, name):
        for size in range(1, pool.size or 1):
            yield pod, with_pool(cluster, replace(pool, size=size))


def eligible(pod: Json, cluster: Cluster, name: str) -> Iterator[Case]:
    """So many nodes as are missing are made eligible for the pool."""
    for pool in named_pools(pod, cluster, name):
        selected = pool.selector
        labels = {"streams.ibm.com/hostpool": pool.tags[0]} if len({*pool.tags}) == 1 else {}
        labels |= {f"hostpool.streams.ibm.com/{tag}": "" for tag in pool.tags} if not labels else {}
        labels |= selected.match_labels or {} if selected else {}
        for count in range(1, (pool.size or 0) + 1):
            for chosen in itertools.combinations(cluster.nodes, count):
                yield pod, made_eligible(cluster, [node.name for node in chosen], labels)


def made_eligible(cluster: Cluster, names: list[str], labels: Mapping[str, str]) -> Cluster:
    """The cluster with these labels on the nodes, and nothing else that a pool could mind."""
    chosen = {*names}
    made = (replace(node, labels=poolable(node, labels), taints=()) for node in cluster.nodes if node.name in chosen)
    others = (node for node in cluster.nodes if node.name not in chosen)
    pods = tuple(pod for pod in cluster.pods if pod.node not in chosen)
    taking = {pool.name for pool in cluster.pools if chosen & {host.name for host in pool.assigned}}
    pools = tuple(pool for pool in cluster.pools if pool.mode != "Exclusive" or pool.name not in taking)
    return dataclasses.replace(cluster, nodes=(*made, *others), pods=pods, pools=pools)


def poolable(node: Node, labels: Mapping[str, str]) -> dict[str, str]:
    """The node's labels with these, and without that of the control plane."""
    kept = {key: value for key, value in node.labels.items() if key != "node-role.kubernetes.io/control-plane"}
    return {**kept, **labels}


def listed(pod: Json, cluster: Cluster, name: str) -> Iterator[Case]:
    """The list of the pool names only nodes that exist, and none that is exclusive to another pool."""
    held = [standing(other, cluster.nodes).values() for other in cluster.pools if other.mode == "Exclusive"]
    taken = {*itertools.chain.from_iterable(held)}
    for pool in named_pools(pod, cluster, name):
        hosts = decision_core.hosts_of_pools(dataclasses.replace(cluster, pools=(replace(pool, elastic=True),)))
        found = tuple(host for host in hosts[pool.namespace, pool.name].values() if host not in taken)
        yield pod, with_pool(cluster, replace(pool, hosts=found))


def larger(pod: Json, cluster: Cluster, name: str, missing: int) -> Iterator[Case]:
    """The pool has more hosts, all of them like one node; a list of hosts has their names."""
    for pool in named_pools(pod, cluster, name):
        hosts = decision_core.hosts_of_pools(cluster)[pool.namespace, pool.name]
        for node in cluster.nodes:
            more = [like(node, f"zz-new-{at}") for at in range(missing)]
            given = [PoolHost(at, host, uid_of(cluster, host)) for at, host in enumerate(hosts.values())]
            given += [PoolHost(len(given) + at, new.name, new.uid) for at, new in enumerate(more)]
            if pool.hosts is None:
                grown = replace(pool, size=len(given), assigned=tuple(given), phase="Ready")
            else:
                grown = replace(pool, hosts=(*pool.hosts, *(new.name for new in more)), assigned=tuple(given))
            yield pod, with_pool(dataclasses.replace(cluster, nodes=(*cluster.nodes, *more)), grown)


def uid_of(cluster: Cluster, name: str) -> str:
    """The uid of a node."""
    return next(node.uid for node in cluster.nodes if node.name == name)


def named_pools(pod: Json, cluster: Cluster, name: str) -> list[Pool]:
    """The pools that the pod means by the name."""
    return [pool for _, pool in OracleRequest(pod, TEAM, cluster).pools if pool.spl_name == name]


def with_pool(cluster: Cluster, pool: Pool) -> Cluster:
    """The cluster with this pool in the place of the object of its name."""
    others = (other for other in cluster.pools if (other.namespace, other.name) != (pool.namespace, pool.name))
    return dataclasses.replace(cluster, pools=(*others, pool))


CHANGES: tuple[tuple[str, Callable[..., Iterator[Case]]], ...] = (
    (r"tolerate ([^=:]+)(?:=([^:]*))?:(\w+)", tolerate),
    (f"({'|'.join(CONDITIONS)})", cure),
    (r"label one more node (.*?)(?: \((?:at least|only) \d+ of \d+ nodes helps?\))?", label),
    (r"label node (\S+) (.*)", only(label)),
    (r"uncordon node (\S+)()", only(lambda pod, cluster, _: cure(pod, cluster, "uncordon one node"))),
    (
        r"remove the taint streams.ibm.com/exclusive from node (\S+)()",
        only(lambda pod, cluster, _: untaint(pod, cluster)),
    ),
    (r"add a node with another (.*) that can otherwise run this pod", elsewhere),
    (r"label a host of HostPool \w+ (.*)", label),
    (r"add a node named (.*)", named),
    (r"add a node with the address (.*)", addressed),
    (r"add a node that matches (mapping .*)", matching),
    (r"add a node with room for one more pod", lambda pod, cluster: offering(pod, cluster, "pods 10")),
    (r"add a node with (.*) to offer", offering),
    (r"free (.*) on one node", free),
    (r"let another pod on the node finish", free),
    (r"delete the exclusive HostPool that holds such a node", release),
    (r"remove the taint streams.ibm.com/exclusive from such a node", untaint),
    (r"make more nodes eligible for HostPool (\w+), or use a smaller one", smaller),
    (r"make more nodes eligible for HostPool (\w+)", eligible),
    (r"fix the list of HostPool (\w+)", listed),
)
"""What a text proposes, and how it is done."""
