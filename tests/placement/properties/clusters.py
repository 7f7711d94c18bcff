"""A whole cluster as one plain value."""

import hashlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool

Json = dict[str, Any]

Name = tuple[str, str]
"""Namespace and name of an object."""

TEAM = "team"
"""The namespace of the pods that are judged."""
STRANGERS = "zz-secret-tenant"
"""A namespace that nobody of the team may hear of."""
SECRET = "zz-secret-"
"""How every name begins that may be in a message only if the requester wrote it."""


@dataclass(frozen=True)
class Cluster:
    """Everything there is, in some order."""

    nodes: tuple[Node, ...] = ()
    pods: tuple[PodInfo, ...] = ()
    pools: tuple[Pool, ...] = ()
    jobs: tuple[StreamsJob, ...] = ()


def standing(pool: Pool, nodes: Iterable[Node]) -> dict[int, str]:
    """The hosts in the pool's status that still are the same nodes, by index."""
    there = {node.name: node.uid for node in nodes}
    return {host.index: host.name for host in pool.assigned if there.get(host.name) == host.uid}


def is_host(node: Node, text: str) -> bool:
    """Whether the text is the address, or else the name, of the node."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return node.name == text
    return address in map(ipaddress.ip_address, node.addresses)


def digest(text: str) -> str:
    """SHA-1 in upper-case hex."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest().upper()
