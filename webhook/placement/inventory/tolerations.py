"""Which tolerations cover which taints, and what a taint says about its node.

Source: ``component-helpers/scheduling/corev1/helpers.go`` and ``core/v1/toleration.go`` of Kubernetes.
"""

from collections.abc import Collection, Sequence
from typing import Final

from webhook.placement.inventory.objects import Taint
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.passing_conditions import PASSING
from webhook.placement.kube.pod import Toleration
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

CORDONED: Final = "node.kubernetes.io/unschedulable"
"""Key of the taint of a node that is cordoned."""

CONDITIONS: Final = {CORDONED: ("is cordoned", "are cordoned"), **PASSING}
"""Taints that Kubernetes derives from a node's state, in words, for one node and for several."""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether the toleration covers the taint, as ``ToleratesTaint`` of Kubernetes decides."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return (
        bool(toleration.key) and toleration.operator in (None, "", "Equal") and (toleration.value or "") == taint.value
    )


def in_words(taint: Taint) -> str:
    """The taint as a predicate about its node, such as ``is cordoned``."""
    words = CONDITIONS.get(taint.key)
    return words[0] if words else f"has the taint {taint}"


def foreign_tolerations(tolerations: Sequence[Toleration], own: Collection[Name]) -> list[Problem]:
    """A problem for each toleration of the exclusive taint of a pool that is not in ``own``."""
    if keys.EXCLUSIVE not in [toleration.key for toleration in tolerations]:
        return []
    values = {keys.exclusive(*name) for name in own}
    message = f"only the webhook tolerates {keys.EXCLUSIVE}: name the exclusive HostPool with host(...) instead"
    return [
        Problem(f"spec.tolerations[{at}]", message)
        for at, toleration in enumerate(tolerations)
        if toleration.key == keys.EXCLUSIVE and (toleration.operator == "Exists" or toleration.value not in values)
    ]
