"""The resources that a Job states for its processing elements, divided among them (``docs/jobs.md``, resources).

Amounts are exact integers of nano-units until they are written.
"""

from collections.abc import Iterator
from typing import Final

from webhook.placement.kube.pod import Amount, Resources
from webhook.placement.kube.quantity import INT64, NANO, format_quantity, parse_quantity
from webhook.placement.kube.resource_name import CPU, indivisible, is_resource, page_size
from webhook.placement.text.problem import Problem, counted, quote

_MILLI = NANO // 1000

PARTS = ("requests", "limits")
"""The two parts of resources."""

AMOUNTS_LIMIT: Final = 100
"""Maximum number of amounts that a Job or an element states: each of its pods is judged by all of them."""


def parse_requests(text: str) -> Resources:
    """The requests in a text such as ``cpu=100m,memory=128Mi``; raises ``ValueError`` with all mistakes."""
    amounts: dict[str, Amount] = {}
    mistakes: list[str] = []
    for part in text.split(",") if text.strip() else ():
        name, equals, amount = (word.strip() for word in part.partition("="))
        if not equals or not name or not amount:
            mistakes.append(f'{quote(part.strip())} is not a request such as "cpu=100m"')
        elif name in amounts:
            mistakes.append(f"{quote(part.strip())} requests {name} again")
        amounts.setdefault(name, amount)
    mistakes += (problem.message for problem in problems_of_resources(Resources(amounts), "")) if not mistakes else ()
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return Resources(amounts)


def problems_of_resources(resources: Resources, path: str) -> Iterator[Problem]:
    """A problem for each amount that is not a quantity or is negative, and for each request beyond its limit.

    Of more than :data:`AMOUNTS_LIMIT` amounts that is the only problem.
    """
    count = len(resources.requests or ()) + len(resources.limits or ())
    if count > AMOUNTS_LIMIT:
        yield Problem(path, f"has {count} amounts of resources, at most {AMOUNTS_LIMIT} are allowed")
        return
    for part in PARTS:
        for name, amount in (getattr(resources, part) or {}).items():
            nano = parse_quantity(amount)
            if not is_resource(name):
                yield Problem(f"{path}.{part}[{name}]", f"{quote(name)} is not a resource that a container can request")
            elif nano is None or not 0 <= nano <= INT64 * NANO:
                yield Problem(f"{path}.{part}[{name}]", f"{quote(str(amount))} is not an amount of 0 or more")
    for name, limit in (resources.limits or {}).items():
        asked = (resources.requests or {}).get(name)
        most, least = parse_quantity(limit), None if asked is None else parse_quantity(asked)
        if most is None or least is None:
            continue
        if least > most:
            message = f"{quote(str(asked))} is more than the limit, {quote(str(limit))}"
            yield Problem(f"{path}.requests[{name}]", message)
        elif least < most and indivisible(name):
            message = f"{quote(str(asked))} is not the limit, {quote(str(limit))}: {name} cannot be overcommitted"
            yield Problem(f"{path}.requests[{name}]", message)


def divided(resources: Resources, count: int, path: str) -> tuple[Resources, tuple[Problem, ...]]:
    """One of ``count`` equal shares of the resources, requests and limits alike, and why some cannot be divided.

    Shares are rounded down to milli-CPU and bytes. Devices and huge pages must divide exactly. A share of nothing is a
    problem. ``path`` is the path of the resources in messages; they must have no :func:`problems_of_resources`.
    """
    problems: list[Problem] = []
    parts: list[dict[str, Amount]] = []
    for part in PARTS:
        shares: dict[str, Amount] = {}
        for name, amount in (getattr(resources, part) or {}).items():
            nano = parse_quantity(amount) or 0
            share, fault = _share(name, nano, count)
            if fault:
                among = f"{quote(str(amount))} among {counted(count, 'processing element')}"
                problems.append(Problem(f"{path}.{part}[{name}]", f"{among} {fault}"))
            else:
                shares[name] = format_quantity(share)
        parts.append(shares)
    requests, limits = (part or None for part in parts)
    return Resources(requests, limits), tuple(problems)


def _share(name: str, nano: int, count: int) -> tuple[int, str]:
    """One share of the amount, and what is wrong with it."""
    unit = _MILLI if name == CPU else (page_size(name) or 1) * NANO
    share = nano // unit // count * unit
    if indivisible(name) and share * count != nano:
        whole = f"pages of {name.partition('-')[2]}" if page_size(name) else "whole pieces"
        return share, f"does not divide into {whole}: state a multiple of {format_quantity(count * unit)}"
    if not share:
        return share, f"leaves nothing for each: state at least {format_quantity(count * unit)}"
    return share, ""
