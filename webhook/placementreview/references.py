"""References of manifests to objects that say of which pods they are, such as training runtimes."""

from collections.abc import Mapping
from typing import TypeAlias

from webhook.admission.unstructured import Unstructured, group_and_kind, mapping
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.placement.kinds.kind import Kinds
from webhook.placement.kinds.references import ObjectReference, reference_of

Key: TypeAlias = tuple[str, str, str, str]
"""apiVersion, kind, namespace (empty for a kind that has none) and name."""


def in_namespaces(
    objects: Mapping[Key, Unstructured], spaced: Mapping[tuple[str, str], bool]
) -> dict[Key, Unstructured]:
    """The objects by the namespaces that they belong to; one that states none is of the default, as for kubectl.

    ``spaced`` tells by apiVersion and kind whether objects have namespaces.
    """
    return {
        (version, kind, (namespace or NAMESPACE) if spaced[version, kind] else "", name): one
        for (version, kind, namespace, name), one in objects.items()
    }


def referred_to(kinds: Kinds) -> dict[tuple[str, str], bool]:
    """The kinds of objects that others refer to, by apiVersion and kind, and whether they have namespaces."""
    stated = (kind.reference for kind in kinds.values() if kind.reference)
    return {(f"{one.group}/{one.version}", one.kind): one.namespaced for each in stated for one in each.kinds}


def reference_in(document: Unstructured, kinds: Kinds) -> ObjectReference | None:
    """The reference that the object has; ``None`` if it is of no such kind, or refers to no object."""
    kind = kinds.get(group_and_kind(document))
    namespace = str(mapping(document, "metadata").get("namespace") or NAMESPACE)
    return None if kind is None else reference_of(kind, document, namespace)
