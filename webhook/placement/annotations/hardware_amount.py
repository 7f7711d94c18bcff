"""Parser of a hardware requirement's amounts: the fields ``requests``, ``limits`` and ``units``, as nano-units."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from webhook.placement.annotations.hardware_fields import Fields, ParsedField
from webhook.placement.kube.quantity import INT64, NANO, format_quantity, parse_quantity
from webhook.placement.kube.resource_name import CPU, DEFAULT_UNIT, UNITS, in_bytes, indivisible, page_size
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

_MILLI: Final = NANO // 1000


class Amounts(NamedTuple):
    """Request and limit of a container in nano-units; a limit of ``None`` is unlimited."""

    requests: int
    limits: int | None


def read_amounts(name: str, fields: Fields, path: str) -> tuple[Amounts | None, list[Problem]]:
    """The amounts of the resource ``name``, or ``None`` and all problems; ``path`` is that of the requirement.

    A limit without a request is also the request; a request for a device or huge pages is also the limit.
    """
    units = fields.get("units")
    problems = list(_units(name, units))
    amounts: dict[str, int] = {}
    stated = () if problems else ("requests", "limits")  # without a valid unit the amounts cannot be read
    for field in stated:
        amount = fields.get(field)
        if amount:
            nano = _nanos(name, amount.word, units)
            rule = _rule(name, amount.word, nano, units)
            problems += [Problem(amount.path, rule)] if rule else []
            amounts[field] = nano or 0
    if not {"requests", "limits"} & fields.keys():
        problems.append(Problem(path, f"needs requests or limits: how much of {name}"))
    if problems:
        return None, problems
    requests = amounts.get("requests", amounts.get("limits", 0))
    limits = amounts.get("limits", requests if indivisible(name) else None)
    return _checked(name, Amounts(requests, limits), fields)


def _checked(name: str, amounts: Amounts, fields: Fields) -> tuple[Amounts | None, list[Problem]]:
    requests, limits = amounts
    if limits is None or requests == limits:
        return amounts, []
    asked, most = format_quantity(requests), format_quantity(limits)
    if indivisible(name):
        rule = f"requests {asked} and limits {most} of {name} must be equal: this resource cannot be overcommitted"
    elif requests > limits:
        rule = f"requests {asked} of {name} are more than limits {most}"
    else:
        return amounts, []
    return None, [Problem(fields["requests"].path, rule)]


def _units(name: str, units: ParsedField | None) -> Iterator[Problem]:
    if units is None:
        return
    if not in_bytes(name):
        what = "cores" if name == CPU else "pieces"
        yield Problem(units.path, f"amounts of {name} are {what}, they have no units")
    elif units.word not in UNITS:
        yield Problem(units.path, unknown("unit", units.word, UNITS))


def _nanos(name: str, word: str, units: ParsedField | None) -> int | None:
    """The amount in nano-units: ``units`` apply to a bare number of bytes, not to one with a suffix."""
    nano = parse_quantity(word)
    if nano is None or not in_bytes(name) or not _bare(word):
        return nano
    unit: int = UNITS[units.word if units else DEFAULT_UNIT]
    return nano * unit


def _rule(name: str, word: str, nano: int | None, units: ParsedField | None) -> str:
    """The message about a wrong amount; empty if the amount is right."""
    if nano is None:
        return f"{quote(word)} is not a Kubernetes quantity"
    if units and not _bare(word):
        return f"{quote(word)} already has a suffix: remove units {units.word}"
    if not 0 < nano <= INT64 * NANO:
        return f"{quote(word)} is {'too much' if nano > 0 else 'not more than 0'}"
    if name == CPU:
        return "" if nano % _MILLI == 0 else f"{quote(word)} is finer than a thousandth of a core"
    page = page_size(name)
    if page and nano % (page * NANO):
        return f"{quote(word)} is not a whole number of pages of {name.partition('-')[2]}"
    return f"{quote(word)} is not a whole number of {'bytes' if in_bytes(name) else 'pieces'}" if nano % NANO else ""


def _bare(word: str) -> bool:
    """Whether the amount is a number without a suffix."""
    return word[-1:].isdigit() or word.endswith(".")
