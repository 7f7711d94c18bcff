"""Who is admitted is stored: what ``/validate`` says of a finished pod was said before, of its workload as well."""

import dataclasses

from hypothesis import assume, event, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.answers import refused, response
from tests.builders import review
from tests.placement.properties import decision_core
from tests.placement.properties.clusters import STRANGERS, TEAM, Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.oracle.request import PREFIX
from tests.placement.properties.pods.test_patches import patched
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from webhook.admission.opt_in import opted_in
from webhook.admission.validate import validate
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text.api_kinds import WORKLOADS

ALL = {"operator": "Exists"}
OF_THE_EFFECT = {"operator": "Exists", "effect": "NoSchedule"}
EVERYTHING = st.sampled_from([[ALL], [OF_THE_EFFECT], [{"key": "x", "operator": "Exists"}, ALL]])
"""What covers every taint, those of exclusive pools among them."""

KINDS = st.sampled_from(sorted((kind.group, kind.name) for kind in WORKLOADS if kind.name != "DaemonSet"))
"""Pods of a DaemonSet may run on every node, and it must choose none."""

TAKEN = Taint(f"{PREFIX}exclusive", f"{STRANGERS}.x", "NoSchedule")


def closed(cluster: Cluster) -> Cluster:
    """The cluster with one node that is exclusive to others."""
    first, *rest = cluster.nodes
    return dataclasses.replace(cluster, nodes=(replace(first, taints=(TAKEN,)), *rest))


def tolerant(pod: Json, tolerations: list[Json]) -> Json:
    """The pod that tolerates this, and no more."""
    return pod | {"spec": pod["spec"] | {"tolerations": tolerations}}


def stored(pod: Json, cluster: Cluster) -> str:
    """The refusal of the pod when it is created or, as it was changed then, stored."""
    decision = decision_core.decided(pod, cluster)
    if decision.refused:
        return decision.message
    answer = validate(
        review(patched(pod, cluster), namespace=TEAM), decision_core.inventory(cluster), decision_core.POLICY
    )
    return "" if response(answer)["allowed"] else refused(answer)[1]


def submitted(pod: Json, cluster: Cluster, group: str, kind: str) -> str:
    """The refusal of a workload of one such pod."""
    metadata = {key: pod["metadata"].get(key) for key in ("labels", "annotations")}
    spec: Json = {"template": {"metadata": metadata, "spec": pod["spec"]}}
    spec = {"jobTemplate": {"spec": spec}} if kind == "CronJob" else spec
    found = {"metadata": {"name": "w"}, **(spec if kind == "PodTemplate" else {"spec": spec})}
    body = review(found, kind=kind, group=group, namespace=TEAM)
    answer = validate(body, decision_core.inventory(cluster), decision_core.POLICY)
    return "" if response(answer)["allowed"] else refused(answer)[1]


@given(clusters(), requested(), EVERYTHING)
@examples(150)
def test_who_is_admitted_is_stored(cluster: Cluster, pod: Json, tolerations: list[Json]) -> None:
    assume(cluster.nodes)
    found = tolerant(pod, tolerations)
    decision = decision_core.decided(found, closed(cluster))
    event(decision.message.partition(":")[0][:40] or "admitted")
    assert stored(found, closed(cluster)) == decision.message


@given(clusters(), requested(), EVERYTHING)
@examples(150)
def test_no_pod_is_admitted_that_could_run_on_hosts_of_others(
    cluster: Cluster, pod: Json, tolerations: list[Json]
) -> None:
    """Past the taint, that is: nothing but the taint keeps him from them."""
    assume(cluster.nodes)
    found = tolerant(pod, tolerations)
    whole = closed(cluster)
    assume(not decision_core.decided(found, whole).refused)
    judge = decision_core.oracle(found, whole)
    foreign = [node for node in whole.nodes if not judge.nobody_elses(node)]
    event(f"{len(foreign)} hosts of others")
    judge.nobody_elses = lambda _node: True  # type: ignore[method-assign] -- as a scheduler that minds taints alone
    assert [node.name for node in foreign if not judge.objection(node)] == []


@given(clusters(), requested(), EVERYTHING, KINDS)
@examples(150)
def test_a_workload_is_refused_as_its_pod_is(
    cluster: Cluster, pod: Json, tolerations: list[Json], kind: tuple[str, str]
) -> None:
    assume(cluster.nodes)
    owner = (
        {} if kind[1] == "PodTemplate" else {"ownerReferences": [{"kind": kind[1], "name": "w", "controller": True}]}
    )
    found, whole = tolerant(pod, tolerations) | {"metadata": pod["metadata"] | owner}, closed(cluster)
    assume(opted_in(decision_core.read(found)))
    message = submitted(found, whole, *kind)
    event(message.partition(":")[0][:40] or "admitted")
    assert message == stored(found, whole)
