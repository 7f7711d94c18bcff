"""CEL selectors of devices, compiled once and evaluated once for all devices that look alike to them.

Source: ``dynamic-resource-allocation/cel/compile.go`` of Kubernetes. The library is imported with the first selector.
"""

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Version
from webhook.placement.devices.selectors import ordered_values
from webhook.placement.devices.selectors.expression import Reads, reads
from webhook.placement.libraries import IMPORTING

if TYPE_CHECKING:
    from cel_expr_python import cel

_COMPILED: Final = 512
"""Maximum number of compiled expressions kept."""

_KEPT: Final = 8192
"""Maximum number of cached answers of an expression."""

_DRIVERS, _NAMES = 16, 1024
"""Maximum number of drivers, and of attribute names of each driver, cached for an expression."""

EVALUATIONS: Final = 1250
"""What one decision spends on expressions, and on looks at nodes: some 4 ms, since a unit is about 3 microseconds.

What is found out is kept, so the next decision gets further.
"""

STEPS: Final = 20_000
"""Maximum number of devices that one decision tries in searches: some 100 ms."""

NODES: Final = 32
"""On so many nodes with different devices one decision tries to allocate, if the rest of its budget allows that."""

_UNHURRIED: Final = 200
"""Factor for expressions and nodes if no other review waits; the factor for devices is 20."""

Answer = bool | None
"""Whether a device meets an expression; ``None`` if that is not known: the evaluation failed, or was not made."""

_Entries = dict[str, dict[str, object]]
"""Attributes or capacities by domain and id."""

_Names = dict[str, tuple[str, str] | None]
"""Domain and identifier by name of an attribute or capacity; ``None`` if the expression does not read it."""


class _ReadEntries(NamedTuple):
    """The attributes and capacities of a device that an expression may read, each with its domain and id."""

    attributes: list[tuple[tuple[str, str], Attribute]]
    capacity: list[tuple[tuple[str, str], DeviceCapacity]]

    def key(self, driver: str, device: Device) -> tuple[object, ...]:
        """What devices agree in that give the same answer; ``True`` differs from 1."""
        key: list[object] = [driver, device.traits.shared]
        for _, attribute in self.attributes:
            key += (attribute.name, attribute.value.__class__, attribute.value)
        for _, offered in self.capacity:
            key += (offered.name, offered.amount)
        return tuple(key)


class DeviceBudget:
    """What a decision may still spend on expressions and looks, how many devices it may try, and on how many nodes.

    Nodes with equal devices count once.
    """

    __slots__ = ("_first", "evaluations", "nodes", "steps")

    def __init__(self, evaluations: int = EVALUATIONS, steps: int = STEPS, nodes: int = NODES) -> None:
        self._first = evaluations, steps, nodes
        self.evaluations = evaluations
        self.steps = steps
        self.nodes = nodes

    @classmethod
    def unhurried(cls) -> "DeviceBudget":
        """That of a program which answers one question: some seconds, or 6,400 nodes with different devices."""
        return cls(*(_UNHURRIED * each for each in (EVALUATIONS, STEPS // 10, NODES)))

    def renew(self) -> None:
        """Allow as much as at first: each template of a group of pods may cost as much as a pod."""
        self.evaluations, self.steps, self.nodes = self._first

    def renew_nodes(self) -> None:
        """Allow as many expressions and nodes as at first, but try no more devices than are left."""
        self.evaluations, _, self.nodes = self._first

    @property
    def exhausted(self) -> bool:
        """Whether no more expressions are evaluated, or no more devices tried."""
        return self.evaluations <= 0 or self.steps <= 0

    @property
    def spent(self) -> bool:
        """Whether nothing more is found out in this decision."""
        return self.nodes <= 0 or self.exhausted


class Selector:
    """An expression with the answers that it gave; one that cannot be read answers ``None``."""

    __slots__ = ("_answers", "_names", "_program", "_reads")

    def __init__(self, expression: str) -> None:
        self._reads = reads(expression)
        self._program = None if self._reads is None else _compiled(expression)
        self._answers: dict[tuple[object, ...], Answer] = {}
        self._names: dict[str, tuple[_Names, _Names]] = {}

    @property
    def read(self) -> Reads | None:
        """What the expression reads of a device; ``None`` if it cannot be evaluated."""
        return None if self._program is None else self._reads

    def matches(self, driver: str, device: Device, budget: DeviceBudget) -> Answer:
        """Whether the device of that driver meets the expression."""
        if self._reads is None or self._program is None:
            return None
        entries = self._entries_of(self._reads, driver, device)
        key, answers = entries.key(driver, device), self._answers
        if key in answers:
            return answers[key]
        if budget.evaluations <= 0:
            return None
        budget.evaluations -= self._reads.cost
        if len(answers) >= _KEPT:  # another thread may be about to read one
            answers = self._answers = {}
        answer = answers[key] = _evaluated(self._program, self._reads, driver, entries, device)
        return answer

    def _entries_of(self, read: Reads, driver: str, device: Device) -> "_ReadEntries":
        """The entries of the device that the expression may read. Names are compared with what it reads once."""
        attributes, capacity = self._names_of(driver)
        for entry in device.attributes:
            if entry.name not in attributes:
                attributes[entry.name] = _read(read, read.attributes, *qualified(entry.name, driver))
        for offered in device.capacity:
            if offered.name not in capacity:
                capacity[offered.name] = _read(read, read.capacity, *qualified(offered.name, driver))
        return _ReadEntries(
            [(name, entry) for entry in device.attributes if (name := attributes[entry.name])],
            [(name, offered) for offered in device.capacity if (name := capacity[offered.name])],
        )

    def _names_of(self, driver: str) -> tuple["_Names", "_Names"]:
        """What is known of the names of attributes and capacities of a driver."""
        known = self._names.get(driver)
        if known is None or max(map(len, known)) > _NAMES:
            if len(self._names) >= _DRIVERS:
                self._names.clear()
            known = self._names[driver] = {}, {}
        return known


@functools.lru_cache(maxsize=_COMPILED)
def selector(expression: str) -> Selector:
    """The compiled expression; it is kept, with its answers."""
    return Selector(expression)


def _read(read: Reads, domains: tuple[str, ...], domain: str, name: str) -> tuple[str, str] | None:
    return (domain, name) if read.has(domains, domain, name) else None


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Domain and id of the name of an attribute or capacity; without a domain it is in that of the driver."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _evaluated(program: "cel.Expression", read: Reads, driver: str, entries: "_ReadEntries", device: Device) -> Answer:
    """What the expression says of the device with these entries; a domain that the device does not have is empty."""
    attributes: _Entries = {domain: {} for domain in read.attributes}
    capacity: _Entries = {domain: {} for domain in read.capacity}
    try:
        for (domain, identifier), attribute in entries.attributes:
            attributes[domain][identifier] = _native(attribute.value)
    except (TypeError, ValueError):
        return None
    for (domain, identifier), offered in entries.capacity:
        capacity[domain][identifier] = ordered_values.of_amount(offered.amount)
    facts = {
        "driver": driver,
        "allowMultipleAllocations": device.traits.shared,
        "attributes": attributes,
        "capacity": capacity,
    }
    try:
        answer = program.eval(data={"device": facts}).value()
    except TypeError:  # a value that Python does not have, such as an optional one
        return None
    return answer if isinstance(answer, bool) else None


def _native(value: object) -> object:
    """The value of an attribute as CEL has it; an error if it is a list, or of a type that is not known here."""
    if isinstance(value, Version):
        return ordered_values.version(value.text)
    if isinstance(value, (bool, int, str)):
        return value
    raise TypeError(value)


def _compiled(expression: str) -> "cel.Expression | None":
    """The program of the expression; ``None`` if it cannot be compiled here."""
    try:
        return _environment().compile(expression)
    except (RuntimeError, TypeError):  # what the library raises; the second for text that is not Unicode
        return None


@functools.cache
def _environment() -> "cel.Env":
    """The functions that selectors call. The library takes 15 ms and 15 MB, in clusters that have selectors alone."""
    with IMPORTING:
        from cel_expr_python import cel  # noqa: PLC0415 -- see above
        from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings  # noqa: PLC0415 -- see above

    types = cel.Type
    of_text = {
        "quantity": (types.BYTES, ordered_values.quantity),
        "isQuantity": (types.BOOL, ordered_values.is_quantity),
        "semver": (types.BYTES, ordered_values.version),
        "isSemver": (types.BOOL, ordered_values.is_version),
    }
    of_two = {
        "compareTo": (types.INT, ordered_values.compare),
        "isGreaterThan": (types.BOOL, lambda left, right: ordered_values.compare(left, right) > 0),
        "isLessThan": (types.BOOL, lambda left, right: ordered_values.compare(left, right) < 0),
    }
    of_one = {
        name: (types.INT, functools.partial(ordered_values.number, index=index))
        for index, name in enumerate(("major", "minor", "patch"))
    }
    return cel.NewEnv(
        variables={"device": types.DYN},
        extensions=[ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()],
        functions=[
            cel.FunctionDecl(name, [cel.Overload(name, result, parameters, is_member=member, impl=impl)])
            for functions, parameters, member in (
                (of_text, [types.STRING], False),
                (of_two, [types.BYTES, types.BYTES], True),
                (of_one, [types.BYTES], True),
            )
            for name, (result, impl) in functions.items()
        ],
    )
