"""Stand-ins: pods as they will be once they are made and bound, which hold the room of a group that was placed."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from webhook.cluster.objects import wire
from webhook.cluster.objects.pods import bound_pod
from webhook.placement.decision.decision import decide
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.text import keys


def stand_ins(uids: str, namespace: str, group: Group, placed: Placed) -> Iterator[PodInfo]:
    """A pod for each one of the group, where it was placed; their uids begin with ``uids``."""
    names = group.world.inventory.nodes.names
    for place, (member, slots) in enumerate(zip(group.members, placed.slots, strict=True)):
        pod, _ = bound_pod(msgspec.convert(_patched(member, namespace, group), wire.PodObject))
        own = requests_of(member.conditions)
        for one in filter(None, [pod]):
            like = replace(one, requests=own, priority=member.priority, demand=None)
            for number, slot in enumerate(slots):
                yield replace(like, uid=f"{uids}/{place}/{number}", node=names[slot])


def _patched(member: Member, namespace: str, group: Group) -> dict[str, Any]:
    """One of the member's pods, with the labels that the webhook adds."""
    document: dict[str, Any] = msgspec.to_builtins(member.pod)
    metadata = document.get("metadata") or {}
    additions = decide(member.pod, namespace, group.world).additions
    labels = {**(metadata.get("labels") or {}), **(additions.labels if additions else {})}
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if key.startswith(keys.PREFIX)}
    patched = {"name": member.names[0], "namespace": namespace, "labels": labels, "annotations": kept}
    return {"metadata": patched, "spec": document.get("spec") or {}}
