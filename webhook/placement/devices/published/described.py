"""ResourceClaimTemplates of described devices: how to recognize them, and what they request (``docs/devices.md``)."""

import functools
from typing import Final

from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.devices.published.claims import Agreement, ClaimSpec, ClaimTemplate, DeviceChoice, DeviceRequest

REQUEST: Final = "devices"
"""The name of the only request of such a template."""

MADE_LABEL: Final = "app.kubernetes.io/managed-by", "streams-placement"
"""Key and value of the label of such templates."""

MADE_LIMIT: Final = 100
"""Maximum number of such templates that the controller creates in a namespace: an application has a handful."""


@functools.lru_cache(1024)
def spec_of(described: DescribedDevices) -> ClaimSpec:
    """What each claim of the template requests."""
    selectors = (described.selector,) if described.selector else ()
    choice = DeviceChoice(described.device_class, selectors=selectors, count=described.count)
    agreements = (Agreement((REQUEST,), match=described.same),) if described.same else ()
    return ClaimSpec((DeviceRequest(REQUEST, (choice,)),), agreements)


def describes(template: ClaimTemplate, described: DescribedDevices) -> bool:
    """Whether claims of the template request these devices, and nothing else is stated of them."""
    return not template.configured and template.spec == spec_of(described)


def content_of(name: str, spec: ClaimSpec) -> DescribedDevices | None:
    """The devices that the template of that name and spec describes; ``None`` if no description leads to the two."""
    if len(spec.requests) != 1 or len(spec.requests[0].choices) != 1:
        return None
    choice = spec.requests[0].choices[0]
    selector = "".join(choice.selectors[:1])
    same = "".join(agreement.match for agreement in spec.agreements[:1])
    described = DescribedDevices(choice.device_class, selector, choice.count, same)
    return described if described.template == name and spec_of(described) == spec else None
