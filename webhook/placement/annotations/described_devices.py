"""Parser of a hardware requirement that describes its devices: their class, a selector, how many, what they share.

The controller makes a ResourceClaimTemplate of each description (``docs/devices.md``). Its name is a hash of the
description, so that equal ones share a template and none is ever changed.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from webhook.placement.annotations.hardware_fields import ParsedField
from webhook.placement.field_rules.rules import NumberRule, TextRule
from webhook.placement.kube.names import DNS_SUBDOMAIN, NAME_LIMIT, OBJECT_NAME
from webhook.placement.kube.numbers import integer
from webhook.placement.text.problem import Problem, quote, shorten
from webhook.placement.text.selector_words import condition

PREFIX: Final = "hpa-"
"""How the names of templates of descriptions begin, and of claims that the webhook adds to a pod."""

_HASH: Final = 16
"""Hexadecimal digits of the hash in such a name."""

MADE_NAME: Final = re.compile(f"{PREFIX}[0-9a-f]{{{_HASH}}}")
"""The names that templates of descriptions have."""

DEVICES_LIMIT: Final = 32
"""Devices that can be allocated to one claim (``resource.k8s.io/v1``, ``AllocationResultsMaxSize``)."""

SELECTOR_LIMIT: Final = 1024
"""Characters of a selector: longer ones are not judged."""

ATTRIBUTE_LIMIT: Final = 96
"""Characters of the full name of an attribute: a domain of 63, a slash, and an identifier of 32."""

_SHOWN: Final = 100
"""Characters of a selector in a message."""

TEXTS: Final[Mapping[str, TextRule]] = {
    "class": TextRule(
        about="Name of the DeviceClass of the devices; each pod gets devices of its own.",
        least=1,
        most=NAME_LIMIT,
        pattern=OBJECT_NAME,
        form="is not the name of a DeviceClass",
    ),
    "selector": TextRule(about="CEL expression that each device must meet.", least=1, most=SELECTOR_LIMIT),
    "sameAttribute": TextRule(
        about="Attribute of which all devices must have the same value.",
        least=1,
        most=ATTRIBUTE_LIMIT,
        pattern=f"^{DNS_SUBDOMAIN}/[A-Za-z_][A-Za-z0-9_]{{0,31}}$",
        form="is not the full name of an attribute, such as resource.kubernetes.io/pcieRoot",
    ),
}
COUNT: Final = NumberRule("How many devices; 1 if absent.", 1, DEVICES_LIMIT)
"""The rules of the fields of ``device`` that describe devices."""

DESCRIPTION: Final = (*TEXTS, "count")
"""The fields of ``device`` that describe devices."""


class DescribedDevices(Struct, frozen=True, gc=False, cache_hash=True, omit_defaults=True):
    """So many devices of a class: each meets the CEL expression ``selector``, and all agree in the attribute ``same``.

    An empty ``selector`` or ``same`` demands nothing.
    """

    device_class: str
    selector: str = ""
    count: int = 1
    same: str = ""

    @property
    def template(self) -> str:
        """The name of the ResourceClaimTemplate with this content."""
        return PREFIX + hashlib.sha256(_content(self)).hexdigest()[:_HASH]

    def __str__(self) -> str:
        """The devices in messages."""
        number = "1 device" if self.count == 1 else f"{self.count} devices"
        conditions = [shorten(condition(self.selector), _SHOWN)] if self.selector else []
        conditions += [f"the same {self.same}"] if self.same else []
        with_them = f" with {' and '.join(conditions)}" if conditions else ""
        return f"{number} of DeviceClass {self.device_class}{with_them}"


_content: Final = msgspec.json.Encoder().encode


def read_description(stated: Mapping[str, ParsedField], path: str) -> tuple[DescribedDevices | None, list[Problem]]:
    """The devices that these fields of ``device`` at the ``path`` describe, or ``None`` and all problems."""
    problems = [*_problems(stated, path)]
    if problems:
        return None, problems
    words = {name: at.word for name, at in stated.items()}
    count = integer(words.get("count", "1")) or 1
    return DescribedDevices(words["class"], words.get("selector", ""), count, words.get("sameAttribute", "")), []


def _problems(stated: Mapping[str, ParsedField], path: str) -> Iterator[Problem]:
    if "class" not in stated:
        yield Problem(path, "needs the class of the devices")
    for name, rule in TEXTS.items():
        if at := stated.get(name):
            yield from rule.problems(at.path, at.word)
    if at := stated.get("count"):
        number = integer(at.word)
        if number is None or not 1 <= number <= DEVICES_LIMIT:
            yield Problem(at.path, f"{quote(at.word)} is not a whole number from 1 to {DEVICES_LIMIT}")
