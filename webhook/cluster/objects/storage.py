"""Claims, volumes and storage classes of the API server, translated into the values of ``placement``."""

from typing import Final

from msgspec import Struct, field

from webhook.cluster.objects import wire
from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError, Notes, metadata_of
from webhook.placement.kube.pod import NodeSelector, NodeTerm, Requirement
from webhook.placement.objects.volumes import Claim, PersistentVolume, StorageClass

_WAITS: Final = "WaitForFirstConsumer"
_BY_HAND: Final = "kubernetes.io/no-provisioner"
"""Provisioner of classes whose volumes people make (Kubernetes, local volumes)."""


class _ClaimSpec(Struct, frozen=True, gc=False, rename="camel"):
    volume_name: str | None = None
    storage_class_name: str | None = None


class ClaimObject(Struct, frozen=True, gc=False):
    """``v1 PersistentVolumeClaim``."""

    metadata: wire.ObjectMetadata | None = None
    spec: _ClaimSpec = _ClaimSpec()


class _VolumeAffinity(Struct, frozen=True, gc=False):
    required: NodeSelector | None = None


class _VolumeSpec(Struct, frozen=True, gc=False, rename="camel"):
    node_affinity: _VolumeAffinity | None = None


class VolumeObject(Struct, frozen=True, gc=False):
    """``v1 PersistentVolume``."""

    metadata: wire.ObjectMetadata | None = None
    spec: _VolumeSpec = _VolumeSpec()


class _Topology(Struct, frozen=True, gc=False):
    key: str
    values: tuple[str, ...] | None = None


class _TopologyTerm(Struct, frozen=True, gc=False, rename="camel"):
    match_label_expressions: tuple[_Topology, ...] | None = None


class _DefaultMark(Struct, frozen=True, gc=False):
    default: str | None = field(name="storageclass.kubernetes.io/is-default-class", default=None)


class _ClassMetadata(Struct, frozen=True, gc=False):
    name: str | None = None
    annotations: _DefaultMark | None = None


class ClassObject(Struct, frozen=True, gc=False, rename="camel"):
    """``storage.k8s.io/v1 StorageClass``, whose fields have no spec around them."""

    metadata: _ClassMetadata = _ClassMetadata()
    provisioner: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[_TopologyTerm, ...] | None = None


def read_claim(item: Item) -> tuple[Claim, Notes]:
    """A claim."""
    source = decode(item, ClaimObject)
    metadata, name = metadata_of(source.metadata)
    spec = source.spec
    return Claim(metadata.namespace or NAMESPACE, name, spec.volume_name or "", spec.storage_class_name), []


def read_volume(item: Item) -> tuple[PersistentVolume, Notes]:
    """A volume, with the terms of its required node affinity."""
    source = decode(item, VolumeObject)
    _, name = metadata_of(source.metadata)
    affinity = source.spec.node_affinity
    required = affinity.required if affinity else None
    return PersistentVolume(name, (required.node_selector_terms or ()) if required else None), []


def read_class(item: Item) -> tuple[StorageClass, Notes]:
    """A storage class."""
    source = decode(item, ClassObject)
    name = source.metadata.name
    if not name:
        raise MalformedError("metadata.name: missing")
    marks = source.metadata.annotations
    terms = tuple(map(_term, source.allowed_topologies)) if source.allowed_topologies else None
    return (
        StorageClass(
            name,
            waits=source.volume_binding_mode == _WAITS,
            by_hand=source.provisioner == _BY_HAND,
            terms=terms,
            default=marks is not None and marks.default == "true",
        ),
        [],
    )


def _term(term: _TopologyTerm) -> NodeTerm:
    needs = (
        Requirement(expression.key, "In", expression.values or ()) for expression in term.match_label_expressions or ()
    )
    return NodeTerm(match_expressions=tuple(needs))
