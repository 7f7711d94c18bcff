"""The worker: which container of a pod it is, and the limits that CPU binding adds to it (``docs/hardware.md``)."""

from collections.abc import Mapping
from typing import Final

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.kube.containers import Place, called, listed, missing, named, only, resources_at
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.quantity import NANO, format_quantity
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.exclusive_cpus import amounts
from webhook.placement.provision.grants import BINDING, granted
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

_PE: Final = "pe"
"""Name of the container that runs a processing element (Streams instance operator)."""


def worker(spec: PodSpec, annotations: Mapping[str, str]) -> Place | Problem:
    """The place of the worker: the container that the annotation names, else the one called ``pe``, else the only one.

    A problem if the pod has no such container.
    """
    name = annotations.get(keys.CONTAINER)
    place = (named(spec, _PE) or only(spec)) if name is None else named(spec, name)
    if place:
        return place
    if name is not None:
        return Problem(annotation(keys.CONTAINER), missing(name, spec))
    return Problem(annotation(keys.BIND), f"the annotation {keys.CONTAINER} must name the worker: {listed(spec)}")


def bind(spec: PodSpec, place: Place) -> tuple[list[SetResources], list[Problem]]:
    """The requests and limits of cpu and memory that make the worker bound, and what keeps it from being bound.

    The worker must ask for whole cores and for memory, and its limits, where it has any, must equal its requests.
    """
    effects: list[SetResources] = []
    problems: list[Problem] = []
    own, path = resources_at(spec, place), f"{place.path}.resources"
    for resource in (CPU, MEMORY):
        asked, limit = amounts(own, resource)
        if asked <= 0:
            what = "a whole number of cpus" if resource == CPU else "an amount of memory"
            message = f"{called(spec, place)} needs {what} to be bound"
        elif resource == CPU and asked % NANO:
            message = f"{format_quantity(asked)} is not a whole number of cpus in {called(spec, place)}"
        elif resource in (own.limits or {}) and asked != limit:
            both = f"requests {format_quantity(asked)} and limits {format_quantity(limit)} of {resource}"
            message = f"{both} must be equal in {called(spec, place)}"
        else:
            effects.append(SetResources(BINDING.text, place, resource, asked, asked))
            continue
        problems.append(Problem(path, f"{message}: {BINDING}"))
    return effects, problems


def limited(spec: PodSpec, effects: list[SetResources]) -> PodSpec:
    """The pod's spec with these limits."""
    for effect in effects:
        spec = granted(spec, effect)
    return spec
