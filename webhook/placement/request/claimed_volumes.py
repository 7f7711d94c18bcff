"""The volumes of a pod that only some nodes can use: by their claims, or by the StorageClass that makes them.

See ``docs/volumes.md``. Nothing here refuses a pod: what is not known is a doubt, of which the user is warned.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from webhook.placement.kube.pod import NodeTerm, PodSpec, Volume
from webhook.placement.objects.volumes import UNREAD, Claim, ClaimName, StorageClass, Volumes
from webhook.placement.text.clause import Clause, Source


class ClaimedVolume(Struct, frozen=True, gc=False):
    """A volume of the pod: its node must match one of ``terms``, unless these are ``None``.

    ``clause`` is how messages name it. ``doubt`` says what of it is not judged; empty if all is.
    """

    clause: Clause
    terms: tuple[NodeTerm, ...] | None = None
    doubt: str = ""


def claims_of(spec: PodSpec, namespace: str) -> tuple[ClaimName, ...]:
    """The claims that volumes of the pod name, each once."""
    sources = (volume.persistent_volume_claim for volume in spec.volumes or ())
    return tuple(dict.fromkeys((namespace, source.claim_name) for source in sources if source and source.claim_name))


def has_claims(spec: PodSpec | None) -> bool:
    """Whether the pod has volumes of claims, those among them that are made with the pod."""
    for volume in (spec and spec.volumes) or ():  # of every pod under review: a loop costs a third of any()
        if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
            return True
    return False


def clause_of(volume: Volume) -> Clause | None:
    """The clause of the volume; ``None`` if no claim is behind it."""
    if volume.persistent_volume_claim:
        name: str | None = volume.persistent_volume_claim.claim_name
        return Clause(Source.VOLUME, (("claim", name),), f"PersistentVolumeClaim {name}")
    if not volume.ephemeral:
        return None
    name = volume.ephemeral.storage_class
    which = "the default StorageClass" if name is None else f"StorageClass {name}"
    return Clause(Source.VOLUME, (("class", name),), f"volume of {which}")


def claimed_volumes(spec: PodSpec, namespace: str, known: Volumes) -> tuple[ClaimedVolume, ...]:
    """The volumes of the pod that depend on its node, or may do so; each clause once."""
    by_clause = {clause: volume for volume in spec.volumes or () if (clause := clause_of(volume))}
    return tuple(_judged(clause, volume, namespace, known) for clause, volume in by_clause.items())


def doubts(volumes: Iterable[ClaimedVolume]) -> Iterator[str]:
    """The warnings about what is not judged."""
    return (f"{volume.clause}: {volume.doubt}" for volume in volumes if volume.doubt)


def _judged(clause: Clause, volume: Volume, namespace: str, known: Volumes) -> ClaimedVolume:
    """What is known of the nodes that can use the volume."""
    if volume.persistent_volume_claim is None:
        name = volume.ephemeral.storage_class if volume.ephemeral else None
        return of_class(clause, known.class_named(name))
    claim = known.claim((namespace, volume.persistent_volume_claim.claim_name))
    if claim is UNREAD:
        return ClaimedVolume(clause, doubt="the nodes that can use it are unknown; the pod waits for one of them")
    if claim is None:
        return ClaimedVolume(clause, doubt="this claim does not exist; the pod waits for it")
    return of_claim(clause, claim, known)


def of_claim(clause: Clause, claim: Claim, known: Volumes) -> ClaimedVolume:
    """The nodes of the claim's volume, or those on which its class makes one."""
    if not claim.volume:
        return of_class(clause, known.class_named(claim.storage_class))
    volume = known.volume(claim.volume)
    if volume is None:
        return ClaimedVolume(clause, doubt="it is bound to an unknown volume; the pod waits for its node")
    return ClaimedVolume(clause, volume.terms)


def of_class(clause: Clause, storage_class: StorageClass | None) -> ClaimedVolume:
    """The nodes on which the class makes a volume once the pod has a node."""
    if storage_class is None:
        return ClaimedVolume(clause, doubt="it is not bound and its class is unknown; the pod waits until it is bound")
    if not storage_class.waits:
        return ClaimedVolume(
            clause, doubt="it is not bound yet: its node is chosen independently of the pod, which waits"
        )
    if storage_class.by_hand:
        doubt = "it is not bound yet; which nodes have a volume for it is not judged, and the pod waits for one"
        return ClaimedVolume(clause, doubt=doubt)
    return ClaimedVolume(clause, storage_class.terms)
