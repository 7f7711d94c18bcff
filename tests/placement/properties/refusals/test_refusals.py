"""What a refusal says is true, and says nothing that its reader may not know."""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence

from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import SECRET, Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.random_choices import examples
from tests.placement.properties.refusals.dropped_clauses import PLACEMENT, without
from tests.placement.properties.strategies import clusters
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.text.problem import CLAUSE_LIMIT, Fault, shorten

REASON = re.compile(r"  (\d+) nodes? ")
OPENED = re.compile(r"(?:: |, or )((?:drop|lower) .*?) \((\d+) nodes? would fit\)\.$")
TO = re.compile(r" to (\S+ \d\w*(?:, \S+ \d\w*)*)")


def refused(pod: Json, cluster: Cluster) -> tuple[Decision, Refusal]:
    """The decision about a pod that has no node, whether or not nodes are to come."""
    decision = decision_core.decided(pod, cluster)
    assume(decision.refusal)
    assert decision.refusal is not None
    return decision, decision.refusal


def fit(pod: Json, cluster: Cluster, dropped: Collection[str]) -> int | None:
    """How many nodes could run the pod if its author dropped these words; nothing if it would be refused for others.

    The product and the judge must agree.
    """
    rewritten = without(pod, dropped)
    decision = decision_core.decided(rewritten, cluster)
    if decision.refused and decision.refusal is None:
        return None
    count = len(decision_core.oracle(rewritten, cluster).candidates())
    assert len(decision_core.able(rewritten, decision_core.inventory(cluster)) or ()) == count
    return count


def words(decision: Decision) -> dict[str, str]:
    """What the pod says, with the verb for each."""
    assert decision.verdict is not None
    found = {judged.constraint.clause: judged.constraint.verb for judged in decision.verdict.hard}
    return {clause.text: verb for clause, verb in found.items() if clause}


@given(clusters(), requested())
@examples(100)
def test_the_first_line_names_a_smallest_conflict(cluster: Cluster, pod: Json) -> None:
    """The clauses alone leave no node; without any one of them, the others leave some, or all else that it says.

    What the pod may not lack stays with them, and where that alone is too much some of it is named.
    """
    decision, refusal = refused(pod, cluster)
    assume(refusal.fault is Fault.FORBIDDEN)
    event(f"{len(refusal.clauses)} clauses")
    check_conflict(pod, cluster, decision)


def check_conflict(pod: Json, cluster: Cluster, decision: Decision) -> None:
    """The same of one pod that is refused by that decision for what the cluster is."""
    refusal, said = decision.refusal, words(decision)
    assert refusal
    firm = {clause for clause in said if fit(pod, cluster, {clause}) is None}
    rest = said.keys() - firm.union(refusal.clauses)
    assert fit(pod, cluster, rest) == 0
    for clause in refusal.clauses:
        # Without all of it the pod may be refused for something else: a way round exclusive hosts.
        assert clause in firm or fit(pod, cluster, {*rest, clause}) != 0 or fit(pod, cluster, {clause}), clause


@given(clusters(), requested())
@examples(120)
def test_the_counts_of_the_reasons_add_up_to_all_nodes(cluster: Cluster, pod: Json) -> None:
    _, refusal = refused(pod, cluster)
    assume("more reasons" not in refusal.text)
    assert sum(int(count) for count in REASON.findall(refusal.text)) == len(cluster.nodes)


@given(clusters(), requested())
@examples(150)
def test_the_nearest_fix_opens_as_many_nodes_as_it_says(cluster: Cluster, pod: Json) -> None:
    decision, refusal = refused(pod, cluster)
    found = own_fix(pod, decision)
    assume(found)
    assert found is not None
    rewritten, dropped, opened = found
    event(f"{len(dropped)} dropped{' and lowered' if rewritten is not pod else ''}")
    assert fit(rewritten, cluster, dropped) == opened, refusal.text


def own_fix(pod: Json, decision: Decision) -> tuple[Json, tuple[str, ...], int] | None:
    """The pod with requests lowered as the refusal says, what else is to be dropped, and how many nodes that opens.

    Nothing if the refusal names no such fix.
    """
    assert decision.refusal
    found = OPENED.search(decision.refusal.text)
    if found is None:
        return None
    dropped, to = named(TO.sub("", found[1]), words(decision)), TO.search(found[1])
    if to:
        pod, dropped = lowered(pod, to[1]), tuple(one for one in dropped if not one.startswith("requests "))
    return pod, dropped, int(found[2])


def lowered(pod: Json, to: str) -> Json:
    """The pod with requests of these amounts in all: the first container makes them, and no other one."""
    amounts = {}
    for name, said in (each.split(" ") for each in to.split(", ")):
        # The oracle reads no such suffix.
        amounts[name] = str(int(said.removesuffix("Gi")) * 1024) + "Mi" if said.endswith("Gi") else said
    containers = []
    for at, found in enumerate(pod["spec"]["containers"]):
        requests = (found.get("resources") or {}).get("requests") or {}
        left = {name: amount for name, amount in requests.items() if name not in amounts}
        given = {**left, **amounts} if at == 0 else left
        containers.append({**found, "resources": {**(found.get("resources") or {}), "requests": given}})
    return {**pod, "spec": {**pod["spec"], "containers": containers}}


def named(text: str, verbs: Mapping[str, str]) -> tuple[str, ...]:
    """The words that such a text says to drop or to lower."""
    choices = itertools.chain(itertools.combinations(verbs, 1), itertools.permutations(verbs, 2))
    # Requests of which nothing may be left are dropped, not lowered.
    gone = {word: "drop" if word.startswith("requests ") else verb for word, verb in verbs.items()}
    matching = (choice for choice in choices if text in (said(choice, verbs), said(choice, gone)))
    [found] = {frozenset(choice): choice for choice in matching}.values()
    return found


def said(choice: Sequence[str], verbs: Mapping[str, str]) -> str:
    """How a fix names these words."""
    parts = [f"{verbs[word]} {shorten(word, CLAUSE_LIMIT)}" for word in choice]
    if len({verbs[word] for word in choice}) == 1:
        parts[1:] = [part.partition(" ")[2] for part in parts[1:]]
    return " and ".join(parts)


@given(clusters(), requested())
@examples(200)
def test_a_refusal_is_short_plain_and_discreet(cluster: Cluster, pod: Json) -> None:
    decision = decision_core.decided(pod, cluster)
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
    assert printable(decision_core.decided(pod, Cluster()).message)


def printable(text: str) -> bool:
    """Whether the text has at most 1,024 bytes, printable ones and line ends."""
    return len(text) <= 1024 and re.fullmatch(r"[\x20-\x7e\n]*", text) is not None
