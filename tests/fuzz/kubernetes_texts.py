"""What must hold of texts that Kubernetes reads: amounts, names, addresses, times, durations, selectors of devices."""

import ipaddress
import math
from fractions import Fraction
from typing import Final

from tests.fuzz.oracles import text_of
from tests.fuzz.second_opinion import opinion
from webhook.placement.annotations.expressions import is_key
from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Version
from webhook.placement.devices.selectors.selector import DeviceBudget, Selector
from webhook.placement.kube.addresses import canonical, parse_address
from webhook.placement.kube.names import LABEL_VALUE, is_namespace, is_object_name
from webhook.placement.kube.quantity import LENGTH_LIMIT, NANO, format_quantity, parse_quantity
from webhook.placement.kube.resource_name import is_resource, page_size
from webhook.placement.kube.timestamps import seconds_of, time_of, timestamp
from webhook.server.http import request_target

_LARGEST_EXPONENT = 128
_LARGEST_AMOUNT = 10**_LARGEST_EXPONENT * NANO
_LONGEST_DURATION = 64
_LARGEST_DURATION = (2**63 - 1) / 1e9 * 0.999
_YEARS = range(-62_135_596_800, 253_402_300_800)
"""Seconds since 1970 of the years 1 to 9999."""


def quantity(data: bytes) -> None:
    """The amount is that of Kubernetes, and what is written reads as the same amount, also to Kubernetes."""
    text = text_of(data)
    nano = parse_quantity(text)
    if nano is not None:
        written = format_quantity(nano)
        assert parse_quantity(written) == nano, written
        answer = opinion("quantity", written)
        assert answer is None or _nano(answer) == nano, f"{written}: {answer}"
    answer = opinion("quantity", text)
    if answer is None or len(text) > LENGTH_LIMIT or (nano is None and (_huge(text) or not _has_digits(text))):
        return
    if nano is None and answer[0] and abs(_nano(answer)) > _LARGEST_AMOUNT:
        return
    assert (nano is not None) == answer[0], f"{nano}: {answer}"
    assert nano is None or nano == _nano(answer), f"{nano}: {answer}"


def _nano(answer: list[str]) -> Fraction:
    return Fraction(answer[1]) * NANO


def _has_digits(text: str) -> bool:
    """Whether there is a digit before the suffix: Kubernetes reads some texts without one as 0."""
    return text.lstrip("+-.")[:1].isdecimal()


def _huge(text: str) -> bool:
    """Whether an exponent is beyond the limit that the product has, and Kubernetes has not."""
    _, separator, exponent = text.lower().rpartition("e")
    return bool(separator) and exponent.removeprefix("+").isdecimal() and int(exponent) > _LARGEST_EXPONENT


def address(data: bytes) -> None:
    """An address is one to Go, too, and its canonical spelling is that of the same address."""
    text = text_of(data)
    address = parse_address(text)
    assert canonical(text) == (address.text if address and address.prefix is None else None)
    if address is not None and address.prefix is None:
        assert parse_address(address.text) == address
    answer = opinion("address", text)
    if answer is None or "/" in text:
        return
    assert (address is not None) == answer[0] or "%" in text, f"{address}: {answer}"
    if address is not None and answer[0]:
        body, _, zone = address.text.partition("%")
        assert (_sixteen(body), zone) == (answer[1], answer[2]), f"{address}: {answer}"


def _sixteen(text: str) -> str:
    parsed = ipaddress.ip_address(text)
    packed = parsed.packed if parsed.version == 6 else bytes(10) + b"\xff\xff" + parsed.packed
    return packed.hex()


def names(data: bytes) -> None:
    """Names, keys and values are legal where they are to the API server."""
    text = text_of(data)
    for question, legal in (
        ("subdomain", is_object_name(text)),
        ("label", is_namespace(text)),
        ("key", is_key(text)),
        ("value", LABEL_VALUE.fullmatch(text) is not None),
    ):
        answer = opinion(question, text)
        assert answer is None or answer[0] == legal, f"{question}: {legal}, the API server {answer}"


def resource(data: bytes) -> None:
    """A container can request a resource where the API server takes the request."""
    text = text_of(data)
    answer = opinion("resource", text, str(page_size(text) or 1))
    if answer is None or text == "cpu" or "kubernetes.io/" in text:  # names of Kubernetes' own, which no node has
        return
    if answer[0] and text.startswith("hugepages-"):  # Kubernetes rounds parts of a byte, and no node has such pages
        return
    assert answer[0] == is_resource(text), f"{is_resource(text)}: {answer}"


def time(data: bytes) -> None:
    """A time is read as the API server reads it, and written so that it reads as the same second."""
    text = text_of(data)
    seconds, moment = seconds_of(text), time_of(text)
    assert (seconds is None) == (moment is None)
    if seconds is not None and moment is not None:
        written = timestamp(moment)
        assert seconds_of(written) == math.floor(seconds), written
        answer = opinion("time", written)
        assert answer is None or answer[0], f"the API server does not read {written}"
    answer = opinion("time", text)
    if answer is not None and answer[0] and int(answer[1]) in _YEARS:
        assert seconds is not None, f"{answer}"
        assert math.floor(seconds) == int(answer[1]), f"{seconds}: {answer}"


def duration(data: bytes) -> None:
    """The time-out of a request is the duration that Go reads."""
    text = text_of(data)
    seconds = request_target.seconds(text)
    target = request_target.parse(text)
    assert target.timeout is None or 0 < target.timeout < math.inf
    answer = opinion("duration", text)
    if answer is None or len(text) > _LONGEST_DURATION or text[:1] in {"+", "-"}:  # Go reads signs, and writes none
        return
    if not answer[0]:
        assert seconds is None or seconds > _LARGEST_DURATION, f"{seconds}: {answer}"
        return
    assert math.isclose(seconds or 0.0, int(answer[1]) / 1e9, rel_tol=1e-9, abs_tol=2e-9), f"{seconds}: {answer}"


_DEVICE: Final = Device(
    "gpu-0",
    (Attribute("model", "A100"), Attribute("numa", 1), Attribute("version", Version("1.2.3"))),
    (DeviceCapacity("memory", 40 * 2**30 * NANO),),
)


def device_selector(data: bytes) -> None:
    """An expression that can be read answers, or not, in the time that the budget allows, and twice alike."""
    found = Selector(text_of(data))
    answer = found.matches("gpu.example.com", _DEVICE, DeviceBudget())
    assert found.read is not None or answer is None
    assert found.matches("gpu.example.com", _DEVICE, DeviceBudget()) is answer
