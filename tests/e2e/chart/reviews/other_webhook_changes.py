"""Changes that other webhooks make to pods, and what the pods hold afterwards."""

from typing import Any, Final

from tests.e2e.chart.reviews.second_webhook import Change
from tests.e2e.client.api import Object
from webhook.placement.text import keys

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_OURS: Final = "streams.ibm.com/"


def adding(pod: Object, _times: int) -> None:
    """A sidecar and a label, as a service mesh brings them."""
    containers = pod["spec"]["containers"]
    if len(containers) == 1:
        containers.append({"name": "sidecar", "image": "example.invalid/sidecar"})
    pod["metadata"].setdefault("labels", {})["example.com/mesh"] = "on"


def taking_node_affinity(pod: Object, _times: int) -> None:
    """The pod's own goes, too."""
    pod["spec"].get("affinity", {}).pop("nodeAffinity", None)


def taking_labels(pod: Object, _times: int) -> None:
    """Those of tokens."""
    labels = pod["metadata"].get("labels", {})
    pod["metadata"]["labels"] = {key: labels[key] for key in labels if "hostexlocation." not in key}


def taking_tolerations(pod: Object, _times: int) -> None:
    """All of them."""
    pod["spec"]["tolerations"] = []


def once(change: Change) -> Change:
    """Only when first asked about a pod."""
    return lambda pod, times: change(pod, times) if times == 1 else None


def sorting(pod: Object, _times: int) -> None:
    """Lists that mean the same in any order."""
    pod["spec"]["tolerations"].sort(key=_key)
    for term in node_terms(pod):
        term["matchExpressions"].sort(key=_key)
    for kind in ("podAffinity", "podAntiAffinity"):
        pod["spec"].get("affinity", {}).get(kind, {}).get(_REQUIRED, []).reverse()


def node_terms(pod: Object) -> list[Any]:
    """The alternatives of its required node affinity."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    return list(affinity.get(_REQUIRED, {}).get("nodeSelectorTerms", ()))


def neighbours(pod: Object) -> list[Any]:
    """Terms about pods that it must be near to, or away from."""
    affinity = pod["spec"].get("affinity", {})
    return [term for kind in ("podAffinity", "podAntiAffinity") for term in affinity.get(kind, {}).get(_REQUIRED, ())]


def marks(pod: Object) -> dict[str, str]:
    """Annotations and labels of ours, but for the checksum."""
    both = {**pod["metadata"].get("annotations", {}), **pod["metadata"].get("labels", {})}
    return {key: value for key, value in both.items() if key.startswith(_OURS) and key != keys.SEAL}


def sayings(pod: Object) -> Object:
    """Everything about its place, without the order that does not matter."""
    needs = [sorted(map(_key, term["matchExpressions"])) for term in node_terms(pod)]
    tolerations = sorted(map(str, pod["spec"].get("tolerations", ())))
    near = sorted(map(str, neighbours(pod)))
    return {"nodes": needs, "neighbours": near, "tolerations": tolerations, "marks": marks(pod)}


def _key(one: Object) -> str:
    return str(one.get("key", ""))
