"""Ports of their nodes that pods have taken (Kubernetes, ``hostPort`` and ``hostNetwork``)."""

from collections.abc import Container, Iterable

from webhook.placement.kube.bits import Bits
from webhook.placement.kube.containers import HostPort


class TakenHostPorts:
    """The host ports of all pods that have any, with the slots of their nodes."""

    __slots__ = ("_of", "_users")

    def __init__(self) -> None:
        self._of: dict[str, tuple[HostPort, ...]] = {}
        self._users: dict[tuple[str, int], dict[str, tuple[int, tuple[HostPort, ...]]]] = {}
        """Uids of pods with their slots and ports, by protocol and number."""

    def add(self, uid: str, slot: int, ports: tuple[HostPort, ...]) -> None:
        """A pod with these ports is bound to ``slot``."""
        self._of[uid] = ports
        place = slot, ports
        for port in ports:
            self._users.setdefault((port.protocol, port.number), {})[uid] = place

    def remove(self, uid: str) -> None:
        """The pod is gone, if it had any ports."""
        for key in {(port.protocol, port.number) for port in self._of.pop(uid, ())}:
            pods = self._users[key]
            del pods[uid]
            if not pods:
                del self._users[key]

    def slots(self, wanted: Iterable[HostPort], but: Container[str]) -> Bits:
        """The slots of pods that have one of these ports; those in ``but`` count as gone."""
        in_use = {
            slot
            for port in wanted
            for uid, (slot, ports) in self._users.get((port.protocol, port.number), {}).items()
            if uid not in but and any(port.conflicts(other) for other in ports)
        }
        return sum(1 << slot for slot in in_use)
