"""Pods of one template, and whether a selector over labels matches all of them alike.

Some labels of theirs are not in the template: the workload's controller adds them when it makes the pods.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.kube.owner import HASH
from webhook.placement.kube.pod import LabelSelector, OwnerReference, Requirement
from webhook.placement.kube.selector import holds, requirements_of
from webhook.placement.text import keys

_JOB: Final = frozenset(
    {"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"}
)
SHARED: Final[Mapping[str, frozenset[str]]] = {
    "Deployment": frozenset({HASH}),
    "StatefulSet": frozenset({"controller-revision-hash"}),
    "Job": _JOB,
    "CronJob": _JOB,
}
"""Labels that the controller of a kind gives all pods of one revision alike (Kubernetes, well-known labels)."""

_INDEX: Final = frozenset({"batch.kubernetes.io/job-completion-index"})
SINGLE: Final[Mapping[str, frozenset[str]]] = {
    "StatefulSet": frozenset({"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"}),
    "Job": _INDEX,
    "CronJob": _INDEX,
}
"""Labels that it gives each pod with another value."""

_VARIABLE: Final = (keys.COLOCATION, keys.ISOLATION)
"""Labels of ours that depend on the cluster at the moment when the pod is made."""

_NONE: Final = frozenset[str]()


class TemplatePods(Struct, frozen=True, gc=False):
    """Pods with these ``labels``, made by a controller of the ``kind``, if by any."""

    labels: Mapping[str, str]
    kind: str = ""

    @property
    def shared(self) -> frozenset[str]:
        """Keys of labels that all of them are given alike."""
        return SHARED.get(self.kind, _NONE) - self.labels.keys()

    @property
    def single(self) -> frozenset[str]:
        """Keys of labels that each of them is given for itself."""
        return SINGLE.get(self.kind, _NONE) - self.labels.keys()

    def match(
        self, selector: LabelSelector | None, same: Iterable[str] | None = None, other: Iterable[str] | None = None
    ) -> bool | None:
        """Whether the selector of one of them matches the others; ``None`` if that is not known before they are made.

        ``same`` are its ``matchLabelKeys``, ``other`` its ``mismatchLabelKeys``. As for the API server, a selector that
        is absent matches nobody, and a key that the pod has no label of adds nothing.
        """
        if selector is None:
            return False
        found = [self._holds(need) for need in requirements_of(selector)]
        found += [None for key in same or () if key in self.single]
        found += [None if key in self.single else False for key in other or () if self._known(key)]
        return False if False in found else None if None in found else True

    def same(self, same: Iterable[str] | None) -> Iterator[Requirement]:
        """What ``matchLabelKeys`` add to a selector, of labels that are there already."""
        return (Requirement(key, "In", (self.labels[key],)) for key in same or () if key in self.labels)

    def revised(self, same: Iterable[str] | None) -> bool:
        """Whether ``matchLabelKeys`` bind a selector to pods of one revision of one workload."""
        return any(key in self.shared for key in same or ())

    def _known(self, key: str) -> bool:
        return key in self.labels or key in self.shared or key in self.single

    def _holds(self, need: Requirement) -> bool | None:
        if need.key not in self.labels and (self._known(need.key) or need.key.startswith(_VARIABLE)):
            return None
        return holds(need, self.labels.get(need.key))


def template_pods_of(labels: Mapping[str, str], references: Iterable[OwnerReference] | None) -> TemplatePods:
    """Pods with these labels, made by whoever controls them."""
    return TemplatePods(labels, next((found.kind for found in references or () if found.controller), ""))
