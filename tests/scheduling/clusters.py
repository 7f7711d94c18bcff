"""Clusters made by dice: their pods came one after the other, as the product and the scheduler let them in."""

from dataclasses import replace
from typing import Any

from tests.placement.properties.random_choices import RandomChoices
from tests.scheduling import product_answers
from tests.scheduling.nodes import NODE_BYTES, POOL_BYTES, node, pools
from tests.scheduling.pods import POD_BYTES, Names, asking, ordinary
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster
from webhook.placement.text import keys

Object = dict[str, Any]

NODES, PODS = 5, 8
CLUSTER_BYTES = 9 + NODES * NODE_BYTES + POOL_BYTES + PODS * (POD_BYTES + 8)


class RandomCluster:
    """A cluster, and the names that the pods to come may use."""

    def __init__(self, choices: RandomChoices, mark: str = "c", *, strangers: bool = True) -> None:
        nodes = [node(choices.part(NODE_BYTES), mark, at) for at in range(1 + choices.face(NODES))]
        made = pools(choices.part(POOL_BYTES), mark, mark, nodes)
        named = [pool["spec"]["name"] for pool in made]
        self.names = Names(mark, [one["metadata"]["name"] for one in nodes], named)
        spaces = {space: {"kubernetes.io/metadata.name": space} for space in self.names.spaces}
        jobs = [_job(choices, self.names)] if choices.chance(3) else []
        self.cluster = Cluster(tuple(nodes), (), tuple(made), tuple(jobs), spaces)
        self._strangers = strangers
        for at in range(choices.face(PODS + 1)):
            self._let_in(choices.part(POD_BYTES + 8), at)

    def _let_in(self, choices: RandomChoices, at: int) -> None:
        """One more pod, if it is admitted and there is a node for it."""
        stranger = self._strangers and choices.chance(3)
        if stranger:
            pod = ordinary(choices.part(POD_BYTES), self.names, f"{self.names.mark}-s{at}")
        else:
            ruling = product_answers.admitted(
                asking(choices.part(POD_BYTES), self.names, at, calm=choices.chance(4)), self.cluster
            )
            if ruling.pod is None:
                return
            pod = ruling.pod
        pod["spec"].pop("schedulingGates", None)
        places = possible(pod, self.cluster)
        if not places:
            return
        self.cluster = self.cluster.plus(pod, choices.pick(places))
        fate = choices.face(12)
        if fate > 9:
            bound = self.cluster.pods[-1]
            going = {**bound, "metadata": {**bound["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
            over = {**bound, "status": {"phase": "Succeeded"}}
            self.cluster = replace(self.cluster, pods=(*self.cluster.pods[:-1], going if fate == 10 else over))


def _job(choices: RandomChoices, names: Names) -> Object:
    """A Job object: what its processing elements say, of which pods say the same, or not."""
    joined, alone = 'hostColocation("t"), hostColocation("u")', "hostIsolation"
    said = ['hostExlocation("a")', joined, 'hostColocation("t")', *([alone] if choices.chance(4) else [])]
    elements = [
        {"name": f"pe-{at}", "operators": [{"name": f"op-{at}", "placement": choices.pick(said)}]} for at in range(3)
    ]
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": names.jobs[0], "namespace": names.spaces[0]},
        "spec": {"processingElements": elements},
    }


def of_job(pod: Object | None, other: Any) -> bool:
    """Whether both pods are of one job."""
    if pod is None:
        return False
    one, two = (each["metadata"] for each in (pod, other))
    job = (one.get("labels") or {}).get(keys.JOB)
    return bool(job) and (one["namespace"], job) == (two["namespace"], (two.get("labels") or {}).get(keys.JOB))
