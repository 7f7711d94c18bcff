"""Placement clauses as a person reads them: on the names of nodes, whatever was written into pods to keep them.

Written from ``docs/``. Of the product only the parser of placement text is used.
"""

import functools
import ipaddress
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.scheduling.amounts import completed
from tests.scheduling.selectors import holds, selects
from tests.scheduling.state import Cluster
from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys

Json = Mapping[str, Any]


@functools.lru_cache(4096)
def _clauses(text: str) -> tuple[PlacementClause, ...]:
    return tuple(parse_placement(text, "")[0])


class PodClauses:
    """What one pod says of where it is to run; ``soft`` are the names of what it only prefers."""

    def __init__(self, pod: Json) -> None:
        metadata = pod["metadata"]
        labels, told = metadata.get("labels") or {}, metadata.get("annotations") or {}
        self.pod, self.told = pod, told
        self.space = str(metadata.get("namespace") or "default")
        self.job, self.pe = labels.get(keys.JOB, ""), labels.get(keys.PE, "")
        self.clauses = _clauses(told.get(keys.PLACEMENT, ""))
        self.soft = {name.strip() for name in told.get(keys.PREFERRED, "").split(",")}
        self.uniform = told.get(keys.UNIFORM, "none")

    def of(self, name: ClauseName) -> list[PlacementClause]:
        """The clauses of that name."""
        return [clause for clause in self.clauses if clause.name is name]

    def tokens(self, name: ClauseName) -> set[str]:
        """The tokens of the clauses of that name."""
        return {str(clause.argument) for clause in self.of(name)}

    def must(self, name: str) -> bool:
        """Whether what has that name in ``preferred`` is required."""
        return name not in self.soft

    def company(self, key: str) -> Json | None:
        """The selector of ``run-with`` or ``run-apart-from``: the choices write ``key=value`` only."""
        if key not in self.told:
            return None
        label, _, value = self.told[key].partition("=")
        return {"matchLabels": {label.strip(): value.strip()}}

    @property
    def isolated(self) -> bool:
        """Whether it must be alone."""
        return bool(self.of(ClauseName.ISOLATION)) and self.must("hostIsolation")

    @property
    def relates(self) -> bool:
        """Whether it requires something of other pods, for which a node needs a host name of its own."""
        tokens = (ClauseName.COLOCATION, ClauseName.EXLOCATION)
        uniform = self.uniform != "none" and self.must("uniform")
        company = keys.RUN_WITH in self.told or keys.RUN_APART_FROM in self.told
        return any(self.tokens(name) and self.must(name) for name in tokens) or self.isolated or uniform or company

    def shares_job(self, other: "PodClauses") -> bool:
        """Whether both are of one job."""
        return bool(self.job) and (self.space, self.job) == (other.space, other.job)

    def same_element(self, other: "PodClauses") -> bool:
        """Whether both are one processing element."""
        return bool(self.pe) and self.pe == other.pe


def broken(pod: Json, node: Json, cluster: Cluster) -> list[str]:
    """The clauses that would not hold if the pod ran on the node beside the pods that live: its own, and theirs."""
    said = PodClauses(pod)
    others = [(PodClauses(other), place) for other, place in cluster.live()]
    return [*_of_node(said, node, cluster), *_of_pods(said, node, others, cluster)]


def _of_node(said: PodClauses, node: Json, cluster: Cluster) -> Iterator[str]:
    """What it says of nodes."""
    labels, name = node["metadata"].get("labels") or {}, node["metadata"]["name"]
    if said.must("host"):
        for clause in said.of(ClauseName.HOST):
            pool = clause.argument
            if isinstance(pool, str) and name != pool and not _has_address(node, pool):
                yield str(clause)
            if isinstance(pool, PoolName) and not _in_pool(said, pool, name, labels, cluster):
                yield str(clause)
    if said.told.get(keys.MAPPED) == "true" and said.must("mapping"):
        for expression in json.loads(said.told.get(keys.MAPPING, "[]")):
            if not holds(expression, labels):
                yield f"mapping {expression}"


def _has_address(node: Json, text: str) -> bool:
    try:
        wanted = ipaddress.ip_address(text)
    except ValueError:
        return False
    found = [one["address"] for one in node["status"].get("addresses") or () if one["type"] != "Hostname"]
    return wanted in map(ipaddress.ip_address, found)


def _in_pool(said: PodClauses, wanted: PoolName, name: str, labels: Mapping[str, str], cluster: Cluster) -> bool:
    named = [pool for pool in cluster.pools if pool["spec"].get("name", pool["metadata"]["name"]) == wanted.name]
    [pool] = [one for one in named if cluster.namespace(one) == said.space]
    spec = pool["spec"]
    if "hosts" in spec or "size" in spec:
        hosts = {host["name"]: host["index"] for host in pool["status"]["hosts"]}
        if name not in hosts or wanted.index not in {None, hosts[name]}:
            return False
    tags = spec.get("tags") or ()
    return all(labels.get(keys.TAG) == tag for tag in tags) and selects(spec.get("selector") or {}, labels)


def _of_pods(said: PodClauses, node: Json, others: list[tuple[PodClauses, Json]], cluster: Cluster) -> Iterator[str]:
    """What it says of other pods, and they of it."""
    job = [(other, place) for other, place in others if said.shares_job(other)]
    here = [other for other, place in job if place is node]
    for other in here:
        for token in said.tokens(ClauseName.EXLOCATION) & other.tokens(ClauseName.EXLOCATION):
            if said.must("hostExlocation") or other.must("hostExlocation"):
                yield f"hostExlocation {token}"
        if (said.isolated or other.isolated) and not said.same_element(other):
            yield "hostIsolation"
        if "none" not in {said.uniform, other.uniform}:
            for one in (said, other):
                if one.uniform == "all-separate-nodes" and one.must("uniform"):
                    yield "uniform all-separate-nodes"
    group = group_of(said, cluster)
    together = [
        (f"hostColocation {sorted(group)}", said.must("hostColocation"), lambda one: group & _colocated(one)),
        ("uniform all-same-node", said.uniform == "all-same-node" and said.must("uniform"), _uniform),
    ]
    for what, required, is_member in together:
        places = [place for other, place in job if is_member(other)]
        # Nodes of one host name label are one to Kubernetes, which may spread a group over them.
        if required and places and not any(place is node or same_host(place, node) for place in places):
            yield what
    yield from _company(said, node, others, cluster)


def _uniform(one: PodClauses) -> bool:
    return one.uniform != "none"


def _colocated(one: PodClauses) -> set[str]:
    return one.tokens(ClauseName.COLOCATION)


def _company(said: PodClauses, node: Json, others: list[tuple[PodClauses, Json]], cluster: Cluster) -> Iterator[str]:
    """``run-with`` and ``run-apart-from``, its own and the others' (a pod that is being deleted is company, too)."""
    near, away = said.company(keys.RUN_WITH), said.company(keys.RUN_APART_FROM)
    space = [(one, place) for one, place in cluster.standing() if cluster.namespace(one) == said.space]
    labels = said.pod["metadata"].get("labels") or {}
    if near is not None:
        places = [place for one, place in space if selects(near, one["metadata"].get("labels") or {})]
        first = not places and selects(near, labels)
        if not first and not any(place is node for place in places):
            yield "run-with"
    for other, place in others:
        if place is node and other.space == said.space:
            avoided = other.company(keys.RUN_APART_FROM)
            if (avoided is not None and selects(avoided, labels)) or (
                away is not None and selects(away, other.pod["metadata"].get("labels") or {})
            ):
                yield "run-apart-from"


def group_of(said: PodClauses, cluster: Cluster) -> set[str]:
    """Its tokens of colocation, with those that meet them in a processing element of its Job object."""
    group = said.tokens(ClauseName.COLOCATION)
    for job in cluster.jobs:
        if (cluster.namespace(job), job["metadata"]["name"]) != (said.space, said.job):
            continue
        elements = [
            {str(one.argument) for operator in element.get("operators") or () for one in _tokens(operator)}
            for element in job["spec"].get("processingElements") or ()
        ]
        for _ in elements:
            for tokens in elements:
                group |= tokens if group & tokens else set()
    return group


def _tokens(operator: Json) -> list[PlacementClause]:
    return [clause for clause in _clauses(operator.get("placement", "")) if clause.name is ClauseName.COLOCATION]


def equipped(pod: Json) -> Json:
    """The pod with what its hardware requirements say it must have: amounts in its main container, labels of nodes."""
    spec = completed(pod)["spec"]
    for need in json.loads(PodClauses(pod).told.get(keys.HARDWARE, "[]")):
        if not need.get("mandatory", True):
            continue
        if not need["allocatable"]:
            labels = spec.get("nodeSelector") or {}
            # A label that the pod itself wants otherwise is on no node.
            found = (
                {need["name"]: need["value"]} if labels.get(need["name"], need["value"]) == need["value"] else {"": ""}
            )
            spec["nodeSelector"] = {**labels, **found}
        else:
            main = spec["containers"][0]
            said = main.get("resources") or {}
            amount = {need["name"]: str(need.get("requests", need["limits"]))}
            more = {field: {**(said.get(field) or {}), **amount} for field in ("requests", "limits")}
            spec["containers"] = [{**main, "resources": more}, *spec["containers"][1:]]
    return {**pod, "spec": spec}


def hidden(pod: Json, cluster: Cluster) -> bool:
    """Whether a pod of the same job is where Kubernetes does not see it beside others; who only prefers them may be."""
    said = PodClauses(pod)
    nameless = [
        other for other, place in cluster.live() if keys.HOSTNAME not in (place["metadata"].get("labels") or {})
    ]
    return any(said.shares_job(PodClauses(other)) for other in nameless)


def same_host(one: Json, other: Json) -> bool:
    """Whether both nodes have the same host name label."""
    said = [(node["metadata"].get("labels") or {}).get(keys.HOSTNAME) for node in (one, other)]
    return said[0] is not None and said[0] == said[1]


def own_hostnames(cluster: Cluster) -> set[str]:
    """The names of the nodes whose host name label is there, and no other node's."""
    return {name for name, host in _hostnames(cluster).items() if host is not None} - shared_hostnames(cluster)


def shared_hostnames(cluster: Cluster) -> set[str]:
    """The names of the nodes whose host name label is another node's, too."""
    said = _hostnames(cluster)
    return {name for name, host in said.items() if host is not None and list(said.values()).count(host) > 1}


def _hostnames(cluster: Cluster) -> dict[str, str | None]:
    return {name: (node["metadata"].get("labels") or {}).get(keys.HOSTNAME) for name, node in cluster.by_name.items()}
