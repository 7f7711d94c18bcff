"""What a pod's containers are given: by its hardware requirements, and by CPU binding (``docs/hardware.md``)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.placement_text import annotation
from webhook.placement.inventory.objects import Tally
from webhook.placement.kube.containers import Place, at, called, forgoing, resources_at
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.requests import pod_requests
from webhook.placement.kube.resource_name import CPU
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.exclusive_cpus import amounts, exclusive, flaw
from webhook.placement.provision.grants import Grants, grant
from webhook.placement.provision.resource_rules import broken, completed
from webhook.placement.provision.worker import bind, limited, worker
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, counted, quote

_SWITCH: Final = {"true": True, "false": False}

_EVERY: Final = "kubelets give cores away only if every container has cpu and memory limits equal to its requests"


class Provision(Struct, frozen=True, gc=False):
    """A pod's ``spec`` as its containers will be, and how it gets there.

    ``labels`` are requirements of its node, ``grants`` the amounts that its requirements give to containers,
    ``binding`` those that CPU binding adds, ``wanted`` those that it gets only where there is some, heaviest first.
    ``own`` is what the pod requests by itself, if it is given something: milli-units of cpu, whole units of all else.
    Pod-level resources of the spec are complete where something is required.
    ``overruled`` are the resources of which a container itself asks for more than its requirements do. ``optional``
    tells whether any requirement is not mandatory.
    """

    spec: PodSpec
    labels: tuple[Hardware, ...] = ()
    grants: tuple[SetResources, ...] = ()
    binding: tuple[SetResources, ...] = ()
    wanted: tuple[SetResources, ...] = ()
    cpu_bound: bool = False
    own: Tally = {}
    overruled: frozenset[str] = frozenset()
    optional: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


BARE: Final = Provision(PodSpec())
"""The pod says nothing about what its containers are given; its spec is as it is."""


def provide(
    spec: PodSpec, annotations: Mapping[str, str], hardware: Iterable[Hardware], gone: Collection[Hardware] = ()
) -> Provision:
    """Give the containers what is required for them; what cannot be given is a problem.

    ``gone`` are requirements that count as dropped, with what containers ask for beyond them.
    """
    required = tuple(found for found in hardware if found not in gone)
    spec = _without(spec, annotations, gone) if gone else spec
    text = annotations.get(keys.BIND, "false")
    bound = _SWITCH.get(text, False)
    problems = [] if text in _SWITCH else [Problem(annotation(keys.BIND), f"{quote(text)} is neither true nor false")]
    labels, contradictions = _labels(spec, required)
    spec = completed(spec) if required else spec
    place = worker(spec, annotations)
    grants = Grants(spec, required, None if isinstance(place, Problem) else place, bound=bound)
    firm = [grant for grant in grants.given if grant.firm]
    problems += [*contradictions, *grants.problems, *broken(grants.spec, firm)]
    binding: list[SetResources] = []
    if isinstance(place, Problem):
        problems += [place] if bound or keys.CONTAINER in annotations else []
    elif bound:
        binding, unsuited = bind(grants.spec, place)
        problems += unsuited
    found = limited(grants.spec, binding)
    why = flaw(found) if not problems and (bound or grants.given) else ""
    if why and bound:
        problems.append(Problem(annotation(keys.BIND), f"{why}; {_EVERY}"))
    shared = [f"{text}: {why}" for text in _shared(found, grants.given)] if why else []
    return Provision(
        found,
        labels=labels,
        grants=tuple(grants.given),
        binding=tuple(binding),
        wanted=tuple(grants.wanted),
        cpu_bound=bound,
        own=pod_requests(spec)[0] if grants.given else {},
        overruled=frozenset(given.resource for given in grants.given if _more(spec, given)),
        optional=any(found.allocatable and not found.mandatory for found in required),
        problems=tuple(problems),
        warnings=(*grants.warnings, *shared),
    )


def _without(spec: PodSpec, annotations: Mapping[str, str], hardware: Iterable[Hardware]) -> PodSpec:
    """The pod without what its containers ask for beyond these requirements."""
    place = worker(spec, annotations)
    for found in hardware:
        given = grant(found, spec, place if isinstance(place, Place) else None) if found.allocatable else None
        if given and _more(spec, given):
            spec = forgoing(spec, given.place, given.resource)
    return spec


def _more(spec: PodSpec, given: SetResources) -> bool:
    """Whether the container asks for more of the resource than it is given."""
    return amounts(resources_at(spec, given.place), given.resource)[0] > given.requests


def _shared(spec: PodSpec, given: Iterable[SetResources]) -> Iterator[str]:
    """The cores that requirements mean for one container alone, in words: the pod must be right for it."""
    for place in dict.fromkeys(found.place for found in given if found.resource == CPU):
        if cores := exclusive(at(spec, place)):
            yield f"the {counted(cores, 'cpu')} of {called(spec, place)} {'is' if cores == 1 else 'are'} not exclusive"


def _labels(spec: PodSpec, hardware: Iterable[Hardware]) -> tuple[tuple[Hardware, ...], list[Problem]]:
    """Requirements of the node, each once; neither they nor the pod's own selector may contradict one another."""
    labels: list[Hardware] = []
    problems: list[Problem] = []
    firm: dict[str, Hardware] = {}
    for found in hardware:
        if found.allocatable:
            continue
        own = (spec.node_selector or {}).get(found.name)
        first = firm.setdefault(found.name, found) if found.mandatory else found
        if first.value != found.value:
            message = f"{found.clause} and {first.clause} ({first.field}) cannot both hold"
            problems.append(Problem(found.field, message))
        elif found.mandatory and own is not None and own != found.value:
            message = f"is {quote(own)}, but {found.clause} ({found.field}) needs another value"
            problems.append(Problem(f"spec.nodeSelector[{found.name}]", message))
        elif first is found:
            labels.append(found)
    return tuple(labels), problems
