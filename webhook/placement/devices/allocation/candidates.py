"""For each choice of each request of a pod, the devices of a node that could be given to it, whatever other pods have.

Source: ``dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`` of Kubernetes.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.devices.allocation.consumption import consumption
from webhook.placement.devices.allocation.node_devices import NodeDevices, UsableDevice, UsablePool
from webhook.placement.devices.published.claims import Agreement, ClaimSpec, DeviceChoice
from webhook.placement.devices.published.device import Device
from webhook.placement.devices.selectors.selector import Answer, DeviceBudget, qualified, selector
from webhook.placement.kube.pod import Toleration
from webhook.placement.kube.selection.tolerations import Taint, tolerates

_HINDERING = ("NoSchedule", "NoExecute")
"""Effects of taints by which a device is not given to a claim that does not tolerate the taint."""

_TESTS: Final = 4
"""Number of devices that can be looked up in known answers of a selector in the time that a search takes for one."""


class DeviceCandidate(Struct, frozen=True, gc=False):
    """A device for a choice: its number among the devices of the node, its pool, and what the choice consumes of it.

    ``tainted`` devices are in the way of a choice of all devices, and are given to none.
    """

    index: int
    usable: UsableDevice
    pool: UsablePool
    consumed: dict[str, int]
    tainted: bool


class Options(Struct, frozen=True, gc=False):
    """A choice with its candidates; ``failed`` is a selector that could not be evaluated for some device, or empty."""

    choice: DeviceChoice
    candidates: tuple[DeviceCandidate, ...]
    failed: str


def options(choice: DeviceChoice, node: NodeDevices, budget: DeviceBudget) -> Options:
    """The candidates for the choice, in the order in which the scheduler tries them; none once the budget is spent."""
    candidates, failed, index = [], "", -1
    for pool in node.pools if budget.steps > 0 else ():
        budget.steps -= len(pool.devices) * len(choice.selectors) // _TESTS
        for usable in pool.devices:
            index += 1
            answer, expression = _selected(choice, pool.name.driver, usable.device, budget)
            if not answer:
                failed = failed or ("" if answer is False else expression)
                continue
            tainted = not _tolerated(choice.tolerations, usable.taints)
            consumed = None if tainted and not choice.all else consumption(choice, usable.device)
            if consumed is not None:
                candidates.append(DeviceCandidate(index, usable, pool, consumed, tainted))
    return Options(choice, tuple(candidates), failed)


def options_of(spec: ClaimSpec, node: NodeDevices, budget: DeviceBudget) -> list[list[Options]]:
    """The options of each request of the claim."""
    return [[options(choice, node, budget) for choice in request.choices] for request in spec.requests]


def different(choices: Sequence[DeviceChoice], node: NodeDevices, budget: DeviceBudget) -> int | None:
    """How many devices of the node one of the choices at least could be given, each to one claim at a time.

    ``None`` if that is not known, or if claims share one of them.
    """
    options_of_choices = [options(choice, node, budget) for choice in choices]
    if node.unsure or budget.exhausted or any(each.failed for each in options_of_choices):
        return None
    able = {one.index: one.usable.device for each in options_of_choices for one in each.candidates if not one.tainted}
    return None if any(device.traits.shared for device in able.values()) else len(able)


def attribute_of(device: Device, driver: str, name: str) -> tuple[type, object] | None:
    """Type and value of the attribute of that full name; ``None`` if the device has none, or an unknown one."""
    wanted = qualified(name, driver)
    for attribute in device.attributes:
        if attribute.value is not None and qualified(attribute.name, driver) == wanted:
            return attribute.value.__class__, attribute.value
    return None


def concerned(agreement: Agreement, request: str, choice: DeviceChoice) -> bool:
    """Whether the agreement is about devices of this choice of the request."""
    named = agreement.requests
    return not named or request in named or (bool(choice.name) and f"{request}/{choice.name}" in named)


def _selected(choice: DeviceChoice, driver: str, device: Device, budget: DeviceBudget) -> tuple[Answer, str]:
    """Whether the device meets all selectors; the first that it does not meet decides, and is told."""
    for expression in choice.selectors:
        answer = selector(expression).matches(driver, device, budget)
        if not answer:
            return answer, expression
    return True, ""


def _tolerated(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> bool:
    return all(
        taint.effect not in _HINDERING or any(_covers(toleration, taint) for toleration in tolerations)
        for taint in taints
    )


def _covers(toleration: Toleration, taint: Taint) -> bool:
    """Whether the toleration covers the taint (``resourceclaim/devicetoleration.go``); no key stands for every key."""
    return tolerates(toleration if toleration.key else replace(toleration, key=taint.key), taint)
