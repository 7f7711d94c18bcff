"""What a refusal says is true, and says nothing that its reader may not know."""

import re
from collections.abc import Collection

from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.placement.properties import core
from tests.placement.properties.clusters import SECRET, Cluster, Json
from tests.placement.properties.dice import examples
from tests.placement.properties.requested import requested
from tests.placement.properties.rewrite import PLACEMENT, entangled, without
from tests.placement.properties.strategies import clusters
from webhook.placement.decision import Decision
from webhook.placement.problem import Fault
from webhook.placement.refusal import Refusal

REASON = re.compile(r"  (\d+) nodes? ")
OPENED = re.compile(r"(drop|lower) .* \((\d+) nodes? would fit\)\.$")


def refused(pod: Json, cluster: Cluster) -> tuple[Decision, Refusal]:
    """The decision about a pod that has no node, whether or not nodes are to come."""
    decision = core.decided(pod, cluster)
    assume(decision.refusal)
    assert decision.refusal is not None
    return decision, decision.refusal


def fit(pod: Json, cluster: Cluster, *, without_clauses: Collection[str], other_things_equal: bool) -> set[str]:
    """The nodes that the pod could run on if its author dropped these clauses."""
    judge = core.oracle(without(pod, without_clauses), cluster)
    assume(not (other_things_equal and entangled(core.oracle(pod, cluster).asked, judge.asked)))
    return judge.candidates()


@given(clusters(), requested())
@examples(100)
def test_the_first_line_names_a_smallest_conflict(cluster: Cluster, pod: Json) -> None:
    """The clauses alone leave no node; without any one of them, the others leave some, other things being equal."""
    decision, refusal = refused(pod, cluster)
    assume(refusal.fault is Fault.FORBIDDEN)
    assert decision.verdict is not None
    event(f"{len(refusal.clauses)} clauses")
    written = {judged.constraint.clause for judged in decision.verdict.hard} - {""}
    rest = written - set(refusal.clauses)
    assert not fit(pod, cluster, without_clauses=rest, other_things_equal=True)
    for clause in refusal.clauses:
        assert fit(pod, cluster, without_clauses={*rest, clause}, other_things_equal=True), clause


@given(clusters(), requested())
@examples(120)
def test_the_counts_of_the_reasons_add_up_to_all_nodes(cluster: Cluster, pod: Json) -> None:
    _, refusal = refused(pod, cluster)
    assume("more reasons" not in refusal.text)
    assert sum(int(count) for count in REASON.findall(refusal.text)) == len(cluster.nodes)


@given(clusters(), requested())
@examples(100)
def test_the_nearest_fix_opens_as_many_nodes_as_it_says(cluster: Cluster, pod: Json) -> None:
    decision, refusal = refused(pod, cluster)
    found = OPENED.search(refusal.text)
    assume(found)
    assert found is not None
    assert decision.verdict is not None
    clauses = {judged.constraint.clause for judged in decision.verdict.hard} - {""}
    fix = refusal.text.rpartition("\n")[2]
    dropped = {clause for clause in clauses if f"drop {clause}" in fix or f"lower {clause}" in fix}
    event(f"{len(dropped)} dropped")
    # What is requested beside a requirement of the same resource is part of what the node must have for it, too.
    single = len(dropped) == 1 and not any(clause.startswith(("spec.", "requests ")) for clause in dropped)
    assert len(fit(pod, cluster, without_clauses=dropped, other_things_equal=not single)) == int(found[2]), refusal.text


@given(clusters(), requested())
@examples(200)
def test_a_refusal_is_short_plain_and_discreet(cluster: Cluster, pod: Json) -> None:
    decision = core.decided(pod, cluster)
    texts = [decision.message, *decision.warnings]
    assert all(printable(text) for text in texts)
    hidden = set(re.findall(rf"{SECRET}[\w-]+", " ".join(texts)))
    assert not {name for name in hidden if name not in str(pod)}, texts


@given(
    st.dictionaries(
        st.sampled_from(["placement", "preferred", "host-binding", "plaecment", "\u202eplacement"]),
        st.text(),
        min_size=1,
    ),
    st.dictionaries(st.text(), st.text(), max_size=2),
    st.text(alphabet='\x00\n"\U0001f600\u202eA:;host()', max_size=300),
)
@examples(200)
def test_whatever_is_written_a_refusal_is_short_and_plain(said: Json, labels: Json, text: str) -> None:
    annotations = {f"streams.ibm.com/{key}": value for key, value in said.items()} | {PLACEMENT: text}
    pod = {"metadata": {"annotations": annotations, "labels": labels}, "spec": {}}
    assert printable(core.decided(pod, Cluster()).message)


def printable(text: str) -> bool:
    """Whether the text has at most 1,024 bytes, printable ones and line ends."""
    return len(text) <= 1024 and re.fullmatch(r"[\x20-\x7e\n]*", text) is not None
