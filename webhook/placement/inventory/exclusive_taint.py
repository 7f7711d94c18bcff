"""Tolerations of the taint of exclusive hosts, which only the webhook gives to pods (``docs/hostpool.md``)."""

from collections.abc import Collection, Sequence

from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.pod import Toleration
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem


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
