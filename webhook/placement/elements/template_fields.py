"""Fields of a pod template that Kubernetes does not know, such as ``nodeSelektor``.

The CustomResourceDefinitions keep templates unchecked, and an API server drops what it does not know of a pod. The
table is that of one version of Kubernetes: a later one may know more, so only the API server can tell for certain.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from webhook.placement.kube.pod_fields import ROOT, TABLE
from webhook.placement.objects.jobs.job_spec import ElementSpec
from webhook.placement.planning.search.steps import Steps
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import Problem

LIMIT: Final = 32
"""Unknown fields of one Job that are named."""

_LIST: Final = "[]"

Types = Mapping[str, Mapping[str, str]]
"""Type names to their fields; each field has its type, followed by ``[]`` for a list, empty for texts and maps."""

Names = tuple[str, ...]
"""The names of the fields from the template down to one, without places in lists."""


class UnknownField(Struct, frozen=True, gc=False):
    """A field at ``path``, below the template of an element; ``meant`` is the known field that is most like it."""

    path: str
    names: Names
    meant: str | None

    @property
    def problem(self) -> Problem:
        """The problem that the field is."""
        said = f", did you mean {self.meant}?" if self.meant else ""
        return Problem(self.path, f"unknown field{said}")


@functools.cache
def types() -> Types:
    """The table of fields."""
    by_type: dict[str, dict[str, str]] = {}
    known: dict[str, str] = {}
    for word in TABLE.split():
        if word.endswith(":"):
            known = by_type.setdefault(word[:-1], {})
        else:
            field, _, inner = word.partition("=")
            known[field] = inner
    return by_type


def unknown_fields(template: object, path: str) -> Iterator[UnknownField]:
    """The fields of the template at ``path`` that are not in the table; nothing below such a field is looked at."""
    return _unknown(template, ROOT, path, ())


def _unknown(value: object, kind: str, path: str, names: Names) -> Iterator[UnknownField]:
    if isinstance(value, list):
        for place, each in enumerate(value):
            yield from _unknown(each, kind, f"{path}[{place}]", names)
    elif isinstance(value, dict):
        known = types()[kind]
        for field, inner in value.items():
            if field not in known:
                yield UnknownField(f"{path}.{field}", (*names, field), nearest(field, known))
            elif known[field] and inner:
                yield from _unknown(inner, known[field].removesuffix(_LIST), f"{path}.{field}", (*names, field))


def unknown_field_steps(elements: Iterable[tuple[str, ElementSpec]]) -> Steps[list[UnknownField]]:
    """The unknown fields of the elements' templates, each given with its path, up to :data:`LIMIT`, found in steps."""
    unknown: list[UnknownField] = []
    for path, element in elements:
        for field in unknown_fields(element.template, f"{path}.template"):
            unknown.append(field)
            if len(unknown) == LIMIT:
                return unknown
        yield
    return unknown


def template_of(fields: Iterable[Names]) -> dict[str, Any]:
    """A template with these fields and nothing else, so that an API server can tell which of them it knows."""
    template: dict[str, Any] = {}
    for names in fields:
        at, kind = template, ROOT
        for name in names[:-1]:
            kind, listed, _ = types()[kind.removesuffix(_LIST)][name].partition(_LIST)
            inner = at.setdefault(name, [{}] if listed else {})
            at = inner[0] if listed else inner
        at[names[-1]] = None
    return template
