"""Clusters and apps for tests: amounts in whole cores and devices, one container a pod."""

from collections.abc import Mapping, Sequence

from tests.builders import cluster, node, pod, typed
from tests.placement.planning.at_once import AtOnce
from webhook.placement.clusters.answer import ClustersAnswer, answer
from webhook.placement.clusters.application import AppWorkload, ClusterApp
from webhook.placement.clusters.examination import ExaminedCluster, examine
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import Solving, finished
from webhook.placement.request.world import World
from webhook.placement.text import keys

GPU = "nvidia.com/gpu"


def world(*nodes: Mapping[str, int], labels: Sequence[Mapping[str, str]] = ()) -> World:
    """A cluster of nodes that offer so many cores (``cpu``) and GPUs (``gpu``)."""
    found = [
        node(f"node-{at}", labels=labels[at] if labels else {}, cpu=1000 * offers.get("cpu", 0), **{GPU: devices})
        if (devices := offers.get("gpu", 0))
        else node(f"node-{at}", labels=labels[at] if labels else {}, cpu=1000 * offers.get("cpu", 0))
        for at, offers in enumerate(nodes)
    ]
    return World(cluster(found), Policy())


def workload(name: str = "w", *, count: int = 1, cpu: int = 0, gpu: int = 0, hardware: str = "") -> AppWorkload:
    """A Deployment whose pods request that, and have these hardware requirements."""
    requests = {resource: str(amount) for resource, amount in (("cpu", cpu), (GPU, gpu)) if amount}
    annotations = {keys.HARDWARE: hardware} if hardware else {}
    one = typed(pod(job=None, pe=None, requests=requests, annotations=annotations))
    return AppWorkload("default", "apps/v1", "Deployment", name, one, count)


def app(name: str, *workloads: AppWorkload, replication: int = 1, flaw: str = "") -> ClusterApp:
    """An app of these workloads."""
    return ClusterApp("default", name, replication, workloads, flaw=flaw)


def examined(name: str, apps: Sequence[ClusterApp], world: World, solving: Solving | None = None) -> ExaminedCluster:
    """The cluster examined for the apps."""
    return finished(examine(name, apps, world, solving or AtOnce()))


def answered(apps: Sequence[ClusterApp], worlds: Mapping[str, World | str]) -> ClustersAnswer:
    """The lists of the apps; a cluster given as a text is not read for that reason."""
    found = [
        ExaminedCluster(name, trouble=one) if isinstance(one, str) else examined(name, apps, one)
        for name, one in worlds.items()
    ]
    return finished(answer(apps, found, AtOnce()))
