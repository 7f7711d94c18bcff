"""Syntax of IP addresses, by which a user may name a host instead of by the name of its node.

The syntax of addresses is that of Apache Commons' ``InetAddressValidator``: IPv4 in dotted decimal without leading
zeros; IPv6 with an optional ``%zone`` and an optional ``/0`` ... ``/128``. That validator also accepts blanks as the
last group of an IPv6 address, which its documentation does not mention; here such a text is not an address.
"""

import functools
import ipaddress
import re

from msgspec import Struct

_KEPT_LENGTH = 64
"""Characters of a text whose address is cached: enough for IPv6 with a zone; longer texts must not fill memory."""

_DOTTED = "0123456789."
"""The characters of IPv4 addresses."""

_PREFIX_LIMIT = 128
_PREFIX = re.compile(r"[0-9]{1,3}", re.ASCII)
_ZONE = re.compile(r"[^\s/%]+", re.ASCII)


class Address(Struct, frozen=True, gc=False):
    """An IP address, or an IPv6 network.

    ``text`` is the canonical spelling of the address with its zone: lower case, zeros compressed. ``prefix`` is the
    length after a slash; an address with a prefix names a network and not a node.
    """

    text: str
    prefix: int | None = None


def parse_address(text: str) -> Address | None:
    """The address that the text spells; ``None`` if it spells no address. IPv4-mapped IPv6 counts as IPv6."""
    return _kept(text) if len(text) <= _KEPT_LENGTH else _parse(text)


def _parse(text: str) -> Address | None:
    if ":" in text:
        return _parse_ipv6(text)
    if text.strip(_DOTTED):  # most texts are names of nodes, and an exception takes long
        return None
    try:
        return Address(str(ipaddress.IPv4Address(text)))
    except ValueError:
        return None


_kept = functools.lru_cache(4096)(_parse)


def canonical(text: str) -> str | None:
    """The canonical spelling of a node's address; ``None`` for a network and for a text that is not an address."""
    address = parse_address(text)
    return address.text if address and address.prefix is None else None


def _parse_ipv6(text: str) -> Address | None:
    """Parse ``address [ "%" zone ] [ "/" length ]``."""
    address_text, slash, length = text.partition("/")
    if slash and (_PREFIX.fullmatch(length) is None or int(length) > _PREFIX_LIMIT):
        return None
    body, percent, zone = address_text.partition("%")
    if percent and _ZONE.fullmatch(zone) is None:
        return None
    try:
        address = str(ipaddress.IPv6Address(body))
    except ValueError:
        return None
    return Address(address + percent + zone, int(length) if slash else None)
