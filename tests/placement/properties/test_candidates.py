"""The verdict against an independent judge that asks node by node."""

import copy
from collections import Counter

from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json
from tests.placement.properties.generated_pods import HOSTS, TOKENS, requested
from tests.placement.properties.random_choices import examples
from tests.placement.properties.refusals.dropped_clauses import PLACEMENT
from tests.placement.properties.strategies import SPL_NAMES, clusters

BINDING = "streams.ibm.com/host-binding"
FAMILIES = {
    "host": "named", "hostpool": "pooled", "node_selector": "own", "taints": "untainted", "exclusive": "nobody_elses",
    "resources": "roomy", "colocation": "together", "exlocation": "apart", "isolation": "isolated",
    "node_label": "mapped", "uniform": "uniform", "run_with": "accompanied",
    "pod_terms": "tolerated", "topology_spread": "even",
}  # fmt: skip
"""The core's families, which are modules, by the judge's names for them."""


@given(clusters(), requested())
@examples(400)
def test_the_candidates_are_the_nodes_that_every_rule_leaves(cluster: Cluster, pod: Json) -> None:
    found = decision_core.candidates(pod, decision_core.inventory(cluster))
    assume(found is not None)
    event(f"{len(found or ())} candidates")
    judge = decision_core.oracle(pod, cluster)
    objections = {node.name: judge.objection(node) for node in cluster.nodes}
    given, offering = judge.granted()
    event(f"{len(given)} wishes granted")
    assert found == offering, objections


@given(clusters(), requested())
@examples(100)
def test_every_node_is_counted_under_the_first_rule_that_it_breaks(cluster: Cluster, pod: Json) -> None:
    verdict = decision_core.decided(pod, cluster).verdict
    assume(verdict is not None)
    assert verdict is not None
    counted = Counter[str]()
    for judged, out in verdict.removed():
        family = FAMILIES[type(judged.constraint).__module__.rpartition(".")[2]]
        if family == "tolerated":
            family += "_by_workers" if str(judged.constraint.clause).startswith("uniform") else "_by_exlocated"
        hardware = family == "mapped" and str(judged.constraint.clause).startswith("hardware ")
        counted["labelled" if hardware else family] += out.bit_count()
    judge = decision_core.oracle(pod, cluster)
    given, offering = judge.granted()
    lacking = "roomy" if given else ""  # of what the pod was given, though it only wanted it
    rules = [judge.objection(node) or ("" if node.name in offering else lacking) for node in cluster.nodes]
    assert counted == Counter(filter(None, rules))


@given(clusters(), requested())
@examples(100)
def test_a_refused_pod_has_no_node_and_an_admitted_one_has_unless_nodes_are_to_come(
    cluster: Cluster, pod: Json
) -> None:
    decision = decision_core.decided(pod, cluster)
    assume(decision.verdict is not None)
    judge = decision_core.oracle(pod, cluster)
    if decision.refused and decision.refusal:
        assert not judge.candidates()
    elif decision.additions:
        assert judge.candidates() or any(pool.elastic for _, pool in judge.asked.pools)


@given(clusters(), requested(), st.integers(0, 7), st.sampled_from(["for that alone", "for more"]))
@examples(50)
def test_a_pod_is_only_ever_bound_to_a_node_that_can_run_it(cluster: Cluster, pod: Json, at: int, asks: str) -> None:
    """A pod that asks for a node of the cluster, and to be bound to it."""
    assume(cluster.nodes)
    clause = f'host("{cluster.nodes[at % len(cluster.nodes)].name}")'
    asking = with_clause(pod, clause)
    alone = {PLACEMENT: f"Op: {clause}"} if asks == "for that alone" else {}
    asking["metadata"]["annotations"] |= {BINDING: "nodeName", **alone}
    additions = decision_core.decided(asking, cluster).additions
    assume(additions and additions.node_name)
    assert additions is not None
    assert additions.node_name in decision_core.oracle(asking, cluster).candidates()


@given(clusters(), requested(), st.sampled_from([*HOSTS, *TOKENS, "hostIsolation"]))
@examples(150)
def test_a_clause_more_never_adds_a_candidate(cluster: Cluster, pod: Json, clause: str) -> None:
    assert_no_more(cluster, pod, with_clause(pod, clause))


@given(clusters(), requested(), st.sampled_from([f"host({name})" for name in SPL_NAMES]))
@examples(100)
def test_a_shared_pool_more_never_adds_a_candidate(cluster: Cluster, pod: Json, clause: str) -> None:
    """Unless its tags turn one tag into several, which is another label, or makes the binding wait for its hosts."""
    more = with_clause(pod, clause)
    before, after = decision_core.oracle(pod, cluster).asked, decision_core.oracle(more, cluster).asked
    assume(not before.tags or before.tags == after.tags)
    assume(before.bound <= after.bound)
    assume(not any(pool.exclusive for _, pool in after.pools))
    assert_no_more(cluster, pod, more)


@given(clusters(), requested(), st.sampled_from([("zone", "a"), ("cores", "8"), ("nowhere", "")]))
@examples(100)
def test_a_node_selector_more_never_adds_a_candidate(cluster: Cluster, pod: Json, label: tuple[str, str]) -> None:
    more = copy.deepcopy(pod)
    wanted = more["spec"].get("nodeSelector") or {}
    assume(label[0] not in wanted)
    more["spec"]["nodeSelector"] = {**wanted, label[0]: label[1]}
    assert_no_more(cluster, pod, more)


def with_clause(pod: Json, clause: str) -> Json:
    """The pod with a clause of one more operator."""
    more = copy.deepcopy(pod)
    annotations = more["metadata"].get("annotations") or {}
    text = annotations.get(PLACEMENT)
    more["metadata"]["annotations"] = {
        **annotations,
        PLACEMENT: f"{text}; More: {clause}" if text else f"More: {clause}",
    }
    return more


def assert_no_more(cluster: Cluster, pod: Json, more: Json) -> None:
    before, after = (decision_core.able(found, decision_core.inventory(cluster)) for found in (pod, more))
    assume(before is not None)
    assume(after is not None)
    assert before is not None
    assert after is not None
    event(f"{len(before)} to {len(after)}")
    assert after <= before
