"""A patch, applied by another implementation of JSON Patch, makes the pod say what was asked and keeps all it said."""

import copy
import json
from typing import Any

import jsonpatch
from hypothesis import assume, event, given
from hypothesis import strategies as st

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, Json, digest
from tests.placement.properties.generated_pods import PREFERRED, REQUIRED, requested
from tests.placement.properties.oracle.expected_pod import Intended
from tests.placement.properties.oracle.node_check import MEMBERSHIP
from tests.placement.properties.oracle.request import PREFIX
from tests.placement.properties.oracle.selectors import affinity_holds
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import LABELS, NODES, clusters
from webhook.admission.patch import encode, operations
from webhook.placement.text import keys


def patch_of(pod: Json, cluster: Cluster) -> list[Json]:
    """The patch of an admitted pod, as the API server reads it."""
    additions = decision_core.decided(pod, cluster).additions
    assume(additions)
    assert additions is not None
    steps: list[Json] = json.loads(encode(operations(decision_core.read(pod), additions)))
    return steps


def patched(pod: Json, cluster: Cluster) -> Json:
    result: Json = jsonpatch.apply_patch(pod, patch_of(pod, cluster))
    return result


def within(found: Json, *path: str) -> Any:
    """The value at the path, or nothing."""
    for key in path:
        found = (found or {}).get(key) or {}
    return found


@given(clusters(), requested())
@examples(125)
def test_whatever_the_pod_said_it_still_says(cluster: Cluster, pod: Json) -> None:
    """Terms that are empty, and so match no node, are all that goes, and amounts that its hardware overrules."""
    said = copy.deepcopy(pod)
    required = decision_core.oracle(pod, cluster).asked.equipment.given
    for container in said["spec"]["containers"]:
        requests = (container.get("resources") or {}).get("requests") or {}
        for resource in [found for found in requests if (container["name"], found) in required]:
            del requests[resource]
    assert still_says(patched(pod, cluster), said)


def still_says(result: Any, said: Any, key: str = "") -> bool:
    """Whether all that was said is still there, in its place."""
    if isinstance(said, dict) and isinstance(result, dict):
        return all(name in result and still_says(result[name], said[name], name) for name in said)
    if isinstance(said, list) and isinstance(result, list):
        if key == "nodeSelectorTerms":
            said, result = (
                [term for term in terms if term.get("matchExpressions") or term.get("matchFields")]
                for terms in (said, result)
            )
        return len(said) <= len(result) and all(map(still_says, result, said))
    return bool(result == said or said is None)


def at_path(found: Json, path: str) -> Any:
    """The value that a step is about to replace or remove, if there is one; nothing is where a list is appended to."""
    return None if path.endswith("/-") else jsonpatch.JsonPointer(path).resolve(found, None)


@given(clusters(), requested())
@examples(75)
def test_a_patch_adds_to_lists_and_never_replaces_one(cluster: Cluster, pod: Json) -> None:
    steps = patch_of(pod, cluster)
    event(f"{len(steps)} steps")
    for at, step in enumerate(steps):
        there = at_path(jsonpatch.apply_patch(pod, steps[:at]), step["path"])
        if step["op"] == "remove":
            assert not any(there.values())
        elif step["op"] == "replace":
            assert "/resources/" in step["path"]
        else:
            assert not there


@given(clusters(), requested())
@examples(125)
def test_the_pod_gains_exactly_what_its_clauses_stand_for(cluster: Cluster, pod: Json) -> None:
    result, intended = patched(pod, cluster), Intended(decision_core.oracle(pod, cluster), cluster)
    spec = result["spec"]
    labels = within(result, "metadata", "labels")
    seal = {keys.SEAL: labels[keys.SEAL]}
    assert labels == {**within(pod, "metadata", "labels"), **intended.labels(), **seal}
    assert gained(spec.get("tolerations"), pod["spec"].get("tolerations")) == canonical(intended.tolerations())
    assert (spec.get("nodeName") or "") == intended.node_name()
    for kind, (required, preferred) in (("podAffinity", intended.near()), ("podAntiAffinity", intended.away())):
        path = ("spec", "affinity", kind)
        assert gained(within(result, *path, REQUIRED), within(pod, *path, REQUIRED)) == canonical(required)
        assert gained(within(result, *path, PREFERRED), within(pod, *path, PREFERRED)) == canonical(preferred)
    assert {*within(result, "metadata", "annotations")} == {
        *within(pod, "metadata", "annotations"),
        f"{PREFIX}injected",
        *([f"{PREFIX}waits"] if decision_core.decided(pod, cluster).wait else []),
    }
    assert {*result} == {*pod}
    assert {*spec} - {*pod["spec"]} <= {"nodeName", "affinity", "tolerations"}


def gained(after: list[Json] | None, before: list[Json] | None) -> list[str]:
    """What was appended to a list."""
    assert list(after or ())[: len(before or ())] == list(before or ())
    return canonical(list(after or ())[len(before or ()) :])


def canonical(items: list[Json]) -> list[str]:
    """The items in any order, and the expressions in them too."""
    return sorted(json.dumps(_sorted(item), sort_keys=True) for item in items)


def _sorted(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _sorted(value) for key, value in item.items()}
    if isinstance(item, list):
        return sorted((_sorted(value) for value in item), key=str)
    return item


def some_labels(choices: RandomChoices) -> tuple[str, dict[str, str]]:
    """A node's name and labels, those of pools among them."""
    labels = {key: choices.pick(values) for _, key, values in LABELS if choices.chance(5)}
    labels |= {"kubernetes.io/hostname": "h"} if choices.chance(6) else {}
    for at in range(4):
        for spl in "pqr":
            if choices.chance(5):
                labels[MEMBERSHIP + digest(f"team/{spl}-{at}")] = choices.pick("012")
    return choices.pick(NODES[:4]), labels


@given(clusters(), requested(), st.lists(drawn(60, some_labels), min_size=4, max_size=12))
@examples(125)
def test_the_affinity_matches_what_the_pods_own_and_all_clauses_match(
    cluster: Cluster, pod: Json, places: list[tuple[str, dict[str, str]]]
) -> None:
    result, intended = patched(pod, cluster), Intended(decision_core.oracle(pod, cluster), cluster)
    for name, labels in places:
        ours = all(intended.clause_holds(clause, name, labels) for clause in intended.asked.clauses)
        own = affinity_holds(pod["spec"].get("affinity"), name, labels) and intended.mapping_holds(labels)
        own = own and intended.seen(labels)
        assert affinity_holds(result["spec"].get("affinity"), name, labels) == (own and ours), (name, labels)
