"""Regular expressions for texts in a HostPool: label values, pool names, node names and IP addresses.

Each pattern is anchored at both ends, and has the same meaning in Go (the API server) and in Python. No pattern can
express that two spellings of an IPv6 address are the same address; admission refuses such duplicates.
"""

from typing import Final

from webhook.placement.kube.names import DNS_SUBDOMAIN, LABEL_VALUE

VALUE: Final = f"^{LABEL_VALUE.pattern}$"
"""A label value, which may be empty."""

NAME: Final = f"^_*{LABEL_VALUE.pattern}_*$"
"""A label value that may begin and end with underscores, as SPL identifiers may."""

_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_GROUP: Final = "[0-9a-fA-F]{1,4}"
_LAST: Final = rf"(?:{_GROUP}:{_GROUP}|{_OCTET}(?:\.{_OCTET}){{3}})"
"""The last 32 bits: two groups, or an IPv4 address."""


def _before(gap: int) -> str:
    """A pattern of at most ``gap`` groups before the ``::`` that stands for missing groups."""
    return f"(?:(?:{_GROUP}:){{0,{gap - 1}}}{_GROUP})?" if gap else ""


_IPV6: Final = "|".join(
    (
        f"(?:{_GROUP}:){{6}}{_LAST}",
        *(f"{_before(gap)}::(?:{_GROUP}:){{{5 - gap}}}{_LAST}" for gap in range(6)),
        f"{_before(6)}::{_GROUP}",
        f"{_before(7)}::",
    )
)
"""An IPv6 address: the nine forms of RFC 3986, section 3.2.2."""

_ZONE: Final = r"(?:%[^\t-\r %/]+)?"

HOST: Final = rf"^(?:{DNS_SUBDOMAIN}|(?:{_IPV6}){_ZONE})$"
"""A node name or an IP address; an IPv4 address has the form of a node name."""
