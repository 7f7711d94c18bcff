"""The amounts of a pod that kubelets align with NUMA zones, read from its containers (``docs/numa.md``).

Cores and memory are aligned for pods of class Guaranteed alone, cores if the container has a whole number of them.
Source: ``guaranteedCPUs`` of the kubelet's CPU manager, ``getContainerRequestedResources`` of its memory manager.
"""

from collections.abc import Iterator

from webhook.placement.kube.containers import NO_RESOURCES
from webhook.placement.kube.pod import Container, PodSpec
from webhook.placement.kube.resource_name import CPU
from webhook.placement.numa.needs import ContainerNeeds, Life, NumaNeeds, is_memory
from webhook.placement.provision.exclusive_cpus import amounts, exclusive, flaw


def needs_of(spec: PodSpec) -> NumaNeeds:
    """What is aligned for the pod; nothing if it has resources as a whole, which kubelets treat in another way."""
    if spec.resources is not None:
        return ()
    guaranteed = not flaw(spec)
    needs = [
        *(_needs(one, Life.BESIDE if one.restart_policy == "Always" else Life.BEFORE, guaranteed=guaranteed)
          for one in spec.init_containers or ()),
        *(_needs(one, Life.MAIN, guaranteed=guaranteed) for one in spec.containers or ()),
    ]  # fmt: skip
    return tuple(one for one in needs if one.amounts)


def _needs(container: Container, life: Life, *, guaranteed: bool) -> ContainerNeeds:
    return ContainerNeeds(container.name, life, tuple(sorted(_amounts(container, guaranteed=guaranteed))))


def _amounts(container: Container, *, guaranteed: bool) -> Iterator[tuple[str, int]]:
    resources = container.resources or NO_RESOURCES
    for name in {*(resources.requests or {}), *(resources.limits or {})}:
        amount, _ = amounts(resources, name)
        aligned = "/" in name  # of a device plugin
        if name == CPU:
            aligned = guaranteed and exclusive(container) > 0
        elif is_memory(name):
            aligned = guaranteed
        if aligned and amount > 0:
            yield name, amount
