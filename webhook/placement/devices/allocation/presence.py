"""Check that a node has devices, free or allocated, as a HostPool requires of its hosts (``docs/hostpool.md``)."""

from collections import Counter
from collections.abc import Sequence

from webhook.placement.devices.allocation.allocation import Lack, NodeOutcome
from webhook.placement.devices.allocation.candidates import DeviceCandidate, attribute_of, options
from webhook.placement.devices.allocation.node_devices import NodeDevices
from webhook.placement.devices.published.claims import ClaimSpec
from webhook.placement.devices.selectors.selector import DeviceBudget


def present(spec: ClaimSpec, node: NodeDevices, budget: DeviceBudget) -> NodeOutcome:
    """Whether the node has as many devices as the only choice of the only request wants, whichever pod has them.

    Each device counts once, whatever it consumes of shared counters. If they are to agree in an attribute, the value
    counts that most of them have.
    """
    request = spec.requests[0]
    choice, same = request.choices[0], "".join(agreement.match for agreement in spec.agreements)
    chosen = options(choice, node, budget)
    alike = _alike(chosen.candidates, same) if same else len(chosen.candidates)
    if alike >= choice.count:
        return NodeOutcome(answer=True)
    if budget.exhausted:
        return NodeOutcome(None)
    if node.unsure or chosen.failed:
        return NodeOutcome(None, failed=chosen.failed)
    same = same if alike < len(chosen.candidates) else ""
    return NodeOutcome(answer=False, lack=Lack(request.name, choice, choice.count, alike, same))


def _alike(candidates: Sequence[DeviceCandidate], name: str) -> int:
    """How many of the devices have the value of the attribute that most of them have."""
    values = (attribute_of(candidate.usable.device, candidate.pool.name.driver, name) for candidate in candidates)
    return max(Counter(value for value in values if value is not None).values(), default=0)
