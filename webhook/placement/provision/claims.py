"""ResourceClaims that hardware requirements give to a pod and its containers (``docs/devices.md``)."""

import hashlib
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from webhook.placement.annotations.described_devices import PREFIX
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.annotations.hardware_claim import DeviceSource
from webhook.placement.kube.containers import Place, at, claiming, named, places, resources_at
from webhook.placement.kube.pod import PodClaim, PodSpec
from webhook.placement.provision.effects import UseClaim
from webhook.placement.provision.grants import no_container
from webhook.placement.text.problem import Problem, quote

_HASH: Final = 16
"""Hexadecimal digits of the hash in such a name."""

_UNGRANTED: Final = "is not requested: whether its devices are free is not judged"


class GivenClaims(Struct, frozen=True, gc=False):
    """The claims that are given, the pod's spec with them, what is wrong, and what is to be warned of."""

    spec: PodSpec
    given: tuple[UseClaim, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


def claims(spec: PodSpec, hardware: Iterable[Hardware], main: Place | None) -> GivenClaims:
    """The claims of all requirements for devices; those that name no container are for the ``main`` one.

    Optional ones are not given: a pod must not wait for devices that it can do without.
    """
    given: list[UseClaim] = []
    problems: list[Problem] = []
    warnings: list[str] = []
    for one in hardware:
        if one.device is None:
            continue
        if not one.mandatory:
            warnings.append(f"{one.clause} {_UNGRANTED}")
            continue
        place = named(spec, one.container) if one.container else main or _user(spec, one.device)
        if place is None:
            problems.append(no_container(one, spec))
            continue
        claim = _claim(spec, place, one.device)
        problems += _taken(spec, claim, one)
        given.append(UseClaim(one.text, place, claim, requirement=one))
        spec = claiming(spec, place, claim)
    return GivenClaims(spec, tuple(given), tuple(problems), tuple(warnings))


def _claim(spec: PodSpec, place: Place, source: DeviceSource) -> PodClaim:
    """The pod's own claim of that source if the container uses it, or may share it; else a claim of a name of ours."""
    used = {claim.name for claim in resources_at(spec, place).claims or ()}
    for claim in spec.resource_claims or ():
        if _same(claim, source) and (source.claim or claim.name in used):
            return claim
    container = "" if source.claim else at(spec, place).name  # each container has a claim of its own from a template
    name = PREFIX + hashlib.sha256(f"{source.named}\0{container}".encode()).hexdigest()[:_HASH]
    return PodClaim(name, source.claim or None, source.template or None)


def _same(claim: PodClaim, source: DeviceSource) -> bool:
    stated = claim.resource_claim_name or "", claim.resource_claim_template_name or ""
    return stated == (source.claim, source.template)


def _user(spec: PodSpec, source: DeviceSource) -> Place | None:
    """The only container that uses a claim of that source; ``None`` if it is not exactly one.

    So a claim stays where it was given when another webhook adds a sidecar later.
    """
    same = {claim.name for claim in spec.resource_claims or () if _same(claim, source)}
    users = [
        place
        for place, container in places(spec)
        if container.resources and any(claim.name in same for claim in container.resources.claims or ())
    ]
    return users[0] if len(users) == 1 else None


def _taken(spec: PodSpec, claim: PodClaim, hardware: Hardware) -> Iterable[Problem]:
    """A problem if the pod has another claim of that name."""
    for place, there in enumerate(spec.resource_claims or ()):
        if there.name == claim.name and there != claim:
            message = f"{quote(there.name)} is the name of the claim of {hardware.clause}: choose another"
            yield Problem(f"spec.resourceClaims[{place}].name", message)
