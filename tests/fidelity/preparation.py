"""What the product's controller makes of a scenario before the scheduler looks at it: hosts of pools, and pods.

Pools get their hosts one after the other by the product's own plan, and nodes their marks; pods are in the order in
which the controller submits them.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec

from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.scenario import FidelityScenario
from tests.fidelity.worlds import daemon_pods
from tests.scheduling import product_answers
from tests.scheduling.product_answers import ELASTIC, POLICY
from tests.scheduling.state import Cluster
from tests.scheduling.workloads import count_of, pod_of
from webhook.placement.elements.element_order import most_constrained_first
from webhook.placement.elements.plan import PlannedLaunch, planned_launch
from webhook.placement.elements.steered_pod import equipped, kept_on, steered
from webhook.placement.jobs.element_pods import element_pod
from webhook.placement.jobs.problems import pool_object_name
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.jobs.job_spec import JobSpec, element_name
from webhook.placement.pools.pool_plan import plan
from webhook.placement.text import keys

Json = Mapping[str, Any]
Object = dict[str, Any]

Steer: TypeAlias = Callable[[Object, Json | None, PlannedLaunch], Object]
"""A pod as the controller makes it, given the node that the plan has for it, if it has one, and all that it says."""

PlannedHosts: TypeAlias = Mapping[str, Mapping[int, str]]
"""Nodes of HostPools, by name of the object and index."""

_NOT_PLANNED: PlannedHosts = {}


def unsteered(pod: Object, node: Json | None, planned: PlannedLaunch) -> Object:  # noqa: ARG001 -- whatever it says
    """The pod as it is."""
    return pod


def steered_as_planned(pod: Object, node: Json | None, planned: PlannedLaunch) -> Object:
    """The pod as the product's controller makes it."""
    pod = equipped(pod, planned.hardware)
    if node is None:
        return pod
    taints = [msgspec.convert(taint, Taint) for taint in node["spec"].get("taints", ())]
    name, soft = node["metadata"]["name"], [taint for taint in taints if taint.effect == "PreferNoSchedule"]
    return kept_on(steered(pod, name, soft), name) if planned.required else steered(pod, name, soft)


@dataclass(frozen=True)
class Preparation:
    """The cluster with the marks of pools, and the pods in order; ``lacking`` are pools that got no hosts, and why."""

    cluster: Cluster
    pods: tuple[Object, ...]
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Controller:
    """What the controller does with the plan of a Job: pods are steered, and pools may get the hosts of the plan."""

    steer: Steer = steered_as_planned
    planned_hosts: bool = True

    def prepare(self, scenario: FidelityScenario, verdict: CaseVerdict) -> Preparation:
        """The scenario when its pods are about to be created."""
        return prepared(scenario, verdict, self.steer, verdict.hosts if self.planned_hosts else _NOT_PLANNED)


def prepared(
    scenario: FidelityScenario, verdict: CaseVerdict, steer: Steer = unsteered, hosts: PlannedHosts = _NOT_PLANNED
) -> Preparation:
    """The scenario when its pods are about to be created; pools get these ``hosts`` if there are any for them."""
    cluster = scenario.cluster
    if scenario.kind == "pod":
        return Preparation(cluster, (scenario.subject,))
    if scenario.everywhere:
        # A refusal says that some pods never run, so it must hold once all other pods have ended.
        cluster = cluster if verdict.admitted else replace(cluster, pods=())
        return Preparation(cluster, tuple(daemon_pods(scenario.subject, cluster)))
    if scenario.kind == "workload":
        return Preparation(cluster, tuple(pod_of(scenario.subject, at) for at in range(count_of(scenario.subject))))
    cluster, lacking = _with_pools(scenario, hosts)
    cluster = replace(cluster, jobs=(scenario.subject,))
    pods = {
        pod["metadata"]["labels"][keys.PE]: pod for pod in job_pods(scenario.subject, scenario.space, scenario.mark)
    }
    cluster = _launched(cluster, pods, verdict)
    places = {name: cluster.by_name.get(place) for name, place in verdict.places.items()}
    made = [
        steer(pod, places.get(name), planned_launch(name, verdict.plan))
        for name, pod in pods.items()
        if name not in verdict.running
    ]
    return Preparation(cluster, tuple(made), lacking)


def _launched(cluster: Cluster, pods: Mapping[str, Object], verdict: CaseVerdict) -> Cluster:
    """The cluster once elements run where they were planned first, and nodes are cordoned."""
    for name, place in verdict.running.items():
        pod = steered_as_planned(pods[name], None, planned_launch(name, verdict.first))
        final = product_answers.admitted(pod, cluster, ELASTIC).pod
        cluster = cluster.plus(json.loads(json.dumps(final or pod)), place)
    for name in cluster.by_name.keys() & verdict.cordoned:
        cluster.by_name[name]["spec"]["unschedulable"] = True
    return cluster


def job_pods(subject: Json, space: str, mark: str) -> list[Object]:
    """The first pods of all processing elements of a Job, in the controller's order; they select nodes of the mark."""
    job = subject["metadata"]["name"]
    spec = msgspec.convert(subject["spec"], JobSpec)
    elements = [(element_name(job, at, one), one) for at, one in enumerate(spec.processing_elements or ())]
    found = []
    for name, element in most_constrained_first(elements):
        pod = copy.deepcopy(element_pod(job, name, element, spec))
        pod["metadata"] |= {"namespace": space, "uid": f"uid-of-{name}"}
        pod["spec"]["nodeSelector"] = {**pod["spec"].get("nodeSelector", {}), "case": mark}
        found.append(pod)
    return found


def _with_pools(scenario: FidelityScenario, hosts: PlannedHosts) -> tuple[Cluster, tuple[str, ...]]:
    """The cluster with the pools of the Job, as far as these get their hosts, and why others do not."""
    job = scenario.subject["metadata"]["name"]
    stated = scenario.subject["spec"].get("hostPools", ())
    cluster = replace(scenario.cluster, nodes=tuple(copy.deepcopy([*scenario.nodes])))
    cluster = replace(cluster, pools=(*cluster.pools, *(_pending(pool, job, scenario.space) for pool in stated)))
    lacking = []
    for at, pool in enumerate(cluster.pools):
        if pool["status"]["phase"] == "Pending":
            settled, reason = _settled(pool, cluster, hosts.get(pool["metadata"]["name"]))
            lacking += [f"HostPool {pool['spec']['name']}: {reason}"] if reason else []
            cluster = replace(cluster, pools=(*cluster.pools[:at], settled, *cluster.pools[at + 1 :]))
    return cluster, (*lacking, *_lost(cluster.pools[len(scenario.pools) :], cluster))


def _lost(own_pools: Sequence[Json], cluster: Cluster) -> Iterator[str]:
    """Pools of the Job that have lost a host to an exclusive one that came after them."""
    for pool in own_pools:
        own = keys.exclusive(pool["metadata"]["namespace"], pool["metadata"]["name"])
        for host in pool["status"]["hosts"]:
            taints = cluster.by_name[host["name"]]["spec"].get("taints", ())
            if any(one["key"] == keys.EXCLUSIVE and one["value"] != own for one in taints):
                yield f"HostPool {pool['spec']['name']}: {host['name']} is exclusive to another pool"


def _pending(pool: Object, job: str, space: str) -> Object:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HostPool",
        "metadata": {"name": pool_object_name(job, pool["name"]), "namespace": space},
        "spec": {**pool, "job": job},
        "status": {"phase": "Pending", "hosts": []},
    }


def _settled(pool: Json, cluster: Cluster, planned: Mapping[int, str] | None) -> tuple[Object, str]:
    """The pool once the controller was there, and why it has no hosts; its hosts are marked."""
    name = pool["metadata"]["namespace"], pool["metadata"]["name"]
    if "hosts" not in pool["spec"] and "size" not in pool["spec"]:
        return {**pool, "status": {"phase": "Ready", "hosts": []}}, ""
    if planned is None:
        world = product_answers.inventory(cluster)
        found = plan(world.pools[name], world, POLICY)
        if found.reason:
            return {**pool}, found.reason
        planned = {host.index: host.name for host in found.hosts}
    hosts = [{"index": index, "name": host} for index, host in sorted(planned.items())]
    settled = {**pool, "status": {"phase": "Ready", "hosts": hosts}}
    mark_hosts(settled, cluster)
    return settled, ""


def mark_hosts(pool: Json, cluster: Cluster) -> None:
    """Write the marks of the pool on its hosts."""
    name = pool["metadata"]["namespace"], pool["metadata"]["name"]
    for host in pool["status"]["hosts"]:
        node = cluster.by_name[host["name"]]
        node["metadata"]["labels"][keys.membership(*name)] = str(host["index"])
        if pool["spec"].get("mode") == "Exclusive":
            taint = {"key": keys.EXCLUSIVE, "value": keys.exclusive(*name), "effect": "NoSchedule"}
            node["spec"].setdefault("taints", []).append(taint)


def unmark(node: Object) -> None:
    """Take the marks of all pools off the node."""
    labels = node["metadata"]["labels"]
    node["metadata"]["labels"] = {key: text for key, text in labels.items() if not key.startswith(keys.MEMBERSHIP)}
    taints = node["spec"].get("taints", ())
    node["spec"]["taints"] = [taint for taint in taints if taint["key"] != keys.EXCLUSIVE]
