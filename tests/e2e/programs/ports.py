"""Ports of loopback that stay reserved while a server is down."""

import secrets
import socket
from typing import Final

_LOWEST: Final = 20_000
_BEYOND: Final = 32_768
"""Linux takes the ports of outgoing connections from 32,768 up (``net.ipv4.ip_local_port_range``), so none of them
occupies the port of a server that is being restarted."""

_TRIES: Final = 200


def free_ports(count: int) -> list[int]:
    """Different ports on which nobody listens."""
    held: list[socket.socket] = []
    try:
        for _ in range(_TRIES):
            candidate = socket.socket()
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                candidate.bind(("127.0.0.1", _LOWEST + secrets.randbelow(_BEYOND - _LOWEST)))
            except OSError:
                candidate.close()
                continue
            held.append(candidate)
            if len(held) == count:
                return [one.getsockname()[1] for one in held]
        raise RuntimeError(f"found no {count} free ports between {_LOWEST} and {_BEYOND} in {_TRIES} tries")
    finally:
        for one in held:
            one.close()
