"""Kubernetes quantities (``500m``, ``64Gi``) read and written as exact integers of nano-units.

A nano-unit is 10**-9 of a core, byte or piece. Syntax and rounding are those of Quantity in
``k8s.io/apimachinery/pkg/api/resource``: fractions of a nano-unit are rounded away from zero, and amounts with a binary
suffix are cut to 2**63 - 1.
"""

import functools
import re
from typing import Final

from webhook.placement.kube.pod import Amount

NANO: Final = 10**9
"""Nano-units in a unit."""
INT64: Final = 2**63 - 1
"""The largest amount of whole units that Kubernetes counts with."""
LENGTH_LIMIT: Final = 64
"""Characters of a quantity that is read; 2**63 - 1 with nine decimals has 29."""

_EXPONENT_LIMIT = 128
"""Largest exponent that is read. Below its negative, an amount of 64 characters is always under a nano-unit."""

_LARGEST: Final = 10**_EXPONENT_LIMIT * NANO
"""The largest amount, which is written with the largest exponent."""

_ZEROS: Final = 2
"""Most zeros written before a decimal suffix: three zeros make the next suffix."""

_QUANTITY = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]+))?", re.ASCII
)
_BINARY: dict[str, int] = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL: dict[str, int] = {letter: 3 * power for power, letter in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)}
_SUFFIXES: dict[int, str] = {power: suffix for suffix, power in _DECIMAL.items()}


def parse_quantity(amount: Amount) -> int | None:
    """The amount in nano-units, exactly; ``None`` if it is not a quantity.

    Text is read as Kubernetes reads it, except that texts over ``LENGTH_LIMIT`` characters, exponents over 128,
    amounts over 10**128, and texts without a digit (Kubernetes reads ``m`` as 0) are not quantities. A JSON number is
    read as its shortest decimal text. NaN, infinities and booleans are not quantities.
    """
    if isinstance(amount, str):
        return _parse(amount) if len(amount) <= LENGTH_LIMIT else None
    if isinstance(amount, bool):
        return None
    if isinstance(amount, int):
        return amount * NANO if abs(amount) < 10**LENGTH_LIMIT else None
    return _parse(repr(amount))


def milli(nano: int) -> int:
    """An amount of nano-units in milli-units, rounded away from zero and cut to the range of an int64."""
    return _scaled(nano, NANO // 1000)


def whole(nano: int) -> int:
    """An amount of nano-units in whole units, rounded away from zero and cut to the range of an int64."""
    return _scaled(nano, NANO)


@functools.lru_cache(maxsize=4096)
def format_quantity(nano: int) -> str:
    """The shortest text that parses back to the same amount: ``1500m``, ``800M``, ``64Gi``, ``0``.

    Binary suffixes are used from 2**20 on, which amounts of bytes reach and counts of cores or devices do not.
    Exponents are used only beyond the largest suffix.
    """
    if nano == 0:
        return "0"
    sign, size = ("-", -nano) if nano < 0 else ("", nano)
    digits = str(size).rstrip("0")
    exponent = len(str(size)) - len(digits) + _DECIMAL["n"]
    power = min(exponent // 3 * 3, _DECIMAL["E"])
    suffix = _SUFFIXES[power]
    zeros = exponent - power
    forms = [f"{digits}e{exponent}" if zeros > _ZEROS else f"{digits}{'0' * zeros}{suffix}"]
    value, fraction = divmod(size, NANO)
    if fraction == 0 and _BINARY["Mi"] <= value <= INT64:
        forms += [f"{value // factor}{suffix}" for suffix, factor in _BINARY.items() if value % factor == 0]
    return sign + min(forms, key=len)


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> int | None:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    sign, integer, decimals, binary, suffix, exponent = match.groups("")
    power = int(exponent) if exponent else _DECIMAL[suffix]
    if power > _EXPONENT_LIMIT:
        return None
    mantissa = int(integer + decimals) * _BINARY.get(binary, 1)
    nano = _shifted(mantissa, max(power, -_EXPONENT_LIMIT) - len(decimals) - _DECIMAL["n"])
    if binary:
        nano = min(nano, INT64 * NANO)
    if nano > _LARGEST:
        return None
    return -nano if sign == "-" else nano


def _shifted(value: int, power: int) -> int:
    """``value * 10**power`` for a value of 0 or more, rounded up."""
    factor: int = 10 ** abs(power)
    return value * factor if power >= 0 else -(-value // factor)


def _scaled(nano: int, unit: int) -> int:
    size = min(-(-abs(nano) // unit), INT64)
    return -size if nano < 0 else size
