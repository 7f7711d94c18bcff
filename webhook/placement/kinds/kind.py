"""A kind of other operators' objects, as its file states it: the fields of a file, and how a file is read.

Names of fields are Karta's where Karta has the field (``podTemplateSpecPath``, ``scaleDefinition``, ...). All paths and
formulas are expressions (``formula``). ``docs/applications.md`` describes the fields.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kinds.formula import Formula, FormulaError, parse


class KindFileError(ValueError):
    """A file of a kind that cannot be used; the message says why."""


class GroupKind(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The API group and kind of the objects, the name of the resource, and the versions that the file is right for."""

    group: str
    kind: str
    resource: str
    versions: tuple[str, ...]


class ReferencedKind(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A kind of objects that others refer to: without ``namespaced`` there are no namespaces of it."""

    group: str
    kind: str
    resource: str
    version: str
    namespaced: bool = False


class ReferenceDefinition(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The object that an object refers to, and that says of which pods it is: paths to group, kind and name of it.

    Formulas have it as ``.name``, with each entry of ``patchesPath`` merged into its spec: what ``patchPath`` is there.
    ``path`` is where a user writes the reference.
    """

    name: str
    path: str
    kinds: tuple[ReferencedKind, ...]
    group_path: Formula
    kind_path: Formula
    name_path: Formula
    patches_path: Formula
    patch_path: Formula


class AddedContainer(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A container that the operator adds to the pods: where ``whenPath`` is true, or always.

    It requests what ``resourcesPath`` says (``ResourceRequirements``), and where that is absent the ``requests``.

    It comes after those of the template, or ``first``: for an init container those before it count that restart.
    """

    name: str
    requests: Mapping[str, Formula] = {}
    resources_path: Formula | None = None
    when_path: Formula | None = None
    first: bool = False


class MountedClaims(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """PersistentVolumeClaims that the operator mounts: ``path`` is the name of one, or a list of objects.

    Each object has the name of its claim in ``nameField``. One with ``madeField`` describes a claim that the operator
    makes, which does not count.
    """

    path: Formula
    name_field: str = ""
    made_field: str = ""


class FragmentedPodSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Fields that a pod is made from, where the object has no whole template; each overrides that of the template.

    ``containerName`` is the main container, to which ``resourcesPath``, ``requests`` and ``limits`` belong, which are
    merged into what the template says of it. ``gpuPath`` is an object with the ``name`` and ``quantity`` of an extended
    resource, ``extendedResourcesPath`` one with amounts by resource. With ``containerPath`` the main container
    is what the object says, under that name, and these fields do not count. ``resourcesPatchPath`` is merged into the
    resources of the main container, if the template has it. Of ``mountedVolumesPath`` those volumes
    count that a container mounts, or that ``mountsPath`` mounts in all. ``podResourcesPath`` are resources of the whole
    pod. Labels, annotations and node labels are added to those of the template, and so are containers, volumes and
    ``addedTolerationsPath``.
    """

    labels_path: Formula | None = None
    annotations_path: Formula | None = None
    node_selector_path: Formula | None = None
    affinity_path: Formula | None = None
    tolerations_path: Formula | None = None
    added_tolerations_path: Formula | None = None
    topology_spread_constraints_path: Formula | None = None
    pod_affinity_path: Formula | None = None
    node_affinity_path: Formula | None = None
    priority_class_name_path: Formula | None = None
    scheduler_name_path: Formula | None = None
    host_network_path: Formula | None = None
    containers_path: Formula | None = None
    init_containers_path: Formula | None = None
    volumes_path: Formula | None = None
    mounted_volumes_path: Formula | None = None
    mounts_path: Formula | None = None
    mounted_claims: MountedClaims | None = None
    resource_claims_path: Formula | None = None
    pod_resources_path: Formula | None = None
    container_name: str = ""
    container_path: Formula | None = None
    resources_path: Formula | None = None
    resources_patch_path: Formula | None = None
    requests: Mapping[str, Formula] = {}
    limits: Mapping[str, Formula] = {}
    gpu_path: Formula | None = None
    extended_resources_path: Formula | None = None
    added_containers: tuple[AddedContainer, ...] = ()
    added_init_containers: tuple[AddedContainer, ...] = ()


class SpecDefinition(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Where the template of the pods is; ``commonPodTemplateSpecPath`` is one for all components, merged below it.

    Lists of the two are merged by position, and where ``mergeByNamesPath`` is true those of named objects by names.

    In place of a template an object may have the spec of the pods and their metadata apart.

    ``annotationsField`` is where a user writes annotations that reach the pods.
    """

    pod_template_spec_path: Formula | None = None
    pod_spec_path: Formula | None = None
    metadata_path: Formula | None = None
    common_pod_template_spec_path: Formula | None = None
    merge_by_names_path: Formula | None = None
    fragmented_pod_spec_definition: FragmentedPodSpec = FragmentedPodSpec()
    annotations_field: str = ""


class ScaleDefinition(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How many pods there are: the number at first, and, where it changes by itself, the fewest and the most.

    With ``minReplicasPath`` the fewest pods are judged, else those at first.
    """

    replicas_path: Formula
    min_replicas_path: Formula | None = None
    max_replicas_path: Formula | None = None


class ManagedBy(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Where an object names the controller that makes its pods, and the names of the kind's own ``controllers``."""

    path: Formula
    controllers: tuple[str, ...]


class NotJudged(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Where ``path`` is true, nothing is known of the pods: ``because`` follows the path in the warning."""

    path: Formula
    because: str


class Component(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Equal pods of an object; with ``[]`` in the paths, several instances of these, called by ``instanceIdPath``.

    ``separatePath`` is true for pods that do not run at the time of the others. ``serviceAccountPath`` is the name of a
    ServiceAccount in the namespace of the object, by which the application creates the pods itself.

    With ``stepsPath`` the instances are the templates that the steps of that spec lead to (``steps``), of which each
    may run once or as often as they say; ``.caller`` is then the template that calls the instance. A text with the
    ``placeholder`` is filled in later, so that a pod with one, or one of which a ``notJudged`` path is true, is not
    judged.
    """

    name: str
    spec_definition: SpecDefinition
    scale_definition: ScaleDefinition
    instance_id_path: Formula | None = None
    separate_path: Formula | None = None
    service_account_path: Formula | None = None
    steps_path: Formula | None = None
    placeholder: str = ""
    not_judged: tuple[NotJudged, ...] = ()

    @property
    def list(self) -> str:
        """The path of the list of instances, without the leading dot; empty if there is one instance."""
        definition = self.spec_definition
        fragments = definition.fragmented_pod_spec_definition
        of_spec = (definition.pod_template_spec_path, definition.pod_spec_path, definition.metadata_path)
        paths = (self.instance_id_path, *of_spec, fragments.resources_path, fragments.containers_path)
        return next((path.list for path in paths if path and path.list), "")

    @property
    def metadata_paths(self) -> Iterator[str]:
        """Paths of the objects whose ``annotations`` and ``labels`` reach the pods, without the leading dot."""
        definition = self.spec_definition
        fragments = definition.fragmented_pod_spec_definition
        for formula in filter(None, (definition.pod_template_spec_path, definition.common_pod_template_spec_path)):
            yield from (f"{path}.metadata" for path in formula.paths)
        if definition.metadata_path:
            yield from definition.metadata_path.paths
        for formula in filter(None, (fragments.labels_path, fragments.annotations_path)):
            yield from (path.rpartition(".")[0] for path in formula.paths)


class OperatorKind(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A kind: its ``components``, in the order in which the operator creates them.

    ``specPath`` is where an object embeds the spec of another kind, the ``componentsOf`` that kind are then before its
    own. ``suspendPath`` is true while the operator creates no pods; with ``scheduled`` it creates them at times that
    the object states. With ``changesBeside`` the pods of a changed object start beside those that run, which end once
    the new ones run. Of one that is ``managedBy`` another controller no pods are known. ``through`` are kinds of
    objects that the operator makes between the object and its pods; Kubernetes' own need not be named. Where a path of
    ``notJudged`` is true, some pods are not known. With a ``reference`` another object says what the pods are;
    ``annotatedPaths`` are further objects whose annotations and labels reach the pods. ``remarks`` are sentences about
    all objects of the kind. ``specReplicasPath`` is the number that the subresource ``scale`` of an object sets, as its
    definition states it. ``creates`` says who creates the pods, as the docs state it, with the names that projects give
    to the ServiceAccounts of their operators, the ``accounts``. ``exact`` says what the expansion states as the
    operator does it, ``estimate`` what it cannot know. ``probe`` is the spec of a small object that is right by the
    kind's schema.
    """

    kind: GroupKind
    components: tuple[Component, ...] = ()
    suspend_path: Formula | None = None
    managed_by: ManagedBy | None = None
    scheduled: bool = False
    changes_beside: bool = False
    spec_replicas_path: Formula | None = None
    spec_path: Formula | None = None
    components_of: str = ""
    embedded: tuple[Component, ...] = ()
    embedded_suspend_path: Formula | None = None
    embedded_not_judged: tuple[NotJudged, ...] = ()
    through: tuple[GroupKind, ...] = ()
    not_judged: tuple[NotJudged, ...] = ()
    reference: ReferenceDefinition | None = None
    annotated_paths: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    creates: str = ""
    accounts: tuple[str, ...] = ()
    exact: str = ""
    estimate: str = ""
    probe: Mapping[str, Any] = {}

    @property
    def key(self) -> tuple[str, str]:
        """API group and kind."""
        return self.kind.group, self.kind.kind

    @property
    def metadata_paths(self) -> tuple[str, ...]:
        """Paths of all objects in whose ``annotations`` or ``labels`` placement can be asked for, its own first."""
        paths = ["metadata"]
        for component in self.embedded:
            place = self.spec_path.path if self.spec_path else ""
            paths += (re.sub("^spec(?=[.]|$)", place, path) for path in component.metadata_paths)
        for component in self.components:
            paths += component.metadata_paths
        paths += self.annotated_paths
        elsewhere = f"{self.reference.name}." if self.reference else "\n"
        return tuple(path for path in dict.fromkeys(paths) if not path.startswith(elsewhere))


Kinds: TypeAlias = Mapping[tuple[str, str], OperatorKind]
"""Kinds by API group and kind."""


def kinds_of(files: Iterable[tuple[str, Any]]) -> dict[tuple[str, str], OperatorKind]:
    """The kinds that these files describe, each given with its name; raises :class:`KindFileError`."""
    kinds: dict[tuple[str, str], OperatorKind] = {}
    for name, content in files:
        kind = _kind(name, content)
        if kind.key in kinds:
            raise KindFileError(f"{name}: {kind.kind.kind} of {kind.kind.group} has another file")
        kinds[kind.key] = kind
    return {key: _completed(kind, kinds) for key, kind in kinds.items()}


def _kind(name: str, content: object) -> OperatorKind:
    try:
        return msgspec.convert(content, OperatorKind, dec_hook=_decoded)
    except msgspec.ValidationError as error:
        raise KindFileError(f"{name}: {error}") from error


def _decoded(_wanted: type, value: object) -> Formula:
    """The expression in a field of a file; ``dec_hook`` of msgspec, which adds the path to a ``ValueError``."""
    if not isinstance(value, str):
        raise FormulaError(f"an expression is expected, not {value!r}")
    return parse(value)


def _completed(kind: OperatorKind, kinds: Kinds) -> OperatorKind:
    """The kind with the components of the kind whose spec it embeds."""
    if not kind.components_of:
        return kind
    other = kinds.get((kind.kind.group, kind.components_of))
    if other is None or other.components_of or kind.spec_path is None:
        raise KindFileError(
            f"{kind.kind.kind}: componentsOf names no kind of {kind.kind.group} with its own components"
        )
    through = (*kind.through, other.kind)
    return replace(
        kind,
        embedded=other.components,
        embedded_suspend_path=other.suspend_path,
        embedded_not_judged=other.not_judged,
        through=through,
    )
