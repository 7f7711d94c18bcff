"""Whether a host is written as an IP address, as a node's name, or as neither.

An address is what Apache Commons' ``InetAddressValidator`` documents as one, at its current head: IPv4 in dotted
decimal without leading zeros; IPv6 with an optional ``%zone`` and an optional ``/0`` ... ``/128``. Its one undocumented
exception, a group of blanks as the last of an IPv6 address, is none here: there is no address that it could stand for.
"""

import functools
import ipaddress
import re

from msgspec import Struct

NAME_LIMIT = 253
"""Characters of a DNS-1123 subdomain (Kubernetes, object names)."""

_KEPT_LENGTH = 64
"""Characters of a text that is kept: those of an IPv6 address and a zone; longer ones must not fill memory."""

_PREFIX_LIMIT = 128
_PREFIX = re.compile(r"[0-9]{1,3}", re.ASCII)
_ZONE = re.compile(r"[^\s/%]+", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9]++(?:(?:-++|\.)[a-z0-9]++)*+")


class Address(Struct, frozen=True, gc=False):
    """An IP address.

    ``text`` is the one spelling of the address, with its zone: lower case, zeros compressed. ``prefix`` is the length
    after a slash, if there is one: then the text names a network, and is no node's address.
    """

    text: str
    prefix: int | None = None


def parse_address(text: str) -> Address | None:
    """The address that a text spells, or ``None`` when it spells none. IPv4-mapped IPv6 is IPv6."""
    return _kept(text) if len(text) <= _KEPT_LENGTH else _parse(text)


def _parse(text: str) -> Address | None:
    try:
        return Address(str(ipaddress.IPv4Address(text)))
    except ValueError:
        return _parse_ipv6(text)


_kept = functools.lru_cache(4096)(_parse)


def canonical(text: str) -> str | None:
    """The text under which all spellings of one node address are equal; ``None`` for anything no node can have."""
    address = parse_address(text)
    return address.text if address and address.prefix is None else None


def is_node_name(text: str) -> bool:
    """Whether the text can be the name of a node: a DNS-1123 subdomain of at most 253 characters."""
    return len(text) <= NAME_LIMIT and _SUBDOMAIN.fullmatch(text) is not None


def _parse_ipv6(text: str) -> Address | None:
    """``address [ "%" zone ] [ "/" length ]``, in this order."""
    rest, slash, length = text.partition("/")
    if slash and (_PREFIX.fullmatch(length) is None or int(length) > _PREFIX_LIMIT):
        return None
    body, percent, zone = rest.partition("%")
    if percent and _ZONE.fullmatch(zone) is None:
        return None
    try:
        address = str(ipaddress.IPv6Address(body))
    except ValueError:
        return None
    return Address(address + percent + zone, int(length) if slash else None)
