"""The pods of an admitted workload can all be made and bound, one after the other; those of a refused one cannot."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import event, given

from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.scheduling import product_answers
from tests.scheduling.clause_meaning import broken
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.passing_conditions import goes_past, needs_company, told_to_wait, with_its_job
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster, manifests
from tests.scheduling.workloads import WORKLOAD_BYTES, all_at_once, count_of, most_placed, pod_of, workload
from webhook.placement.text import keys

Json = Mapping[str, Any]


class Submission(NamedTuple):
    """A workload that is created in a cluster; ``choices`` say which of its places each pod gets."""

    cluster: Cluster
    workload: dict[str, Any]
    choices: tuple[int, ...]
    burst: bool
    """Whether all pods are made before the first is bound."""

    def __repr__(self) -> str:
        """The cluster and the workload in YAML."""
        return f"{self.cluster!r}# created:{manifests([self.workload])}# choices {self.choices}, burst {self.burst}"


def submission(choices: RandomChoices) -> Submission:
    random_cluster = RandomCluster(choices.part(CLUSTER_BYTES))
    found = workload(choices.part(WORKLOAD_BYTES), random_cluster.names)
    return Submission(random_cluster.cluster, found, tuple(choices.face(60) for _ in range(4)), choices.chance(4))


MAKE = submission, CLUSTER_BYTES + WORKLOAD_BYTES + 6


@given(drawn(MAKE[1], MAKE[0]))
@examples(600)
def test_a_workload_is_admitted_or_refused_as_the_scheduler_would_have_its_pods(found: Submission) -> None:
    ruling = product_answers.submitted(found.workload, found.cluster)
    event(f"refused with {ruling.code}" if ruling.pod is None else "admitted")
    pod = product_answers.admitted(pod_of(found.workload, 0), found.cluster)
    if pod.code == 422:
        # Nobody looks at the pods: what no change of the cluster could help is said when the workload is submitted.
        assert (ruling.code, ruling.message) == (pod.code, pod.message)
    if ruling.wants_nodes:
        assert cannot_be_placed(found)


def cannot_be_placed(found: Submission) -> bool:
    """No way to place as many pods as are needed at a time, neither now nor when everything but the job has gone."""
    needed = count_of(found.workload) if all_at_once(found.workload) else 1
    pod = pod_of(found.workload, 0)
    states = [found.cluster] if goes_past(pod) else [found.cluster, with_its_job(pod, found.cluster)]
    return all(most_placed(found.workload, later) < needed for later in states)


@given(drawn(MAKE[1], MAKE[0]))
@examples(400)
def test_all_pods_of_an_admitted_workload_are_bound_if_nothing_else_runs(found: Submission) -> None:
    """One after the other, each on any node that the scheduler may choose; of a Job that says so, at least one.

    Of pods of one moment each may be given the last of what it only wants: then one has it, and the others wait.
    """
    cluster = found.cluster.only(lambda _: False)
    ruling = product_answers.submitted(found.workload, cluster)
    event("admitted" if ruling.pod is not None else f"refused with {ruling.code}")
    if ruling.pod is None or needs_company(pod_of(found.workload, 0)):
        return
    told = told_to_wait(ruling.warnings) or (found.burst and wishes(pod_of(found.workload, 0)))
    if not told or not all_at_once(found.workload):
        assert bound(found, cluster) >= (1 if told else count_of(found.workload))


def wishes(pod: Json) -> bool:
    """Whether the pod only wants some of what nodes give."""
    said = json.loads((pod["metadata"].get("annotations") or {}).get(keys.HARDWARE, "[]"))
    return any(need["allocatable"] and not need.get("mandatory", True) for need in said)


def bound(found: Submission, cluster: Cluster) -> int:
    """How many of the pods are bound, each where none of its clauses is broken."""
    number, count = 0, count_of(found.workload)
    moment = product_answers.Replica(cluster, count)
    for at in range(count):
        raw = pod_of(found.workload, at)
        ruling = product_answers.admitted(
            raw, cluster, moment=moment if found.burst else product_answers.Replica(cluster, count)
        )
        places = _places(ruling.pod, cluster) if ruling.pod is not None else []
        if places:
            name = places[found.choices[at] % len(places)]
            assert not broken(raw, cluster.by_name[name], cluster)
            cluster, number = cluster.plus(ruling.pod or {}, name), number + 1
    return number


def _places(pod: Json, cluster: Cluster) -> list[str]:
    """Where the pod can be: there, if it goes past the scheduler."""
    place = pod["spec"].get("nodeName")
    return [place] if place else possible(pod, cluster)
