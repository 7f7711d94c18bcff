"""Resources that hardware requirements and CPU binding give to a pod's containers (``docs/hardware.md``)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.placement_text import annotation
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.containers import Place, at, called, forgoing, resources_at
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.requests import pod_requests
from webhook.placement.kube.resource_name import CPU
from webhook.placement.provision.claims import claims
from webhook.placement.provision.effects import SetResources, UseClaim
from webhook.placement.provision.exclusive_cpus import amounts, exclusive, flaw
from webhook.placement.provision.grants import Grants, grant
from webhook.placement.provision.resource_rules import broken, completed
from webhook.placement.provision.stated_resources import NO_SHARES, Shares, Stated, no_container, shares, states
from webhook.placement.provision.worker import bind, limited, worker
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, counted, quote

_SWITCH: Final = {"true": True, "false": False}
"""Values of the annotation for CPU binding."""

_EVERY: Final = (
    "kubelets assign exclusive cores only if every container has cpu and memory limits equal to its requests"
)


class Provision(Struct, frozen=True, gc=False):
    """What a pod's containers are given, and ``spec``: the pod's spec once its containers have that.

    ``labels`` are the requirements on labels of the node, ``grants`` the amounts that requirements give to containers,
    ``stated`` those of the pod's Job and processing element, or the default of processing elements, ``binding`` the
    limits that CPU binding adds, ``claims`` the ResourceClaims that containers use, ``wanted`` optional amounts that
    the pod gets only where some node has them free, heaviest first. ``cpu_bound`` tells that the pod asks for CPU
    binding. ``own`` is what the pod requests without the grants, empty if there are none: milli-units of cpu, whole
    units of all else. ``overruled`` are the resources of which a container itself asks for more than the requirements
    do. ``optional`` tells whether any requirement for an amount is not mandatory; ``weights`` are those of all
    requirements that are not, by their clauses. Pod-level resources of ``spec`` are complete where something is
    required.
    """

    spec: PodSpec
    labels: tuple[Hardware, ...] = ()
    grants: tuple[SetResources, ...] = ()
    stated: tuple[SetResources, ...] = ()
    binding: tuple[SetResources, ...] = ()
    claims: tuple[UseClaim, ...] = ()
    wanted: tuple[SetResources, ...] = ()
    cpu_bound: bool = False
    own: Tally = {}
    overruled: frozenset[str] = frozenset()
    optional: bool = False
    weights: Mapping[str, int] = {}
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


BARE: Final = Provision(PodSpec())
"""Provision of a pod that says nothing about what its containers are given. Its ``spec`` is not the pod's."""


def provide(
    spec: PodSpec,
    annotations: Mapping[str, str],
    hardware: Iterable[Hardware],
    gone: Collection[Hardware] = (),
    stated: Stated | None = None,
) -> Provision:
    """Give the containers what ``hardware`` requires for them, and what is ``stated``; what cannot be is a problem.

    ``gone`` are requirements that count as dropped, together with what containers ask for beyond them.
    """
    required = tuple(one for one in hardware if one not in gone)
    spec = _without(spec, annotations, gone) if gone else spec
    text = annotations.get(keys.BIND, "false")
    bound = _SWITCH.get(text, False)
    problems = [] if text in _SWITCH else [Problem(annotation(keys.BIND), f"{quote(text)} is neither true nor false")]
    labels, contradictions = _labels(spec, required)
    spec = completed(spec) if required else spec
    place = worker(spec, annotations)
    if stated and isinstance(place, Place):
        required = tuple(one for one in required if not _stated_too(one, stated, spec, place))
    claimed = claims(spec, required, None if isinstance(place, Problem) else place)
    spec = claimed.spec
    given = _given(spec, required, place, annotations, stated, bound=bound)
    problems += [*contradictions, *claimed.problems, *given.problems]
    grants = given.grants.given
    why = flaw(given.spec) if not problems and (bound or grants) else ""
    if why and bound:
        problems.append(Problem(annotation(keys.BIND), f"{why}; {_EVERY}"))
    shared = tuple(_shared(given.spec, grants, why)) if why else ()
    return Provision(
        given.spec, labels, tuple(grants), given.shares.given, given.binding, claimed.given,
        tuple(given.grants.wanted), cpu_bound=bound,
        own=pod_requests(spec)[0] if grants else {},
        overruled=frozenset(one.resource for one in grants if _more(spec, one)),
        optional=any(one.allocatable and not one.mandatory for one in required),
        weights={one.text: one.weight for one in required if not one.mandatory},
        problems=tuple(problems),
        warnings=(*claimed.warnings, *given.grants.warnings, *given.shares.warnings, *shared),
    )  # fmt: skip


def provide_stated(spec: PodSpec, annotations: Mapping[str, str], stated: Stated) -> Provision:
    """Give the worker what is ``stated``, in a pod that asks for neither hardware nor CPU binding."""
    place = stated.place or worker(spec, annotations)
    if isinstance(place, Problem):
        return Provision(spec, problems=_nowhere(stated, spec))
    given = shares(stated, spec, place, (), bound=False)
    problems = (*given.problems, *broken(given.spec, given.given))
    return Provision(given.spec, stated=given.given, problems=problems, warnings=given.warnings)


class GivenAmounts(Struct, frozen=True):
    """The amounts that a pod's containers are given, and ``spec``: the pod's spec once its containers have them.

    ``grants`` are what requirements give, ``shares`` what the worker gets of the stated resources, ``binding`` the
    limits that CPU binding adds. ``problems`` are all that keeps the containers from being given them.
    """

    spec: PodSpec
    grants: Grants
    shares: Shares
    binding: tuple[SetResources, ...]
    problems: tuple[Problem, ...]


def _given(
    spec: PodSpec,
    required: Sequence[Hardware],
    place: Place | Problem,
    annotations: Mapping[str, str],
    stated: Stated | None,
    *,
    bound: bool,
) -> GivenAmounts:
    """The amounts that the containers are given: first those of requirements, then stated ones, then of CPU binding."""
    grants = Grants(spec, required, None if isinstance(place, Problem) else place, bound=bound)
    shares = _shares(stated, grants, place, bound=bound) if stated else NO_SHARES
    filled = shares.spec if shares.given else grants.spec
    binding, unsuited = _binding(filled, place, annotations, bound=bound)
    firm = [grant for grant in grants.given if grant.firm]
    problems = (*grants.problems, *shares.problems, *broken(filled, (*firm, *shares.given)), *unsuited)
    return GivenAmounts(limited(filled, binding), grants, shares, tuple(binding), problems)


def _stated_too(hardware: Hardware, stated: Stated, spec: PodSpec, place: Place) -> bool:
    """Whether an optional requirement is for just the amount that is stated for the container at ``place``.

    The container gets that amount whether or not a node has it free, so nothing is left to be wished for.
    """
    if hardware.mandatory or not hardware.allocatable:
        return False
    given = grant(hardware, spec, place)
    return given is not None and given.place == place and states(stated, given)


def _shares(stated: Stated, grants: Grants, place: Place | Problem, *, bound: bool) -> Shares:
    """What the worker gets of the stated resources; a problem if the pod has no worker."""
    if isinstance(place, Problem):
        return Shares(grants.spec, problems=_nowhere(stated, grants.spec))
    given_resources = {given.resource for given in grants.given if given.place == place}
    return shares(stated, grants.spec, place, given_resources, bound=bound)


def _nowhere(stated: Stated, spec: PodSpec) -> tuple[Problem, ...]:
    """Why nothing can be given to a pod that has no worker; only what is ``firm`` must be given."""
    return (stated.problems or (no_container(stated, spec),)) if stated.firm else ()


def _binding(
    spec: PodSpec, place: Place | Problem, annotations: Mapping[str, str], *, bound: bool
) -> tuple[list[SetResources], list[Problem]]:
    """The limits that CPU binding adds to the worker, and what keeps the worker from being bound.

    Where ``place`` is a problem, the pod has no worker: that matters only if CPU binding is asked for or it names one.
    """
    if isinstance(place, Problem):
        return [], [place] if bound or keys.CONTAINER in annotations else []
    return bind(spec, place) if bound else ([], [])


def _without(spec: PodSpec, annotations: Mapping[str, str], hardware: Iterable[Hardware]) -> PodSpec:
    """The pod's spec without what its containers ask for beyond these requirements."""
    place = worker(spec, annotations)
    for one in hardware:
        given = grant(one, spec, place if isinstance(place, Place) else None) if one.allocatable else None
        if given and _more(spec, given):
            spec = forgoing(spec, given.place, given.resource)
    return spec


def _more(spec: PodSpec, given: SetResources) -> bool:
    """Whether the container itself asks for more of the resource than the requirement gives to it."""
    return amounts(resources_at(spec, given.place), given.resource)[0] > given.requests


def _shared(spec: PodSpec, given: Iterable[SetResources], why: str) -> Iterator[str]:
    """A warning for each container with a whole number of cpus by requirement, which are not exclusive: ``why``."""
    for place in dict.fromkeys(one.place for one in given if one.resource == CPU):
        if cores := exclusive(at(spec, place)):
            verb = "is" if cores == 1 else "are"
            yield f"the {counted(cores, 'cpu')} of {called(spec, place)} {verb} not exclusive: {why}"


def _labels(spec: PodSpec, hardware: Iterable[Hardware]) -> tuple[tuple[Hardware, ...], list[Problem]]:
    """Requirements on labels of the node, each once.

    A problem for each requirement that contradicts another one, or the pod's own ``nodeSelector``.
    """
    labels: list[Hardware] = []
    problems: list[Problem] = []
    firm: dict[str, Hardware] = {}
    for one in hardware:
        if one.value is None:
            continue
        own = (spec.node_selector or {}).get(one.name)
        first = firm.setdefault(one.name, one) if one.mandatory else one
        if first.value != one.value:
            message = f"{one.clause} and {first.clause} ({first.field}) cannot both hold"
            problems.append(Problem(one.field, message))
        elif one.mandatory and own is not None and own != one.value:
            message = f"is {quote(own)}, but {one.clause} ({one.field}) needs another value"
            problems.append(Problem(f"spec.nodeSelector[{one.name}]", message))
        elif first is one:
            labels.append(one)
    return tuple(labels), problems
