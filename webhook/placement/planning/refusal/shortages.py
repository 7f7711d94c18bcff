"""Why nodes are out for one more pod of a group: the resources that they have too little of free."""

from collections.abc import Iterator

import numpy as np

from webhook.placement.constraints.constraint import Reason
from webhook.placement.kube.amounts import PODS, amount, ordered
from webhook.placement.kube.bits import Bits, union
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member, requests_of


def shortages(group: Group, member: Member, left: Bits) -> Iterator[Reason]:
    """The nodes of ``left`` without enough free for a pod of the member, each under the first resource that it lacks.

    A resource that no pod of the group requests is passed over.
    """
    needs = requests_of(member.conditions)
    for resource in ordered(needs):
        if resource not in group.resources:
            continue
        short = group.slots[np.flatnonzero(group.free(resource, member) < needs[resource])]
        out = left & union(1 << int(slot) for slot in short)
        left &= ~out
        if out:
            what = "no place for one more pod"
            if resource != PODS:
                what = f"less than {resource} {amount(resource, needs[resource])} free"
            yield Reason(f"has {what}", f"have {what}", out)
