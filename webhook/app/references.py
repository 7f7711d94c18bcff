"""Objects that say of which pods others are, such as training runtimes: of a snapshot, manifests, or a cluster."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from webhook.admission.unstructured import Unstructured, mapping
from webhook.app.application_kinds import application_kinds
from webhook.app.cluster_source import configuration_of
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.placement.kinds.kind import Kinds
from webhook.placement.kinds.references import ObjectReference, reference_of
from webhook.settings import Settings

Key: TypeAlias = tuple[str, str, str, str]
"""apiVersion, kind, namespace (empty for a kind that has none) and name."""


def referenced_kinds() -> Mapping[tuple[str, str], bool]:
    """The kinds of such objects by apiVersion and kind, and whether they have namespaces."""
    stated = [kind.reference for kind in application_kinds().values() if kind.reference]
    return {(f"{one.group}/{one.version}", one.kind): one.namespaced for each in stated for one in each.kinds}


def in_namespaces(found: Mapping[Key, Unstructured]) -> dict[Key, Unstructured]:
    """The objects by the namespaces that they belong to; one that states none is of the default, as for kubectl."""
    spaced = referenced_kinds()
    return {
        (version, kind, (namespace or NAMESPACE) if spaced[version, kind] else "", name): one
        for (version, kind, namespace, name), one in found.items()
    }


def reference_in(document: Unstructured, kinds: Kinds) -> ObjectReference | None:
    """The reference that the object has; ``None`` if it is of no such kind, or refers to no object."""
    group = str(document.get("apiVersion")).rpartition("/")[0]
    kind = kinds.get((group, str(document.get("kind"))))
    namespace = str(mapping(document, "metadata").get("namespace") or NAMESPACE)
    return None if kind is None else reference_of(kind, document, namespace)


async def read_references(settings: Settings, documents: Iterable[Unstructured]) -> dict[Key, Unstructured]:
    """The objects of the API server to which these refer, as far as they can be read."""
    kinds = application_kinds()
    wanted = {one.key: one for one in (reference_in(document, kinds) for document in documents) if one}
    if not wanted:
        return {}
    # As in cluster_source: the HTTP client takes long to import, and a snapshot does without.
    from kubeapi.client.connection import Connection  # noqa: PLC0415
    from kubeapi.client.object_client import ObjectClient  # noqa: PLC0415
    from webhook.cluster.queries.referenced_objects import ReferencedObjects  # noqa: PLC0415

    async with Connection(configuration_of(settings)) as connection:
        objects = ReferencedObjects(ObjectClient(connection))
        found = {key: await objects.find(reference) for key, reference in wanted.items()}
    return {key: one for key, one in found.items() if one is not None}
