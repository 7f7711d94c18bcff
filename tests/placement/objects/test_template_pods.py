"""Pods of one template, and the selectors that match all of them."""

from typing import Any

import msgspec
import pytest

from tests.builders import Json
from webhook.placement.kube.pod import LabelSelector, OwnerReference
from webhook.placement.objects.template_pods import TemplatePods, template_pods_of
from webhook.placement.text import keys

LABELS = {"app": "web", "tier": "front"}
HASH, NAME = "pod-template-hash", "statefulset.kubernetes.io/pod-name"


def need(key: str, operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


MATCHES: dict[str, tuple[bool | None, str, Json | None, dict[str, Any]]] = {
    "no selector matches nobody": (False, "", None, {}),
    "an empty one everybody": (True, "", {}, {}),
    "labels that are theirs": (True, "", {"matchLabels": LABELS}, {}),
    "a label that is another": (False, "", {"matchLabels": {"app": "db"}}, {}),
    "a label that they lack": (False, "", {"matchLabels": {"new": "x"}}, {}),
    "one of several values": (True, "", need("app", "In", "db", "web"), {}),
    "none of several values": (False, "", need("app", "NotIn", "db", "web"), {}),
    "a key that they lack, and other values of it": (True, "", need("new", "NotIn", "x"), {}),
    "a key that is there": (True, "", need("app", "Exists"), {}),
    "a key that must not be there": (False, "", need("app", "DoesNotExist"), {}),
    "an operator that there is not": (False, "", need("app", "Like", "w"), {}),
    "a key of the pod's own": (True, "", {"matchLabels": {"app": "web"}}, {"same": ["tier"]}),
    "a key that nobody has adds nothing": (True, "", {}, {"same": ["new"], "other": ["new"]}),
    "pods of another value only": (False, "", {}, {"other": ["tier"]}),
    "pods of the same revision": (True, "Deployment", {}, {"same": [HASH]}),
    "pods of other revisions only": (False, "Deployment", {}, {"other": [HASH]}),
    "a hash that nobody adds": (True, "ReplicaSet", {}, {"same": [HASH]}),
    "a hash whose value nobody knows": (None, "Deployment", need(HASH, "In", "x"), {}),
    "each by its own name": (None, "StatefulSet", {}, {"same": [NAME]}),
    "all others by name": (True, "StatefulSet", {}, {"other": [NAME]}),
    "all others by index, if they have one": (True, "Job", {}, {"other": ["batch.kubernetes.io/job-completion-index"]}),
    "a hash, whatever its value": (True, "Deployment", need(HASH, "Exists"), {}),
    "no hash": (False, "Deployment", need(HASH, "DoesNotExist"), {}),
    "a name of its own, whatever it is": (True, "StatefulSet", need(NAME, "Exists"), {}),
    "no name of its own": (False, "StatefulSet", need(NAME, "DoesNotExist"), {}),
    "a name of its own that nobody knows": (None, "StatefulSet", need(NAME, "In", "x"), {}),
    "an index, if they have one": (None, "Job", need("batch.kubernetes.io/job-completion-index", "Exists"), {}),
    "a label of the moment": (None, "", need(f"{keys.ISOLATION}X", "DoesNotExist"), {}),
    "what is wrong is wrong, whatever else is unknown": (
        False, "Deployment", {"matchLabels": {HASH: "x", "app": "db"}}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "kind", "selector", "more"), MATCHES.values(), ids=MATCHES)
def test_a_selector_matches_pods_of_the_same_template(
    expected: bool | None,  # noqa: FBT001 -- the outcome
    kind: str,
    selector: Json | None,
    more: dict[str, Any],
) -> None:
    read = None if selector is None else msgspec.convert(selector, LabelSelector)
    assert TemplatePods(LABELS, kind).match(read, **more) is expected


def test_a_label_that_the_template_has_is_not_waited_for() -> None:
    peers = TemplatePods({HASH: "mine"}, "Deployment")
    assert (peers.shared, peers.revised([HASH])) == (frozenset(), False)


def test_the_controller_is_the_one_that_says_so() -> None:
    owners = [OwnerReference(kind="Config"), OwnerReference(kind="StatefulSet", controller=True)]
    assert template_pods_of({}, owners).kind == "StatefulSet"
    assert template_pods_of({}, None).kind == ""
