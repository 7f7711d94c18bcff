"""The amounts of containers that kubelets align with NUMA zones: exclusive cores, memory, devices of device plugins.

Source: ``podGuaranteedCPUs`` of the kubelet's CPU manager, and the same in its memory manager and device manager.
"""

import enum
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from webhook.placement.kube.resource_name import HUGE_PAGES, MEMORY
from webhook.placement.numa.topology import Amounts


class Life(enum.Enum):
    """When a container runs: before the others and to its end, beside all others, or as one of them."""

    BEFORE = "init container"
    BESIDE = "sidecar"
    MAIN = "container"


class ContainerNeeds(Struct, frozen=True, gc=False):
    """What is aligned for a container, in nano-units by resource."""

    name: str
    life: Life
    amounts: Amounts


NumaNeeds = tuple[ContainerNeeds, ...]
"""The containers of a pod for which anything is aligned, init containers first."""


def together(needs: Iterable[ContainerNeeds]) -> dict[str, int]:
    """What is aligned for all containers of the pod as a whole."""
    beside: Counter[str] = Counter()
    before: Counter[str] = Counter()
    main: Counter[str] = Counter()
    for one in needs:
        for name, amount in one.amounts:
            if one.life is Life.BESIDE:
                beside[name] += amount
            elif one.life is Life.MAIN:
                main[name] += amount
            else:
                before[name] = max(before[name], beside[name] + amount)
    return dict((main + beside) | before)


def is_memory(resource: str) -> bool:
    """Whether the memory manager aligns the resource."""
    return resource == MEMORY or resource.startswith(HUGE_PAGES)
