"""The values that a pod's spec may refer to: its own fields, and the Secrets and ConfigMaps of its namespace."""

import base64
import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

from tests.e2e.client.api import Object
from tests.e2e.pods.addresses import loopback


class NotYetError(Exception):
    """The pod cannot start while this is so; the text is what a kubelet would say in the pod's status."""


class UnsupportedError(NotImplementedError):
    """The pod asks for something that this stand-in for a kubelet cannot do."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sources:
    """Secrets and ConfigMaps by name, as they are now."""

    secrets: Mapping[str, Object]
    config_maps: Mapping[str, Object]

    def secret(self, name: str, *, optional: bool = False) -> dict[str, bytes]:
        """The entries of a Secret."""
        one = self._found(self.secrets, "secret", name, optional=optional)
        return {key: base64.b64decode(value) for key, value in (one.get("data") or {}).items()}

    def config_map(self, name: str, *, optional: bool = False) -> dict[str, bytes]:
        """The entries of a ConfigMap."""
        one = self._found(self.config_maps, "configmap", name, optional=optional)
        texts = {key: value.encode() for key, value in (one.get("data") or {}).items()}
        return texts | {key: base64.b64decode(value) for key, value in (one.get("binaryData") or {}).items()}

    @staticmethod
    def _found(known: Mapping[str, Object], kind: str, name: str, *, optional: bool) -> Object:
        if name not in known and not optional:
            raise NotYetError(f'{kind} "{name}" not found')
        return known.get(name, {})


_PLAIN: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
)


def field(pod: Object, path: str, address: str) -> str:
    """A field of the pod, as ``fieldRef`` names it. The pod's address is the one that its process can listen on."""
    if path in {"status.podIP", "status.podIPs"}:
        return loopback(address)
    if path in {"status.hostIP", "status.hostIPs"}:
        return "127.0.0.1"
    if path in _PLAIN:
        group, name = path.split(".")
        return str(pod[group].get(name, ""))
    entry = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path)
    if entry is None:
        raise UnsupportedError(f"fieldRef {path}")
    return str(pod["metadata"].get(entry[1], {}).get(entry[2], ""))


def referred(value_from: Mapping[str, Any], pod: Object, address: str, sources: Sources) -> str | None:
    """The value that an ``env[].valueFrom`` stands for; None for an optional one that is not there."""
    if "fieldRef" in value_from:
        return field(pod, value_from["fieldRef"]["fieldPath"], address)
    for name, entries in (("secretKeyRef", sources.secret), ("configMapKeyRef", sources.config_map)):
        if name in value_from:
            reference = value_from[name]
            optional = bool(reference.get("optional"))
            found = entries(reference["name"], optional=optional).get(reference["key"])
            if found is None and not optional:
                raise NotYetError(f"couldn't find key {reference['key']} in {reference['name']}")
            return None if found is None else found.decode()
    raise UnsupportedError(f"valueFrom {', '.join(value_from)}")
