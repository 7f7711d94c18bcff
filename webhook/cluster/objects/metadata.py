"""What objects of all kinds share: their metadata, faults that make one unusable, and notes on what was left out."""

from collections.abc import Iterable
from itertools import islice

from msgspec import Raw

from webhook.cluster.objects import wire
from webhook.placement.text.problem import quote

Notes = list[str]
"""Parts of an object that were left out, and why: a path, then the reason."""

NAMESPACE = "default"
"""Where an object without a namespace belongs, as for ``kubectl apply``."""

_FAULTS_SHOWN = 5
"""Faults named of one object; a list of 5,000 hosts can have as many."""


class MalformedError(Exception):
    """The object breaks a rule of its own, so it cannot be used; the text names the fields."""


def json_of(item: object) -> Raw:
    """The item of a watch, which is JSON text; raises :class:`MalformedError` for one of a snapshot."""
    if not isinstance(item, Raw):
        raise MalformedError("not from an API server")
    return item


def full_name(metadata: wire.ObjectMetadata | None) -> str:
    """``namespace/name`` of an object of a namespace; raises :class:`MalformedError` if it has no name."""
    stated, name = metadata_of(metadata)
    return f"{stated.namespace or NAMESPACE}/{name}"


def metadata_of(stated: wire.ObjectMetadata | None) -> tuple[wire.ObjectMetadata, str]:
    """The metadata and the name in it; raises :class:`MalformedError` if there is no name."""
    if stated is None or not stated.name:
        raise MalformedError("metadata.name: missing")
    return stated, stated.name


def refuse(faults: Iterable[str]) -> None:
    """Raise :class:`MalformedError` that names the first of the faults, if there are any, and counts the others."""
    remaining = iter(faults)
    shown = list(islice(remaining, _FAULTS_SHOWN))
    if shown:
        more = sum(1 for _ in remaining)
        raise MalformedError("; ".join(shown) + (f"; and {more} more" if more else ""))


def uncounted(path: str, value: str) -> str:
    """The note on an amount that is not a quantity."""
    return f"{path}: {quote(value)} is not a quantity, it counts as 0"
