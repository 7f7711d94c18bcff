"""Own words of pods about topology domains, and clusters by zones."""

from collections.abc import Mapping
from typing import Any

from tests.builders import JOB, Json, node
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.text import keys

ZONE, HOST = "topology.kubernetes.io/zone", keys.HOSTNAME
APP = {"app": "web"}
OF_JOB: Json = {"matchLabels": {keys.JOB: JOB}}
OF_APP: Json = {"matchLabels": APP}
CLOSED = (Taint("dedicated", "x", "NoSchedule"),)
REVISION = ["pod-template-hash"]


def zones(*names: str, closed: str = "", **tweaks: Any) -> list[Node]:
    """Nodes ``node-a``, ``node-b``, ... in these zones, or in none for an empty name; ``closed`` is a tainted zone."""
    return [
        node(
            f"node-{chr(ord('a') + at)}",
            labels={ZONE: name} if name else {},
            taints=CLOSED if name and name == closed else (),
            **tweaks,
        )
        for at, name in enumerate(names)
    ]


def spread(key: str = ZONE, selector: Mapping[str, Any] | None = OF_JOB, *, skew: int = 1, **more: Any) -> list[Json]:
    """One spread constraint that keeps pods off nodes, unless more is said."""
    found = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return [found | ({} if selector is None else {"labelSelector": selector}) | more]


def apart(*topology: str, selector: Mapping[str, Any] | None = OF_APP, **more: Any) -> Json:
    """A required anti-affinity by these topology keys."""
    term = ({} if selector is None else {"labelSelector": selector}) | more
    required = [{"topologyKey": key, **term} for key in topology]
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
