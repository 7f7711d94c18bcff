"""A drain that is only asked about, and the same drain played by admission and the model of the scheduler."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
from hypothesis import event, given

from tests.answers import patched, refused, response
from tests.builders import review
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placementreview.asked import asked, of
from tests.scheduling import product_answers
from tests.scheduling.clause_meaning import broken
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.scheduler import objections, possible
from tests.scheduling.state import FINISHED, Cluster, phase
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placementreview.review import EvictedPod, WhatIf

Json = Mapping[str, Any]

_COMPANY = {"its pod affinity", "its pod anti-affinity", "another pod's pod anti-affinity"}


class Drain(NamedTuple):
    """A cluster, and the nodes of it that are drained."""

    cluster: Cluster
    nodes: tuple[str, ...]

    def __repr__(self) -> str:
        """The cluster in YAML, and the nodes."""
        return f"{self.cluster!r}# drained: {', '.join(self.nodes)}"


def drain(choices: RandomChoices) -> Drain:
    cluster = RandomCluster(choices.part(CLUSTER_BYTES)).cluster
    owned = tuple(_owned(choices, pod) for pod in cluster.pods)
    names = [node["metadata"]["name"] for node in cluster.nodes]
    return Drain(replace(cluster, pods=owned), tuple(choices.some(names, min(2, len(names)), 1)))


def _owned(choices: RandomChoices, pod: Json) -> dict[str, Any]:
    """The pod with a controller, if it gets one: mostly that of a ReplicaSet."""
    kind = choices.pick(["ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "DaemonSet", ""])
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "o", "controller": True}
    stated = pod["metadata"].get("ownerReferences")
    metadata = {**pod["metadata"], "ownerReferences": stated or ([owner] if kind else [])}
    priority = {"priority": 10 * choices.face(3)} if choices.chance(3) else {}
    return {**pod, "metadata": metadata, "spec": {**pod["spec"], **priority}}


@given(drawn(CLUSTER_BYTES + 40, drain))
@examples(200)
def test_a_drain_is_as_it_is_played(found: Drain) -> None:
    # Parts that are one object in Python are two on the wire.
    pods = msgspec.json.decode(
        msgspec.json.encode([{"apiVersion": "v1", "kind": "Pod", **one} for one in found.cluster.pods])
    )
    here = [pod for pod in pods if pod["spec"].get("nodeName") in found.nodes]
    status = asked(of(found.cluster), pods=here, what_if=WhatIf(drain=found.nodes))
    played(replace(found.cluster, pods=tuple(pods)), found.nodes, status.evicted)
    for one in status.evicted:
        event(one.verdict)


def played(cluster: Cluster, drained: tuple[str, ...], answers: tuple[EvictedPod, ...]) -> None:
    """Play the drain, each pod as the answer has it, and see that nothing else could have become of it."""
    leaving = [pod for pod in cluster.pods if pod["spec"].get("nodeName") in drained and not _stays(pod)]
    nodes = [_cordoned(node) if node["metadata"]["name"] in drained else node for node in cluster.nodes]
    state = replace(cluster, nodes=tuple(nodes)).only(lambda pod: pod not in leaving)
    waiting = [pod for pod in leaving if not pod["metadata"].get("deletionTimestamp")]
    waiting.sort(
        key=lambda pod: (-pod["spec"].get("priority", 0), pod["metadata"]["namespace"], pod["metadata"]["name"])
    )
    assert [one.name for one in answers] == [pod["metadata"]["name"] for pod in waiting]
    for one, pod in zip(answers, waiting, strict=True):
        assert (one.verdict == "Deleted") == (not pod["metadata"]["ownerReferences"])
        if one.verdict == "Deleted":
            continue
        fresh = {
            **pod,
            "spec": {key: value for key, value in pod["spec"].items() if key not in {"nodeName", "priority"}},
        }
        made, message = _made_again(fresh, state)
        assert (one.verdict == "Refused") == (made is None)
        if made is None:
            assert one.message == message
            continue
        places = [made["spec"]["nodeName"]] if made["spec"].get("nodeName") else possible(made, state)
        if one.verdict == "Unplaced":
            assert not places
            continue
        assert one.node in places or _only_company(made, one.node, state)
        assert {*broken(fresh, state.by_name[one.node], state)} <= {"run-apart-from"}
        metadata = {**made["metadata"], "uid": f"new-{one.name}"}
        state = state.plus({**made, "metadata": metadata}, one.node)


def _made_again(pod: Json, cluster: Cluster) -> tuple[dict[str, Any] | None, str]:
    """The pod as its controller makes it, ``None`` if it is refused, and why."""
    kind = pod["metadata"]["ownerReferences"][0]["kind"].lower()
    maker = {"username": f"system:serviceaccount:kube-system:{kind}-controller"}
    where = {"namespace": cluster.namespace(pod), "userInfo": maker}
    answer = mutate(review(pod, **where), of(cluster), product_answers.POLICY)
    if not response(answer)["allowed"]:
        return None, refused(answer)[1]
    final = patched(msgspec.json.decode(msgspec.json.encode(pod)), answer)
    seen = validate(review(final, **where), of(cluster), product_answers.POLICY)
    return (final, "") if response(seen)["allowed"] else (None, refused(seen)[1])


def _only_company(pod: Json, node: str, cluster: Cluster) -> bool:
    """Whether nothing keeps the pod off the node but terms about labels of other pods, which the product does not keep.

    It judges its own clauses, and other terms as far as it is certain of them (``docs/placementreview.md``).
    """
    return {*objections(pod, cluster.by_name[node], cluster)} <= _COMPANY


def _cordoned(node: Json) -> Json:
    return {**node, "spec": {**(node.get("spec") or {}), "unschedulable": True}}


def _stays(pod: Json) -> bool:
    owners = Counter(owner["kind"] for owner in pod["metadata"]["ownerReferences"] if owner.get("controller"))
    return bool(owners["DaemonSet"]) or phase(pod) in FINISHED
