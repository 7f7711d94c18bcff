"""Conversions of texts, as the command line asks for them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from webhook.convert.conversion import ConvertOptions, Input, convert
from webhook.convert.findings import Conversion, Manifest
from webhook.convert.input_kind import InputKind
from webhook.convert.targets import Targets
from webhook.placement.fusion.application import PARTITION, application_of
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.spl.placement import format_placement


def converted(
    text: str | bytes, kind: str, *, name: str | None = None, onto: Sequence[Manifest] = (), file: str = "in"
) -> Conversion:
    """The conversion of a text of that kind."""
    content = text if isinstance(text, bytes) else text.encode()
    targets = Targets([("onto.yaml", one) for one in onto]) if onto else None
    return convert([Input(file, content, InputKind(kind))], ConvertOptions(name, None, targets))[0]


def refusals(text: str | bytes, kind: str, **options: Any) -> list[str]:
    """The problems of a text that is refused, each with its line."""
    found = converted(text, kind, **options)
    assert found.manifests == ()
    return [f"{problem.field}: {problem.message}" for problem in found.problems]


def remarks(conversion: Conversion) -> list[str]:
    """The remarks as they are printed, with ``lost`` in front of lost demands."""
    return [f"{'lost ' if remark.demand else ''}{remark}" for remark in conversion.remarks]


def operators(*texts: str) -> dict[str, str | None]:
    """The operators of the only Job of these SPL programs in all channels, and their clauses about hosts."""
    (job,) = [manifest for one in together(*texts) for manifest in one.manifests]
    return {
        one.name: format_placement(clause for clause in one.clauses if clause.name not in PARTITION) or None
        for one in application_of(msgspec.convert(job["spec"], JobSpec)).operators
    }


def together(*texts: str, primitives: frozenset[str] = frozenset()) -> list[Conversion]:
    """The conversions of SPL programs that are given together: ``in``, ``in2``, ``in3``."""
    inputs = [Input(f"in{at + 1 if at else ''}", text.encode(), InputKind.SPL) for at, text in enumerate(texts)]
    return convert(inputs, ConvertOptions(primitives=primitives))


def lost(*texts: str) -> list[str]:
    """What of these SPL programs is lost."""
    return [str(remark) for one in together(*texts) for remark in one.remarks if remark.demand]
