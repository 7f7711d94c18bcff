"""Problems that keep the controller from creating ResourceClaimTemplates for described devices.

A template may not have reached the caches when a pod is reviewed, so that its absence says nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.annotations.hardware import Hardware
from webhook.placement.devices.published.described import MADE_LIMIT, describes
from webhook.placement.devices.published.devices import Devices
from webhook.placement.provision.effects import UseClaim
from webhook.placement.text.problem import Fault, Problem

Described = Mapping[str, DescribedDevices]
"""Described devices by the names of their templates."""

NOTHING: Final[Described] = {}


def described_by(given: Iterable[UseClaim]) -> Described:
    """The devices that requirements describe, of the claims that they give."""
    sources = (use.requirement.device for use in given if use.requirement and use.requirement.device)
    return {source.template: source.described for source in sources if source.described}


def problems_of_templates(
    given: Iterable[UseClaim], namespace: str, devices: Devices, *, made: bool
) -> Iterator[Problem]:
    """A problem for each requirement whose template cannot be had; ``made`` tells that the controller makes any."""
    missing: dict[str, Hardware] = {}
    for use in given:
        requirement = use.requirement
        source = requirement.device if requirement else None
        if requirement is None or source is None or source.described is None:
            continue
        there = devices.template((namespace, source.template))
        if there is None:
            missing.setdefault(source.template, requirement)
        elif not describes(there, source.described):
            message = (
                f"ResourceClaimTemplate {source.template}, which stands for {requirement.text}, has different content "
                "in this namespace: delete it, and the controller recreates it"
            )
            yield Problem(requirement.field, message, fault=Fault.FORBIDDEN)
    if not made:
        for requirement in missing.values():
            message = f"no controller makes the template of {requirement.text}: name a claim or a template of your own"
            yield Problem(requirement.field, message, fault=Fault.FORBIDDEN)
    elif missing and devices.made_in(namespace) + len(missing) > MADE_LIMIT:
        message = (
            f"this namespace has {devices.made_in(namespace)} templates of described devices, and the controller makes "
            f"at most {MADE_LIMIT}: name a template of your own, or delete those that no pod uses; the controller "
            "does so after ten minutes"
        )
        yield Problem(next(iter(missing.values())).field, message, fault=Fault.FORBIDDEN)
