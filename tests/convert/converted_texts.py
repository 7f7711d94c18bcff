"""Conversions of texts, as the command line asks for them."""

from collections.abc import Sequence
from typing import Any

from webhook.convert.conversion import ConvertOptions, InputKind, convert
from webhook.convert.findings import Conversion, Manifest
from webhook.convert.targets import Targets


def converted(
    text: str | bytes, kind: str, *, name: str | None = None, onto: Sequence[Manifest] = (), file: str = "in"
) -> Conversion:
    """The conversion of a text of that kind."""
    content = text if isinstance(text, bytes) else text.encode()
    targets = Targets([("onto.yaml", one) for one in onto]) if onto else None
    return convert(file, content, InputKind(kind), ConvertOptions(name, None, targets))


def refusals(text: str | bytes, kind: str, **options: Any) -> list[str]:
    """The problems of a text that is refused, each with its line."""
    found = converted(text, kind, **options)
    assert found.manifests == ()
    return [f"{problem.field}: {problem.message}" for problem in found.problems]


def remarks(conversion: Conversion) -> list[str]:
    """The remarks as they are printed, with ``lost`` in front of lost demands."""
    return [f"{'lost ' if remark.demand else ''}{remark}" for remark in conversion.remarks]
