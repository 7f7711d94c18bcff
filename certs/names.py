"""The names that a leaf is valid for (DNS names of a Service, loopback, other DNS names, IP addresses), and checks."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, Self

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
"""One label of a DNS name (RFC 1123), as Kubernetes requires it for names of Services and Namespaces."""

_DNS_LIMIT: Final = 253
"""Characters of a DNS name without its last dot (RFC 1035: 255 bytes on the wire)."""

_QUOTE_LIMIT: Final = 80
"""Characters of a text that a message quotes."""


@dataclass(frozen=True, slots=True)
class Names:
    """DNS names in lower case and IP addresses, each once, in the order in which the user gave them."""

    dns: tuple[str, ...] = ()
    addresses: tuple[IPAddress, ...] = ()

    def __add__(self, other: Self) -> "Names":
        return Names(
            tuple(dict.fromkeys(self.dns + other.dns)),
            tuple(dict.fromkeys(self.addresses + other.addresses)),
        )

    def __bool__(self) -> bool:
        return bool(self.dns or self.addresses)

    @property
    def texts(self) -> tuple[str, ...]:
        """All names as text, DNS names first."""
        return self.dns + tuple(str(address) for address in self.addresses)


LOOPBACK: Final = Names(("localhost",), (ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1")))
"""The names by which a client on the same machine may call a server."""


def service_names(service: str, namespace: str) -> Names:
    """The DNS names of a Service (Kubernetes, DNS for Services and Pods).

    The API server calls a webhook by ``<service>.<namespace>.svc``; pods in the cluster may use the other names.
    """
    qualified = f"{service}.{namespace}"
    return Names((f"{qualified}.svc", f"{qualified}.svc.cluster.local", service, qualified))


def label_fault(text: str, noun: str) -> str:
    """Why the text is not the name of a ``noun`` (service, namespace); empty if it is such a name."""
    if _LABEL.fullmatch(text):
        return ""
    return (
        f"{quote(text)} is not the name of a {noun}: use 1 to 63 lower-case letters, digits and '-', "
        "starting and ending with a letter or digit"
    )


def dns_fault(text: str) -> str:
    """Why the text is not a DNS name of one host, in upper or lower case; empty if it is such a name."""
    if not address_fault(text):
        return f"{quote(text)} is an IP address: give it with --ip"
    if text.startswith("*."):
        return f"{quote(text)} is a wildcard: name each host"
    if text.isascii() and len(text) <= _DNS_LIMIT and all(map(_LABEL.fullmatch, text.lower().split("."))):
        return ""
    return (
        f"{quote(text)} is not a DNS name: use letters, digits, '-' and '.', at most 253 of them, "
        "each part 1 to 63 long, starting and ending with a letter or digit"
    )


def address_fault(text: str) -> str:
    """Why the text is not an IP address; empty if it is one."""
    try:
        # A zone names an interface of this machine; no certificate can hold it.
        legal = "%" not in text and bool(ipaddress.ip_address(text))
    except ValueError:
        legal = False
    if legal:
        return ""
    return f"{quote(text)} is not an IP address: write 10.0.0.1 or fd00::1, without length or zone"


def flags(names: Names) -> tuple[str, ...]:
    """The flags of ``create`` that ask for exactly these names, as few as possible."""
    words: list[str] = []
    names_left = names
    for name in names.dns:
        service, _, namespace = name.removesuffix(".svc").partition(".")
        group = service_names(service, namespace)
        named = not label_fault(service, "service") and not label_fault(namespace, "namespace")
        if named and set(group.dns) <= set(names_left.dns):
            words += ["--service", service, "--namespace", namespace]
            names_left = _without(names_left, group)
            break
    if set(LOOPBACK.texts) <= set(names_left.texts):
        words.append("--loopback")
        names_left = _without(names_left, LOOPBACK)
    words += [word for name in names_left.dns for word in ("--dns", name)]
    words += [word for address in names_left.addresses for word in ("--ip", str(address))]
    return tuple(words)


def printable(text: str) -> str:
    r"""The text with line breaks as ``\n``, escapes as ``\x1b`` and so on: certificates may hold any character."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def quote(text: str) -> str:
    """The printable text in double quotes; after 80 characters it is cut and ends in ``...``."""
    shown = printable(text[:_QUOTE_LIMIT]).replace('"', '\\"')
    return f'"{shown}..."' if len(text) > _QUOTE_LIMIT else f'"{shown}"'


def _without(names: Names, group: Names) -> Names:
    return Names(
        tuple(name for name in names.dns if name not in group.dns),
        tuple(address for address in names.addresses if address not in group.addresses),
    )
