"""Addresses of pods that run as processes: one in the API, one on loopback, and the conversion between them.

EndpointSlices refuse loopback addresses, and processes on one machine share its ports. So the pod with the address
10.97.x.y is a process that listens on 127.97.x.y.
"""

import ipaddress
import itertools
import os
import secrets
from typing import Final

_PODS: Final = ipaddress.IPv4Network("10.97.0.0/16")
_LOOPBACK: Final = ipaddress.IPv4Network("127.97.0.0/16")

_WORKER: Final = int(os.environ.get("PYTEST_XDIST_WORKER", "gw7").removeprefix("gw")) % 8
"""Which eighth of the addresses this process takes: two workers of one run never meet."""

_FIRST: Final = 8192 * _WORKER + 256 * secrets.randbelow(24)
"""Two runs, or a run and a standing cluster, may be side by side: each begins somewhere else."""

_NUMBERS: Final = itertools.count(1)
"""One row for all control planes of this process; ``next`` is safe from any thread."""


def next_pod_address() -> str:
    """A pod address; none comes twice before 65,000 pods."""
    return str(_PODS[(_FIRST + next(_NUMBERS)) % _PODS.num_addresses])


def loopback(pod: str) -> str:
    """Where the process of a pod address listens. An address of anybody else's pod is its own."""
    address = ipaddress.IPv4Address(pod)
    if address not in _PODS:
        return pod
    return str(_LOOPBACK[int(address) - int(_PODS.network_address)])
