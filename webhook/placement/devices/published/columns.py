"""Columns: what all devices of a slice have of one kind, such as an attribute of one name, in the order of devices.

A cluster has tens of thousands of devices, and nodes of one model publish the same of them but for serial numbers. So a
column that several slices have is one object, with a number by which slices are compared.
"""

from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Column(Struct, Generic[T], gc=False, eq=False):
    """A column that so many slices have; ``content`` are its values, and what tells apart those that compare equal.

    The ``number`` stands for this content alone, and for no other one later on.
    """

    content: tuple[tuple[T, ...], object]
    number: int
    slices: int = 0

    @property
    def values(self) -> tuple[T, ...]:
        """A value for each device."""
        return self.content[0]


class SharedColumns:
    """The columns of all slices, of equal ones one."""

    __slots__ = ("_columns", "_last")

    def __init__(self) -> None:
        self._columns: dict[tuple[tuple[Any, ...], object], Column[Any]] = {}
        self._last = 0

    def take(self, values: tuple[T, ...], types: object = None) -> Column[T]:
        """The column of these values, for one slice more; ``types`` tell ``True`` from 1."""
        content = values, types
        column = self._columns.get(content)
        if column is None:
            self._last += 1
            column = self._columns[content] = Column(content, self._last)
        column.slices += 1
        return column

    def give_back(self, column: Column[Any]) -> None:
        """One slice less has the column; without slices it is forgotten."""
        column.slices -= 1
        if not column.slices:
            del self._columns[column.content]
