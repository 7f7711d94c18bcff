"""ResourceClaims and their templates: what pods request of devices, and what is allocated to a claim."""

from typing import NamedTuple

from msgspec import Struct

from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.kube.selection.selector import NAME_FIELD

ClaimName = tuple[str, str]
"""A ResourceClaim or ResourceClaimTemplate: namespace and name."""


class DeviceName(NamedTuple):
    """A device of the cluster."""

    driver: str
    pool: str
    device: str


class DeviceChoice(Struct, frozen=True, gc=False, cache_hash=True):
    """What one request wants (``exactly``), or one of the alternatives of it (``firstAvailable``).

    ``name`` is that of the alternative, empty for ``exactly``. ``selectors`` are CEL expressions, each of which a
    device must meet, as it must those of the class. ``all`` wants every device that matches (``allocationMode``),
    ``count`` otherwise that many. ``capacity`` are amounts in nano-units by name, in the order of names.
    """

    device_class: str
    name: str = ""
    selectors: tuple[str, ...] = ()
    count: int = 1
    all: bool = False
    admin: bool = False
    tolerations: tuple[Toleration, ...] = ()
    capacity: tuple[tuple[str, int], ...] = ()


class DeviceRequest(Struct, frozen=True, gc=False):
    """A request of a claim: choices of which the first that can be met is taken; ``exactly`` is one choice."""

    name: str
    choices: tuple[DeviceChoice, ...]


class Agreement(Struct, frozen=True, gc=False):
    """A constraint of a claim on an attribute of all devices of these requests, of all requests if none is named.

    Devices have the same value of ``match`` (``matchAttribute``), or each another one of ``distinct``
    (``distinctAttribute``).
    """

    requests: tuple[str, ...] = ()
    match: str = ""
    distinct: str = ""


class ClaimSpec(Struct, frozen=True, gc=False, cache_hash=True):
    """What a claim requests.

    ``unread`` names the field that says something unknown here, such as another ``allocationMode``; ``fault`` tells why
    nothing of it can be read. Such a claim is not judged.
    """

    requests: tuple[DeviceRequest, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    unread: str = ""
    fault: str = ""


class HeldDevice(Struct, frozen=True, gc=False):
    """A device that is allocated to a claim (``status.allocation.devices.results``).

    ``share`` is the ``shareID`` of one of several allocations of a device, ``consumed`` what that one consumes of its
    capacities in nano-units. ``admin`` devices are not taken from others.
    """

    device: DeviceName
    request: str = ""
    admin: bool = False
    share: str = ""
    consumed: tuple[tuple[str, int], ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class ClaimAllocation(Struct, frozen=True, gc=False):
    """What is allocated to a claim: devices, and the nodes that can use them.

    ``node`` is the name of the node if there is only one, as mostly. Otherwise ``terms`` select the nodes; ``None``
    selects all.
    """

    devices: tuple[HeldDevice, ...] = ()
    terms: tuple[NodeTerm, ...] | None = None
    node: str = ""

    @property
    def nodes(self) -> tuple[NodeTerm, ...] | None:
        """Terms of the nodes that can use the devices; ``None`` stands for every node."""
        return (NodeTerm(match_fields=(Requirement(NAME_FIELD, "In", (self.node,)),)),) if self.node else self.terms


class ResourceClaim(Struct, frozen=True, gc=False):
    """A ResourceClaim; ``allocation`` is ``None`` until it has devices.

    ``reserved`` tells that pods use it (``status.reservedFor``), ``owner`` is the name of the pod that it was made for
    from a template, empty for a claim of its own.
    """

    namespace: str
    name: str
    spec: ClaimSpec
    allocation: ClaimAllocation | None = None
    reserved: bool = False
    owner: str = ""
    terminating: bool = False


class ClaimTemplate(Struct, frozen=True, gc=False):
    """A ResourceClaimTemplate: each pod that names it gets a claim of its own with this spec.

    ``made`` tells that the controller made it of a description. Of such a template ``uid`` and ``version`` are kept, by
    which it can be deleted. ``configured`` tells that it also configures the devices for their drivers, or labels the
    claims.
    """

    namespace: str
    name: str
    spec: ClaimSpec
    made: bool = False
    uid: str = ""
    version: str = ""
    configured: bool = False
