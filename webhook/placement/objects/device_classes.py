"""DeviceClasses: the extended resources that Kubernetes maps to devices of dynamic resource allocation.

A container may request devices of a class by the resource that the class names in ``extendedResourceName``, or by the
implicit name of the class (Kubernetes, dynamic resource allocation). Such a resource is in no node's ``allocatable``.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.resource_name import OF_DEVICE_CLASS


class DeviceClass(Struct, frozen=True, gc=False):
    """A DeviceClass, and the extended resource that it names; empty if it names none.

    ``selectors`` are CEL expressions that a device of the class must meet. ``created`` is the creation time of the
    object in RFC 3339, empty if the API server has not created it. ``unread`` names a field that says something unknown
    here, such as a selector that is not CEL; ``fault`` tells why the selectors cannot be read. Devices of such a class
    are not judged.
    """

    name: str
    resource: str = ""
    created: str = ""
    selectors: tuple[str, ...] = ()
    unread: str = ""
    fault: str = ""


class DeviceClasses:
    """The DeviceClasses of a cluster, by name and by extended resource; ``version`` counts changes."""

    __slots__ = ("_by_resource", "_classes", "version")

    def __init__(self) -> None:
        self.version = 0
        self._classes: dict[str, DeviceClass] = {}
        self._by_resource: dict[str, str] = {}

    def put(self, device_class: DeviceClass) -> None:
        """Add the DeviceClass, or replace the one with its name."""
        if self._classes.get(device_class.name) != device_class:
            self._classes[device_class.name] = device_class
            self._index()

    def drop(self, name: str) -> None:
        """Remove the DeviceClass; an absent one changes nothing."""
        if self._classes.pop(name, None):
            self._index()

    def get(self, name: str) -> DeviceClass | None:
        """The DeviceClass of that name; ``None`` if there is none."""
        return self._classes.get(name)

    @property
    def names(self) -> Iterable[str]:
        """The names of all DeviceClasses."""
        return self._classes

    def class_of(self, resource: str) -> str:
        """The name of a DeviceClass whose devices meet requests for the resource; empty if no class maps it."""
        return self._by_resource.get(resource, "")

    def mapped(self, requests: Tally) -> Mapping[str, str]:
        """Of these requests, the resources that classes map, each with its class."""
        if not self._by_resource:  # in most clusters
            return _NONE
        return {resource: self._by_resource[resource] for resource in requests if resource in self._by_resource}

    def judged(self, requests: dict[str, int]) -> dict[str, int]:
        """The requests without resources that classes map: which node could give these is not known."""
        mapped = self.mapped(requests)
        return {name: amount for name, amount in requests.items() if name not in mapped} if mapped else requests

    def _index(self) -> None:
        """Rebuild the table of resources: classes are few and seldom change.

        Of several classes that name a resource the newest counts, and of equally old ones the first by name, as for the
        scheduler (Kubernetes, ``deviceclass/extendedresourcecache/extendedresourcecache.go``).
        """
        self.version += 1
        table: dict[str, str] = {}
        by_name = sorted(self._classes.values(), key=lambda device_class: device_class.name, reverse=True)
        for device_class in sorted(
            by_name, key=lambda device_class: device_class.created
        ):  # a later entry replaces an earlier one
            table[OF_DEVICE_CLASS + device_class.name] = device_class.name
            if device_class.resource:
                table[device_class.resource] = device_class.name
        self._by_resource = table


_NONE: Final[Mapping[str, str]] = {}
