"""The product, asked through its real entrances: review bytes, against a snapshot of the same objects."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from tests.answers import patched, refused, response, warnings
from tests.builders import review
from tests.scheduling.pod_defaults import with_defaults
from tests.scheduling.state import Cluster
from webhook.admission.mutate import Known, mutate
from webhook.admission.validate import validate
from webhook.cluster.objects.kinds import DEVICES
from webhook.cluster.snapshot.loader import SnapshotLoader
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

Json = Mapping[str, Any]

POLICY = Policy()
ELASTIC = Policy(elastic=True)
"""Nobody is refused for want of a node: what the pod would be given shows where it could not run."""


@dataclasses.dataclass(frozen=True)
class Ruling:
    """What became of an object: ``pod`` is it as it will be stored, ``None`` if it is refused with code and message."""

    pod: dict[str, Any] | None
    warnings: tuple[str, ...] = ()
    code: int = 0
    message: str = ""

    @property
    def wants_nodes(self) -> bool:
        """Whether it is refused because no node, or too few, could run it."""
        lines = self.message.partition("\n")[0]
        if self.code == 422:
            return "one pod on every node cannot both hold" in lines
        return self.code == 403 and (" can run this pod" in lines or " fit" in lines)

    @property
    def breaks_defaults(self) -> bool:
        """Whether it is refused because the API server would refuse its pods for a LimitRange or a class."""
        named = any(kind in self.message for kind in ("LimitRange", "RuntimeClass", "PriorityClass"))
        return self.code == 403 and named and not self.wants_nodes


class Replica:
    """What one replica of the webhook knows at a moment: the cluster as it sees it, and what it has just promised.

    ``count`` is how many pods the API server says that any workload is to have, if it says so.
    """

    def __init__(self, cluster: Cluster, count: int | None = None) -> None:
        self.world = inventory(cluster)
        self.known = Known(assumed=AssumedPods(lambda: 0.0), count=lambda _: count)


def inventory(cluster: Cluster) -> Inventory:
    """The cluster as a snapshot of its objects says it is."""
    found = Inventory()
    reading = SnapshotLoader(found)
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in cluster.namespaces]
    # Members of a list do not say what they are.
    core = [{"apiVersion": "v1", "kind": "Node", **node} for node in cluster.nodes]
    core += [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in cluster.pods]
    items = [*core, *cluster.defaults, *cluster.volumes, *cluster.devices, *cluster.pools, *cluster.jobs, *spaces]
    reading.document(Raw(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items})))
    report = reading.report()
    assert not report.skipped, report.skipped
    for kind in DEVICES if cluster.devices else ():
        kind.listed(found, True)  # noqa: FBT003 -- the outcome of a list
    return found


def admitted(pod: Json, cluster: Cluster, policy: Policy = POLICY, *, moment: Replica | None = None) -> Ruling:
    """What becomes of a pod that is created: patched by ``/mutate``, and then seen by ``/validate``."""
    moment = moment or Replica(cluster)
    world = moment.world
    pod = with_defaults(pod, cluster)
    where: dict[str, Any] = {"namespace": cluster.namespace(pod)}
    answer = mutate(review(pod, uid=pod["metadata"]["name"], **where), world, policy, moment.known)
    said = tuple(warnings(answer))
    if not response(answer)["allowed"]:
        return Ruling(None, said, *refused(answer))
    # Parts that are one object in Python are two on the wire.
    final = patched(msgspec.json.decode(msgspec.json.encode(pod)), answer)
    seen = validate(review(final, **where), world, policy)
    said += tuple(warnings(seen))
    return Ruling(final, said) if response(seen)["allowed"] else Ruling(None, said, *refused(seen))


def submitted(workload: Json, cluster: Cluster, policy: Policy = POLICY) -> Ruling:
    """What ``/validate`` says of a workload that is created."""
    group = str(workload["apiVersion"]).partition("/")[0]
    where = {"namespace": cluster.namespace(workload)}
    answer = validate(review(workload, kind=workload["kind"], group=group, **where), inventory(cluster), policy)
    said = tuple(warnings(answer))
    return Ruling(dict(workload), said) if response(answer)["allowed"] else Ruling(None, said, *refused(answer))
