"""Conditions of nodes that pass by themselves, on any nodes of any cluster, refuse nobody."""

from dataclasses import replace

import msgspec
from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from webhook.placement.kube.selection.tolerations import PASSING, Taint

TAINTS = [Taint(key, "", effect) for key in PASSING for effect in ("NoSchedule", "NoExecute")]


def troubled(cluster: Cluster, which: int, taint: Taint) -> Cluster:
    """The cluster with the taint on those of its nodes whose bit is set."""
    nodes = (
        msgspec.structs.replace(node, taints=(*node.taints, taint)) if which >> at & 1 else node
        for at, node in enumerate(cluster.nodes)
    )
    return replace(cluster, nodes=tuple(nodes))


@given(clusters(), requested(), st.integers(1, 255), st.sampled_from(TAINTS))
@examples(50)
def test_whoever_is_refused_would_be_refused_without_them_and_in_the_same_words(
    cluster: Cluster, pod: Json, which: int, taint: Taint
) -> None:
    ill = decision_core.decided(pod, troubled(cluster, which, taint))
    assume(ill.refused)
    assert decision_core.decided(pod, cluster).message == ill.message


@given(clusters(), requested(), st.integers(1, 255), st.sampled_from(TAINTS))
@examples(50)
def test_whoever_waits_for_them_to_pass_gets_what_the_pod_would_get_without_them_but_for_a_node_name(
    cluster: Cluster, pod: Json, which: int, taint: Taint
) -> None:
    ill, well = decision_core.decided(pod, troubled(cluster, which, taint)), decision_core.decided(pod, cluster)
    assume(ill.recovered and not ill.refused)
    assert ill.additions is not None
    assert well.additions is not None
    event("bound" if well.additions.node_name else "not bound")
    assert ill.additions.node_name == ""
    assert ill.wait is not None
    if not well.additions.node_name:
        assert msgspec.structs.replace(ill.additions, waits=well.additions.waits) == well.additions
