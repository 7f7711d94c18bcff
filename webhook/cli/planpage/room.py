"""Amounts of a resource of a node in one unit, which is that of what the node offers: ``7.8`` of ``8``."""

from typing import Final

from webhook.placement.kube.quantity import NANO, parse_quantity

_UNITS: Final = (("", 1), ("Mi", 1 << 20), ("Gi", 1 << 30), ("Ti", 1 << 40), ("Pi", 1 << 50), ("Ei", 1 << 60))
"""Units with what they are worth. Amounts of bytes reach 2**20, counts of cores and devices do not."""

_DECIMALS: Final = 3
"""Cores are counted in thousandths; of larger units it is what people can read."""


def room(free: str, offers: str) -> str:
    """What is free beside what the node offers: ``7.8 of 8``, ``31.875Gi of 32Gi``."""
    return " of ".join(in_unit_of(offers, (free, offers)))


def in_unit_of(offers: str, amounts: tuple[str, ...]) -> tuple[str, ...]:
    """The quantities in the largest unit that ``offers`` has one of, rounded down to thousandths.

    They stay as they are if one of them is not a quantity.
    """
    whole = parse_quantity(offers)
    nanos = [nano for each in amounts if (nano := parse_quantity(each)) is not None]
    if whole is None or len(nanos) < len(amounts):
        return amounts
    suffix, unit = [each for each in _UNITS if each[1] * NANO <= max(whole, NANO)][-1]
    return tuple(_decimal(nano, unit) + suffix * (nano != 0) for nano in nanos)


def _decimal(nano: int, unit: int) -> str:
    """The amount in the unit, with at most three decimals."""
    whole, fraction = divmod(abs(nano) * 10**_DECIMALS // (unit * NANO), 10**_DECIMALS)
    return "-" * (nano < 0) + f"{whole}.{fraction:0{_DECIMALS}}".rstrip("0").rstrip(".")
