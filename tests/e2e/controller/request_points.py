"""The requests of a controller to the API server, and named points between them."""

import dataclasses
import json
import re
from typing import Any, Final, Literal, TypeAlias

from webhook.placement.text.keys import MEMBERSHIP

Kind: TypeAlias = Literal[
    "read", "watch", "lease", "event", "claim", "release", "hold", "free", "settling", "publish", "say", "other"
]  # fmt: skip
"""``claim`` and ``release`` change a node; ``hold`` and ``free`` the finalizer of a pool; ``settling``, ``publish``
(phase Ready) and ``say`` its status."""

WRITES: Final[frozenset[Kind]] = frozenset({"claim", "release", "hold", "free", "settling", "publish", "say", "other"})
"""What changes the cluster; Leases and Events aside."""

_NODE: Final = re.compile(r"/api/v1/nodes/[^/?]+")
_POOL: Final = re.compile(r"/apis/streams\.ibm\.com/v1/namespaces/[^/]+/streamshostpools/[^/?]+")
_POOL_STATUS: Final = re.compile(rf"{_POOL.pattern}/status")
_PHASES: Final[dict[str, Kind]] = {"Pending": "settling", "Ready": "publish"}


@dataclasses.dataclass(frozen=True, slots=True)
class PassedRequest:
    """One request: who asked, for what, and the status code of the answer; 0 while there is none."""

    who: str
    kind: Kind
    method: str
    path: str
    code: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class RequestPoint:
    """Before request number ``number`` of a kind is passed on, or after it was answered; numbers begin at 1."""

    side: Literal["before", "after"]
    kind: Kind
    number: int = 1

    def __str__(self) -> str:
        return f"{self.side} {self.kind} {self.number}"


def kind_of(method: str, path: str, body: bytes) -> Kind:
    """What a request is about."""
    if method == "GET":
        return "watch" if "watch=" in path else "read"
    if method != "PATCH" or "/events/" in path:
        return "lease" if "/leases" in path else "event" if "/events" in path else "other"
    change = json.loads(body)
    if _NODE.fullmatch(path):
        return _of_node(change)
    if _POOL.fullmatch(path):
        return "hold" if change["metadata"]["finalizers"] else "free"
    return _PHASES.get(change["status"]["phase"], "say") if _POOL_STATUS.fullmatch(path) else "other"


def _of_node(change: dict[str, Any]) -> Kind:
    labels = change["metadata"].get("labels", {})
    return "claim" if any(value and key.startswith(MEMBERSHIP) for key, value in labels.items()) else "release"
