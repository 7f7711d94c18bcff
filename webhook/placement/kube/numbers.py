"""Node labels as whole numbers, for the selector operators Gt and Lt: one numpy column per label key.

A column is made when its key is first compared, and has one entry per node slot.
"""

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from webhook.placement.kube.bits import Bits, from_mask, slots

_INTEGER = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,19})", re.ASCII)
_INT64 = range(-(2**63), 2**63)

_KEYS = 64
"""Columns that are cached: more keys than clusters compare, and few enough that requests cannot fill memory."""


def integer(text: str) -> int | None:
    """The text as a signed 64-bit whole number, as Go's ``strconv.ParseInt`` reads it; ``None`` if it is not one."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, digits = match.groups()
    value = int(f"{sign}{digits or '0'}")
    return value if value in _INT64 else None


class Numbers:
    """Cache of number columns by label key. A column is dropped when a label with its key changes on a node."""

    __slots__ = ("_columns",)

    def __init__(self) -> None:
        self._columns: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]] = {}

    def forget(self, key: str) -> None:
        """Drop the column of the key: a label with that key changed on a node."""
        self._columns.pop(key, None)

    def beyond(self, key: str, by_value: Mapping[str, Bits], bound: int, *, above: bool) -> Bits:
        """Nodes whose label ``key`` is a whole number above (or below) ``bound``.

        ``by_value`` are the nodes with that label by the label's value.
        """
        column = self._columns.get(key)
        numbers, known = self._make(key, by_value) if column is None else column
        return from_mask(((numbers > bound) if above else (numbers < bound)) & known)

    def _make(self, key: str, by_value: Mapping[str, Bits]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        size = max(nodes.bit_length() for nodes in by_value.values())
        numbers, known = np.zeros(size, np.int64), np.zeros(size, np.bool_)
        for value, nodes in by_value.items():
            number = integer(value)
            if number is not None:
                for slot in slots(nodes):
                    numbers[slot], known[slot] = number, True
        if len(self._columns) >= _KEYS:
            self.forget(next(iter(self._columns)))
        self._columns[key] = numbers, known
        return numbers, known
