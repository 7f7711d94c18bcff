"""Kinds that a cluster describes itself, by ResourceInterfaces of Karta (``optimization.nvidia.com/v1alpha1``).

Fields of these are those of the files of kinds, but paths are of the whole language of jq. A component whose paths are
none of the part that is known here is not judged, which a remark says. Source: ``structure.go`` of Karta (d20a8a9).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.placement.kinds.formula import Formula, FormulaError, parse
from webhook.placement.kinds.kind import (
    Component,
    FragmentedPodSpec,
    GroupKind,
    OperatorKind,
    ScaleDefinition,
    SpecDefinition,
)
from webhook.placement.text.problem import CLAUSE_LIMIT, shorten

Json = dict[str, Any]

VERSION: Final = "optimization.nvidia.com/v1alpha1"
KIND: Final = "ResourceInterface"
PATH: Final = f"/apis/{VERSION}/resourceinterfaces"
"""Where the API server has all of them."""

COMPONENTS: Final = 32
"""Components of a definition that are read; those of the project's examples have five at most."""

LENGTH: Final = 500
"""Characters of a path; those of the project's examples have a hundred at most."""

NESTING: Final = 20
"""Parentheses and conditions of a path, which the parser follows one inside the other."""


class _DescribedKind(Struct, frozen=True):
    version: str
    kind: str
    group: str = ""


class _DescribedComponent(Struct, frozen=True, rename="camel"):
    """A component as it is described."""

    name: str
    kind: _DescribedKind | None = None
    spec_definition: dict[str, Any] | None = None
    scale_definition: dict[str, Any] | None = None
    instance_id_path: str | None = None


class _Structure(Struct, frozen=True, rename="camel"):
    root_component: _DescribedComponent
    child_components: tuple[_DescribedComponent, ...] = ()


class _InterfaceSpec(Struct, frozen=True, rename="camel"):
    structure_definition: _Structure


class _Interface(Struct, frozen=True):
    spec: _InterfaceSpec


def kind_described(name: str, document: Json) -> OperatorKind | None:
    """The kind that the definition describes; ``None`` for one that says of no kind what its objects are."""
    try:
        structure = msgspec.convert(document, _Interface).spec.structure_definition
    except msgspec.ValidationError:
        return None
    root = structure.root_component
    if root.kind is None:
        return None
    shown = shorten(root.kind.kind, CLAUSE_LIMIT)
    remarks = [f"{KIND} {name} of the cluster describes the pods of {shown} objects"]
    components = []
    for described in (root, *structure.child_components)[:COMPONENTS]:
        if not described.spec_definition:
            continue
        try:
            components.append(_component(described))
        except (FormulaError, msgspec.ValidationError) as error:
            what = f"{KIND} {name}: component {shorten(described.name, CLAUSE_LIMIT)}"
            remarks.append(f"{what} is not understood, so its pods were not judged: {shorten(str(error), LENGTH)}")
    kind = GroupKind(root.kind.group, root.kind.kind, "", (root.kind.version,))
    return OperatorKind(kind, tuple(components), remarks=tuple(remarks))


def _component(described: _DescribedComponent) -> Component:
    """The component; raises ``FormulaError`` or ``ValidationError`` for what is not understood of it."""
    spec, scale = dict(described.spec_definition or {}), described.scale_definition or {}
    fragments = spec.pop("fragmentedPodSpecDefinition", None) or {}
    paths = msgspec.convert(spec, dict[str, str | None])
    numbers = msgspec.convert(scale, dict[str, str | None])
    scattered = msgspec.convert(fragments, dict[str, str | None])
    fewest = _formula(numbers, "minReplicasPath")
    return Component(
        name=described.name,
        spec_definition=SpecDefinition(
            pod_template_spec_path=_formula(paths, "podTemplateSpecPath"),
            pod_spec_path=_formula(paths, "podSpecPath"),
            metadata_path=_formula(paths, "metadataPath"),
            annotations_field=_annotations(paths, scattered),
            fragmented_pod_spec_definition=_fragments(scattered),
        ),
        scale_definition=ScaleDefinition(
            replicas_path=_formula(numbers, "replicasPath", "1") or fewest or parse("1"),
            min_replicas_path=fewest,
            max_replicas_path=_formula(numbers, "maxReplicasPath"),
        ),
        instance_id_path=_formula({"path": described.instance_id_path}, "path"),
    )


def _fragments(scattered: Mapping[str, str | None]) -> FragmentedPodSpec:
    """The fields of a pod that the object has in several places."""
    if not scattered:
        return FragmentedPodSpec()
    return FragmentedPodSpec(
        labels_path=_formula(scattered, "labelsPath"),
        annotations_path=_formula(scattered, "annotationsPath"),
        scheduler_name_path=_formula(scattered, "schedulerNamePath"),
        priority_class_name_path=_formula(scattered, "priorityClassNamePath"),
        resource_claims_path=_formula(scattered, "resourceClaimsPath"),
        pod_affinity_path=_formula(scattered, "podAffinityPath"),
        node_affinity_path=_formula(scattered, "nodeAffinityPath"),
        containers_path=_formula(scattered, "containersPath"),
        container_path=_formula(scattered, "containerPath"),
        container_name="" if scattered.get("containersPath") else "main",
        resources_path=_formula(scattered, "resourcesPath"),
    )


def _annotations(paths: Mapping[str, str | None], scattered: Mapping[str, str | None]) -> str:
    """Where annotations of the pods are written; empty for a template, which has them itself."""
    if path := paths.get("metadataPath"):
        return f"{path.removeprefix('.')}.annotations"
    return (scattered.get("annotationsPath") or "").removeprefix(".")


def _formula(paths: Mapping[str, str | None], field: str, default: str = "") -> Formula | None:
    """The path of the field, with its default value; raises ``FormulaError`` if the text is not a path."""
    text = paths.get(field)
    if not text:
        return None
    if len(text) > LENGTH or sum(text.count(opening) for opening in _OPENINGS) > NESTING:
        raise FormulaError(f"{field} is too long")
    try:
        return parse(f"({text}) // {default}" if default else text)
    except FormulaError as error:
        raise FormulaError(f"{field}: {error}") from error


_OPENINGS: Final = ("(", "if", "//")
"""What the parser goes deeper for."""


def kinds_described(documents: Mapping[str, Json]) -> Iterator[OperatorKind]:
    """The kinds that these definitions describe, given by their names."""
    for name in sorted(documents):
        if kind := kind_described(name, documents[name]):
            yield kind
