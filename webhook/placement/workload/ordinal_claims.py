"""The claims of a StatefulSet's pods: each pod has its own, which may be bound to a node already.

The StatefulSet controller makes the claims ``<template>-<set>-<ordinal>`` and keeps them when a pod goes. So the pods
of a set that was there before are tied to the nodes of their volumes, each to its own (``docs/volumes.md``).
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Spread
from webhook.placement.decision.refusal.refusal import Refusal, cannot_hold
from webhook.placement.decision.replica_fit import ClaimTemplates, ReplicaFit
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.pod import ClaimSource, EphemeralClaim, EphemeralClaimSpec, EphemeralSource, Pod, PodSpec
from webhook.placement.kube.pod import Volume as PodVolume
from webhook.placement.kube.selection.selector import matching_any
from webhook.placement.objects.volumes import Claim, ClaimName, Volumes
from webhook.placement.request.claimed_volumes import claimed_volumes
from webhook.placement.request.world import World
from webhook.placement.text.fix import Advice, Drop
from webhook.placement.text.problem import Fault, counted, enumerated
from webhook.placement.text.rule import Rule

MOST: Final = 64
"""Maximum number of pods of a StatefulSet that are examined: as many as claims that are looked up for one review."""

_NAMED: Final = 3
"""Pods that a message names."""


def claims_of_set(templates: ClaimTemplates, namespace: str, count: int) -> tuple[ClaimName, ...]:
    """The claims that the first pods of the set have, or would get."""
    return tuple(
        (namespace, templates.claim(name, at)) for at in range(min(count, MOST)) for name, _ in templates.named
    )


def pods_of_set(pod: Pod, templates: ClaimTemplates, count: int, namespace: str, known: Volumes) -> Sequence[Pod]:
    """The first pods of the set with their claims; one that is not known is of its template's StorageClass."""
    return [
        _with(pod, [_volume(templates, at, volume, namespace, known) for volume in templates.named])
        for at in range(min(count, MOST))
    ]


def _volume(
    templates: ClaimTemplates, at: int, template: tuple[str, str | None], namespace: str, known: Volumes
) -> PodVolume:
    name = templates.claim(template[0], at)
    if isinstance(known.claim((namespace, name)), Claim):
        return PodVolume(persistent_volume_claim=ClaimSource(name))
    spec = EphemeralClaimSpec(template[1])
    return PodVolume(ephemeral=EphemeralSource(EphemeralClaim(spec)))


def _with(pod: Pod, volumes: Sequence[PodVolume]) -> Pod:
    spec = pod.spec or PodSpec()
    return replace(pod, spec=replace(spec, volumes=(*(spec.volumes or ()), *volumes)))


class _Tied(Struct, frozen=True):
    """Pods of the set that all have to run on ``nodes``, by their names."""

    nodes: Bits
    names: tuple[str, ...]


def tied_elsewhere(pods: Sequence[Pod], candidates: Bits, namespace: str, world: World) -> Pod | None:
    """The first pod whose volumes none of the ``candidates`` can use; ``None`` if there is none."""
    return next((pod for pod in pods if not candidates & _nodes(pod, namespace, world)), None)


def refuse_claims(
    fit: ReplicaFit, pods: Sequence[Pod], templates: ClaimTemplates, namespace: str, world: World
) -> Refusal | None:
    """The refusal of a set whose pods cannot all run where their volumes are; ``None`` if they can.

    Each of the pods alone could run.
    """
    nodes = [fit.candidates & _nodes(pod, namespace, world) for pod in pods]
    names = [templates.pod(at) for at in range(len(pods))]
    for tied in _crowds(nodes, names):
        room = _room(fit, tied.nodes)
        if room < len(tied.names):
            return _refusal(fit, tied, room)
    if Spread.TOGETHER in fit.spreads() and not (common := _common(nodes)):
        tied = _Tied(common, tuple(name for name, own in zip(names, nodes, strict=True) if own != fit.candidates))
        return _refusal(fit, tied, 0)
    return None


def _nodes(pod: Pod, namespace: str, world: World) -> Bits:
    """The nodes that can use all volumes of the pod."""
    able = world.everything
    for volume in claimed_volumes(pod.spec or PodSpec(), namespace, world.inventory.volumes):
        able &= world.everything if volume.terms is None else matching_any(world, volume.terms)
    return able


def _common(nodes: Sequence[Bits]) -> Bits:
    common = nodes[0]
    for each in nodes:
        common &= each
    return common


def _crowds(nodes: Sequence[Bits], names: Sequence[str]) -> Iterator[_Tied]:
    """For each set of nodes that some pod is tied to, all pods that are tied to no other nodes; fewest nodes first."""
    for where in sorted(set(nodes), key=lambda each: each.bit_count()):
        inside = tuple(name for name, own in zip(names, nodes, strict=True) if not own & ~where)
        yield _Tied(where, inside)


def _room(fit: ReplicaFit, nodes: Bits) -> int:
    """How many of the pods these nodes have room for."""
    copies = fit.copies()[to_slots(nodes)]
    return int((np.minimum(copies, 1) if Spread.APART in fit.spreads() else copies).sum())


def _refusal(fit: ReplicaFit, tied: _Tied, room: int) -> Refusal:
    """The refusal that names the pods and the clause that their volumes are at odds with."""
    written_down = [judged.constraint for judged in fit.hard if judged.constraint.clause]
    limiting = [constraint for constraint in written_down if constraint.spread in {Spread.APART, Spread.TOGETHER}]
    limiting = limiting or [constraint for constraint in written_down if constraint.requests][:1]
    # One clause is enough for the conflict, but each other one that spreads the pods in this way is in the way as well.
    verbs = {constraint.clause: constraint.verb for constraint in limiting if constraint.clause}
    limiting = limiting[:1]
    where = "no node can use the volumes of all of them"
    if room:
        where = f"the nodes of these volumes have room for {room} of {counted(len(tied.names), 'pod')}"
    said = (f"volumes of {enumerated(tied.names, _NAMED)}", *(str(constraint.clause) for constraint in limiting))
    anew = Advice("delete claims that can be recreated elsewhere")
    fixes = (Drop.of(verbs, verbs), anew) if verbs else (anew,)
    rules = (Rule.VOLUMES, *(constraint.rule for constraint in limiting))
    return Refusal.of(f"{cannot_hold(said)}: {where}.", said, Fault.FORBIDDEN, rules, fixes)
