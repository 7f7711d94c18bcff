"""Objects that say of which pods others are, such as training runtimes: of a snapshot, manifests, or a cluster."""

from collections.abc import Iterable, Mapping
from typing import Final

from webhook.admission.unstructured import Unstructured, group_and_kind
from webhook.app.application_kinds import application_kinds
from webhook.app.cluster_source import configuration_of
from webhook.placement.kinds.karta import KIND, PATH, VERSION, kinds_described
from webhook.placement.kinds.kind import Kinds, OperatorKind
from webhook.placement.text.keys import API_GROUP
from webhook.placementreview.references import Key, reference_in, referred_to
from webhook.settings import Settings

DEFINITIONS: Final = 100
"""Definitions of kinds that are read, the first by their names."""


def referenced_kinds() -> Mapping[tuple[str, str], bool]:
    """The kinds of such objects by apiVersion and kind, and whether they have namespaces."""
    return {**referred_to(application_kinds()), (VERSION, KIND): False}


def kinds_with(objects: Mapping[Key, Unstructured]) -> Kinds:
    """All kinds: those that there are files of, and those that a cluster with these objects describes itself."""
    definitions = {name: one for (version, kind, _, name), one in objects.items() if (version, kind) == (VERSION, KIND)}
    named = dict(sorted(definitions.items())[:DEFINITIONS])
    described: dict[tuple[str, str], OperatorKind] = {}
    for kind in kinds_described(named):
        described.setdefault(kind.key, kind)
    return {**described, **application_kinds()}


async def read_references(settings: Settings, documents: Iterable[Unstructured]) -> dict[Key, Unstructured]:
    """The objects of the API server to which these refer, as far as they can be read."""
    kinds = application_kinds()
    documents = list(documents)
    wanted = {one.key: one for one in (reference_in(document, kinds) for document in documents) if one}
    unknown = any(map(_may_be_described, documents))
    if not wanted and not unknown:
        return {}
    # As in cluster_source: the HTTP client takes long to import, and a snapshot does without.
    from kubeapi.client.connection import Connection  # noqa: PLC0415
    from kubeapi.client.object_client import ObjectClient  # noqa: PLC0415
    from webhook.cluster.queries.lookups.referenced_objects import ReferencedObjects  # noqa: PLC0415

    async with Connection(configuration_of(settings)) as connection:
        objects = ReferencedObjects(ObjectClient(connection))
        objects_by_key = {key: await objects.find(reference) for key, reference in wanted.items()}
        described = await objects.all_named(PATH) if unknown else {}
    definitions = {(VERSION, KIND, "", name): one for name, one in described.items()}
    return {**definitions, **{key: one for key, one in objects_by_key.items() if one is not None}}


def _may_be_described(document: Unstructured) -> bool:
    """Whether the object is of a kind that neither Kubernetes nor this product has, nor is there a file of it."""
    group, kind = group_and_kind(document)
    foreign = "." in group and not group.endswith((".k8s.io", API_GROUP))
    return foreign and (group, kind) not in application_kinds()
