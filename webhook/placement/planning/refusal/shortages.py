"""Reasons for which nodes cannot take one more pod of a group: the resources of which too little is free.

And what they have too little of for the pods together: devices, or room for amounts of which few fit on a node.
"""

import functools
import operator
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from webhook.placement.constraints.constraint import Reason
from webhook.placement.kube.amounts import PODS, amount, ordered
from webhook.placement.kube.bits import Bits, to_slots, union
from webhook.placement.planning.counted_devices import devices_of
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.planning.search.packing import TooMany, too_many
from webhook.placement.text.clause import Clause


def shortages(group: Group, member: Member, nodes: Bits) -> Iterator[Reason]:
    """The nodes of ``nodes`` without enough free for a pod of the member, each under the first resource that it lacks.

    A resource that no pod of the group requests is passed over.
    """
    needs = requests_of(member.conditions)
    for resource in ordered(needs):
        if resource not in group.resources:
            continue
        short = group.slots[np.flatnonzero(group.free(resource, member) < needs[resource])]
        out = nodes & union(1 << int(slot) for slot in short)
        nodes &= ~out
        if out:
            what = "no place for one more pod"
            if resource != PODS:
                what = f"less than {resource} {amount(resource, needs[resource])} free"
            yield Reason(f"has {what}", f"have {what}", out)


def crowded(group: Group, counts: Sequence[int], clauses: Collection[Clause]) -> Iterator[Reason]:
    """The nodes onto which the amounts of a resource cannot all be packed that so many pods request by these clauses.

    What no clause states, the overhead of a RuntimeClass and containers of an operator, is requested as well.

    What is left on each of them is too little for one more, even if together it is enough.
    """
    chosen = [(member, count) for member, count in zip(group.members, counts, strict=True) if count]
    able = np.isin(group.slots, to_slots(union(member.open() for member, _ in chosen)))
    counting = {*clauses, None}
    needs = [
        requests_of(condition for condition in member.conditions if condition.clause in counting)
        for member, _ in chosen
    ]
    times = np.array([count for _, count in chosen], np.int64)
    for resource in ordered({name: 0 for each in needs for name in each if name in group.resources}):
        amounts = np.array([each.get(resource, 0) for each in needs], np.int64)
        free = np.where(able, np.maximum(group.free(resource), 0), 0)
        proof = too_many(amounts, times, free) if amounts.max() <= free.max(initial=0) else None
        if proof is not None and resource != PODS:
            what = _too_many(proof, resource)
            slots = group.slots[free >= proof.least]
            yield Reason(f"has {what}", f"have {what}", union(1 << int(slot) for slot in slots))
            return


def _too_many(proof: TooMany, resource: str) -> str:
    """The proof in words, after what nodes "have"."""
    pods = f"pods that request {resource} {amount(resource, proof.least)} or more"
    if proof.fit:
        return f"room for only {proof.fit} of {proof.wanted} {pods}"
    there, asked = amount(resource, proof.there), amount(resource, proof.asked)
    alone = "1 leaves" if proof.alone == 1 else f"{proof.alone} leave"
    return f"{resource} {there} free, but {proof.wanted} {pods} take {asked}, as {alone} too little for another one"


def too_few_devices(group: Group, counts: Sequence[int], clauses: Collection[Clause]) -> Iterator[Reason]:
    """The nodes that together have fewer devices than so many pods of each member want, by these clauses.

    If numbers do not tell it, the nodes each of which has devices for any one of them.
    """
    for name, devices in group.counted.items():
        wanted, nodes = 0, 0
        for member, count in zip(group.members, counts, strict=True):
            each = devices_of(condition for condition in member.conditions if condition.clause in clauses).get(name, 0)
            wanted += each * count
            nodes |= member.open() if each and count else 0
        has = int(devices.row[to_slots(nodes)].sum())
        if has < wanted:
            what = f"only {has} of {devices.some(wanted)}"
            yield Reason(f"has {what}", f"have {what} together", nodes)
            return
    wanting = [
        member
        for member, count in zip(group.members, counts, strict=True)
        if count
        and any(condition.clause in clauses and condition.constraint.devices for condition in member.conditions)
    ]
    able = functools.reduce(operator.and_, (member.open() for member in wanting), group.world.everything)
    if len(wanting) > 1 and able:
        what = "not have devices for all of these at the same time"
        yield Reason(f"does {what}", f"do {what}", able)
