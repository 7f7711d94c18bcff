"""Flags of ``create`` and ``show``, some of them also of ``manage``; their values as an ``Order`` or problems."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Literal

from certs.creation import Order
from certs.names import LOOPBACK, Names, address_fault, dns_fault, label_fault, quote, service_names

PREFIX: Final = "STREAMS_PLACEMENT_CERTS_"
"""The beginning of every environment variable."""

DAYS: Final = 365
"""Default lifetime of a leaf in days: it is due for renewal after 243 days, so running ``create`` monthly is enough."""
AUTHORITY_DAYS: Final = 3650
"""Default lifetime of an authority in days: ten years, because all its clients must get a new authority."""
DAYS_LIMIT: Final = 36_500
"""Longest lifetime in days, a hundred years: certificates cannot state a date after the year 9999."""

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Option:
    """A flag and its help; one of kind ``many`` may be repeated, a ``switch`` has a ``--no-`` form."""

    name: str
    metavar: str
    meaning: str
    kind: Literal["one", "many", "switch"] = "one"

    @property
    def variable(self) -> str:
        """The environment variable that counts if the flag is not given."""
        return PREFIX + self.name.upper().replace("-", "_")

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Declare the flag; its value is ``None`` if it is not given, so that the environment variable counts."""
        text = f"{self.meaning} [{self.variable}]"
        if self.kind == "switch":
            parser.add_argument(f"--{self.name}", action=argparse.BooleanOptionalAction, default=None, help=text)
            return
        short = ("-o",) if self is OUTPUT else ()
        action = "append" if self.kind == "many" else "store"
        parser.add_argument(*short, f"--{self.name}", action=action, metavar=self.metavar, help=text)


DIR: Final = Option("dir", "DIR", "folder of ca.crt, ca.key, tls.crt and tls.key; required")
SERVICE: Final = Option("service", "NAME", "the service that clients call; needs --namespace")
NAMESPACE: Final = Option("namespace", "NS", "the namespace of the service")
LOOPBACK_NAMES: Final = Option("loopback", "", "also for localhost, 127.0.0.1 and ::1 (default: no)", "switch")
DNS: Final = Option("dns", "NAME", "also for this DNS name; may be repeated, the variable takes a list", "many")
IP: Final = Option("ip", "ADDR", "also for this IP address; may be repeated, the variable takes a list", "many")
LEAF_DAYS: Final = Option(
    "days", "N", f"life of a new leaf, which never outlives its authority (1 to {DAYS_LIMIT}; default: {DAYS})"
)
CA_DAYS: Final = Option("ca-days", "N", f"life of a new authority (1 to {DAYS_LIMIT}; default: {AUTHORITY_DAYS})")
FORCE: Final = Option("force", "", "replace all four files (default: no)", "switch")
OUTPUT: Final = Option("output", "FORMAT", "text or json (default: text)")

CREATE: Final = (DIR, SERVICE, NAMESPACE, LOOPBACK_NAMES, DNS, IP, LEAF_DAYS, CA_DAYS, FORCE)
SHOW: Final = (DIR, OUTPUT)


class FlagValues:
    """Values from command line and environment: a flag wins over its variable, an empty variable counts as none."""

    def __init__(self, arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
        """``problems`` collects every wrong value that the other methods find."""
        self._arguments = vars(arguments)
        self._environment = environment
        self.problems: list[str] = []

    def order(self) -> Order:
        """What ``create`` is asked for; to be used only if there are no problems afterwards."""
        folder = self.folder()
        names = self._service() + self._further_names()
        if self._switch(LOOPBACK_NAMES):
            names += LOOPBACK
        if not names and not self.problems:
            self.problems.append("no name is given: use --service with --namespace, --loopback, --dns or --ip")
        lifetime, authority_lifetime = self._days(LEAF_DAYS, DAYS), self._days(CA_DAYS, AUTHORITY_DAYS)
        return Order(folder, names, lifetime, authority_lifetime, force=self._switch(FORCE))

    def folder(self) -> Path:
        """The folder to work in."""
        _, text = self._one(DIR)
        if not text:
            self.problems.append("no folder is given: use --dir")
        return Path(text)

    def output(self) -> str:
        """``text`` or ``json``."""
        source, text = self._one(OUTPUT)
        if text not in ("", "text", "json"):
            self.problems.append(f"{source} {quote(text)} is not a format: use text or json")
        return text or "text"

    def _service(self) -> Names:
        (service_source, service), (namespace_source, namespace) = self._one(SERVICE), self._one(NAMESPACE)
        if not service and not namespace:
            return Names()
        if not service or not namespace:
            missing, present = ("--service", namespace_source) if namespace else ("--namespace", service_source)
            self.problems.append(f"{present} needs {missing}")
            return Names()
        self._note(service_source, label_fault(service, "service"))
        self._note(namespace_source, label_fault(namespace, "namespace"))
        return service_names(service, namespace)

    def _further_names(self) -> Names:
        (dns_source, dns), (ip_source, ips) = self._many(DNS), self._many(IP)
        names = Names(tuple(name.lower() for name in dns if self._note(dns_source, dns_fault(name))))
        return names + Names((), tuple(ip_address(ip) for ip in ips if self._note(ip_source, address_fault(ip))))

    def _days(self, option: Option, default: int) -> timedelta:
        source, text = self._one(option)
        if not text:
            return timedelta(days=default)
        if re.fullmatch("[0-9]{1,5}", text) and 1 <= int(text) <= DAYS_LIMIT:
            return timedelta(days=int(text))
        self.problems.append(f"{source} {quote(text)} is not a number of days: use a whole number, 1 to {DAYS_LIMIT}")
        return timedelta(days=default)

    def _switch(self, option: Option) -> bool:
        flag = self._arguments[_attribute(option)]
        text = self._environment.get(option.variable, "").lower()
        if flag is not None or not text:
            return bool(flag)
        if text not in _TRUE | _FALSE:
            self.problems.append(f"{option.variable} {quote(text)} is neither true nor false")
        return text in _TRUE

    def _one(self, option: Option) -> tuple[str, str]:
        """The flag or variable that gives the value, and the value; an empty value if neither does."""
        flag: str | None = self._arguments[_attribute(option)]
        if flag is not None:
            return f"--{option.name}", flag
        return option.variable, self._environment.get(option.variable, "")

    def _many(self, option: Option) -> tuple[str, list[str]]:
        flags: list[str] | None = self._arguments[_attribute(option)]
        if flags is not None:
            return f"--{option.name}", flags
        # A variable holds a list, separated by blanks or commas, as is easier in the manifest that sets it.
        return option.variable, re.findall(r"[^\s,]+", self._environment.get(option.variable, ""))

    def _note(self, source: str, fault: str) -> bool:
        """Record the fault unless it is empty; returns whether it is empty."""
        if fault:
            self.problems.append(f"{source} {fault}")
        return not fault


def _attribute(option: Option) -> str:
    return option.name.replace("-", "_")
