"""The pods that a workload makes from one template: their labels, and whether a label selector matches all of them.

Some labels of such pods are not in the template, because the workload's controller adds them to the pods.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.kube.owner import HASH
from webhook.placement.kube.pod import LabelSelector, OwnerReference, PodTerm, Requirement
from webhook.placement.kube.selection.selector import holds, requirements_of
from webhook.placement.text import keys

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""Label of every namespace, with its name as the value (Kubernetes, well-known labels)."""

_JOB: Final = frozenset(
    {"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"}
)
SHARED: Final[Mapping[str, frozenset[str]]] = {
    "Deployment": frozenset({HASH}),
    "StatefulSet": frozenset({"controller-revision-hash"}),
    "Job": _JOB,
    "CronJob": _JOB,
}
"""Labels that a workload's controller adds with one value for all pods of a revision, by kind of workload
(Kubernetes, well-known labels)."""

_INDEX: Final = frozenset({"batch.kubernetes.io/job-completion-index"})
SINGLE: Final[Mapping[str, frozenset[str]]] = {
    "StatefulSet": frozenset({"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"}),
    "Job": _INDEX,
    "CronJob": _INDEX,
}
"""Labels that a workload's controller adds with a different value to each pod, by kind of workload."""

_ALWAYS: Final = {**SHARED, "StatefulSet": SHARED["StatefulSet"] | SINGLE["StatefulSet"]}
"""Labels that every pod has, by kind of workload. Only the pods of Indexed Jobs have an index."""

_VARIABLE: Final = (keys.COLOCATION, keys.ISOLATION)
"""Prefixes of labels that the webhook adds, depending on the state of the cluster at the pod's creation."""

_PRESENCE: Final = frozenset({"Exists", "DoesNotExist"})
"""Operators for which the value of a label does not matter."""

_NONE: Final = frozenset[str]()


class TemplatePods(Struct, frozen=True, gc=False):
    """The pods of one template: ``labels`` are those of the template, ``kind`` that of the workload, empty if none."""

    labels: Mapping[str, str]
    kind: str = ""

    @property
    def shared(self) -> frozenset[str]:
        """Keys of labels that the controller adds with one value to all pods of a revision."""
        return SHARED.get(self.kind, _NONE) - self.labels.keys()

    @property
    def single(self) -> frozenset[str]:
        """Keys of labels that the controller adds with another value to each pod."""
        return SINGLE.get(self.kind, _NONE) - self.labels.keys()

    def match(
        self, selector: LabelSelector | None, same: Iterable[str] | None = None, other: Iterable[str] | None = None
    ) -> bool | None:
        """Whether the selector of one of the pods matches the others; ``None`` if that is not known yet.

        ``same`` are the ``matchLabelKeys`` of the selector, ``other`` its ``mismatchLabelKeys``. As for the API server,
        an absent selector matches no pod, and a key without a label on the pod adds nothing. ``other`` keys of labels
        whose value differs from pod to pod exclude none of the others, whether or not the pods have the labels.
        """
        if selector is None:
            return False
        answers = [self._holds(need) for need in requirements_of(selector)]
        answers += [None for key in same or () if key in self.single]
        answers += [False for key in other or () if self._known(key) and key not in self.single]
        return False if False in answers else None if None in answers else True

    def same(self, same: Iterable[str] | None) -> Iterator[Requirement]:
        """The requirements that ``matchLabelKeys`` add to a selector, for labels in the template."""
        return (Requirement(key, "In", (self.labels[key],)) for key in same or () if key in self.labels)

    def revised(self, same: Iterable[str] | None) -> bool:
        """Whether ``matchLabelKeys`` restrict a selector to pods of one revision of one workload."""
        return any(key in self.shared for key in same or ())

    def _known(self, key: str) -> bool:
        return key in self.labels or key in SHARED.get(self.kind, _NONE) or key in SINGLE.get(self.kind, _NONE)

    def _holds(self, need: Requirement) -> bool | None:
        key = need.key
        if key not in self.labels:
            if need.operator in _PRESENCE and key in _ALWAYS.get(self.kind, _NONE):
                return need.operator == "Exists"
            if key in SHARED.get(self.kind, _NONE) or key in SINGLE.get(self.kind, _NONE) or key.startswith(_VARIABLE):
                return None
        return holds(need, self.labels.get(key))


def template_pods_of(labels: Mapping[str, str], references: Iterable[OwnerReference] | None) -> TemplatePods:
    """The pods with these labels; the kind of their workload is that of the controller among the owner references."""
    return TemplatePods(labels, next((reference.kind for reference in references or () if reference.controller), ""))


def applies(term: PodTerm, own: str, namespace: str) -> bool:
    """Whether the term of a pod in the namespace ``own`` surely applies to pods in ``namespace``.

    A term that names no namespace applies to its own only.
    """
    if namespace in (term.namespaces or ()):
        return True
    if term.namespace_selector is None:
        return not term.namespaces and own == namespace
    named = {NAMESPACE_NAME: namespace}
    requirements = requirements_of(term.namespace_selector)
    return all(need.key in named and holds(need, named[need.key]) for need in requirements)
