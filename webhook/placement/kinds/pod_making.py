"""The pod of a component: its template, the fields that it is made from, and the containers that an operator adds."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webhook.placement.kinds.formula import Formula, Value, number, truth
from webhook.placement.kinds.kind import AddedContainer, FragmentedPodSpec, MountedClaims, SpecDefinition
from webhook.placement.kinds.merging import merged_by_names, merged_by_names_or_position, merged_by_position
from webhook.placement.kube.quantity import NANO, format_quantity

Json = dict[str, Any]


def template_of(definition: SpecDefinition, document: Json, at: int) -> Json | None:
    """The template of an instance with what the operator makes of it; ``None`` if the object describes no such pods."""
    common = _value(definition.common_pod_template_spec_path, document, at)
    own = _value(definition.pod_template_spec_path, document, at)
    if isinstance(spec := _value(definition.pod_spec_path, document, at), dict):
        own = {"metadata": _value(definition.metadata_path, document, at), "spec": spec}
    fragments = definition.fragmented_pod_spec_definition
    whole = definition.pod_template_spec_path or definition.pod_spec_path
    if not isinstance(own, dict) and whole and not _makes_main(fragments):
        return None
    by_names = definition.merge_by_names_path
    merged = merged_by_names_or_position if by_names and truth(by_names.of(document, at)) else merged_by_position
    template = merged(_object(common), _object(own))
    metadata = dict(_object(template.get("metadata")))
    for field, path in (("labels", fragments.labels_path), ("annotations", fragments.annotations_path)):
        if said := _object(_value(path, document, at)):
            metadata[field] = {**_object(metadata.get(field)), **said}
    return {"metadata": metadata, "spec": _spec(fragments, _object(template.get("spec")), document, at)}


def _spec(fragments: FragmentedPodSpec, spec: Json, document: Json, at: int) -> Json:
    """The spec of the pod: that of the template with the fields that override it, and all containers."""
    made = {**spec, **_fields(fragments, spec, document, at)}
    main = _value(fragments.container_path, document, at)
    for field, path, added in (
        ("containers", fragments.containers_path, fragments.added_containers),
        ("initContainers", fragments.init_containers_path, fragments.added_init_containers),
        ("volumes", fragments.volumes_path, ()),
    ):
        listed = [*_listed(made.get(field)), *_listed(_value(path, document, at))]
        listed[:0] = _added((one for one in added if one.first), document, at)
        listed += _added((one for one in added if not one.first), document, at)
        if field == "containers" and isinstance(main, dict):
            listed.insert(0, {**main, "name": fragments.container_name})
        if listed:
            made[field] = listed
    volumes = _listed(_value(fragments.mounted_volumes_path, document, at))
    if volumes := _mounted(volumes, made, _listed(_value(fragments.mounts_path, document, at))):
        made["volumes"] = [*_listed(made.get("volumes")), *volumes]
    if volumes := _claimed(fragments.mounted_claims, document, at):
        made["volumes"] = [*_listed(made.get("volumes")), *volumes]
    if patch := _value(fragments.resources_patch_path, document, at):
        made["containers"] = _patched(fragments.container_name, _listed(made.get("containers")), patch)
    elif _makes_main(fragments):
        made["containers"] = _with_main(fragments, _listed(made.get("containers")), document, at)
    return made


def _fields(fragments: FragmentedPodSpec, spec: Json, document: Json, at: int) -> Json:
    """The fields that stand in place of those of the template, and those that are added to these."""
    values = ((field, _value(path, document, at)) for field, path in _overriding(fragments))
    made = {field: value for field, value in values if value is not None}
    for field, path in (("podAffinity", fragments.pod_affinity_path), ("nodeAffinity", fragments.node_affinity_path)):
        if rules := _object(_value(path, document, at)):
            made["affinity"] = {**_object(made.get("affinity")), field: rules}
    if labels := _object(_value(fragments.node_selector_path, document, at)):
        made["nodeSelector"] = {**_object(spec.get("nodeSelector")), **labels}
    if tolerations := _listed(_value(fragments.added_tolerations_path, document, at)):
        made["tolerations"] = [*_listed(made.get("tolerations", spec.get("tolerations"))), *tolerations]
    return made


def _overriding(fragments: FragmentedPodSpec) -> Iterator[tuple[str, Formula | None]]:
    """Fields of the pod with the paths of what stands in place of the template's."""
    yield "affinity", fragments.affinity_path
    yield "tolerations", fragments.tolerations_path
    yield "topologySpreadConstraints", fragments.topology_spread_constraints_path
    yield "priorityClassName", fragments.priority_class_name_path
    yield "schedulerName", fragments.scheduler_name_path
    yield "hostNetwork", fragments.host_network_path
    yield "resourceClaims", fragments.resource_claims_path
    yield "resources", fragments.pod_resources_path


def _makes_main(fragments: FragmentedPodSpec) -> bool:
    """Whether the main container is made from fields, also where the template does not have it."""
    whole = fragments.container_path or fragments.resources_patch_path
    return bool(fragments.container_name) and whole is None


def _patched(name: str, containers: list[Value], patch: Value) -> list[Value]:
    """The containers, with the patch in the resources of the one with that name."""
    return [
        merged_by_names(one, {"resources": patch}) if isinstance(one, dict) and one.get("name") == name else one
        for one in containers
    ]


def _mounted(volumes: list[Value], spec: Json, mounts: list[Value]) -> list[Value]:
    """The volumes that are among the mounts, or that a container of the pod mounts."""
    containers = [*_listed(spec.get("initContainers")), *_listed(spec.get("containers"))]
    mounts = [*mounts, *(mount for one in containers for mount in _listed(_object(one).get("volumeMounts")))]
    names = {str(_object(mount).get("name")) for mount in mounts}
    return [volume for volume in volumes if isinstance(volume, dict) and str(volume.get("name")) in names]


def _claimed(claims: MountedClaims | None, document: Json, at: int) -> list[Json]:
    """A volume for each claim that the operator mounts, and does not make."""
    value = claims.path.of(document, at) if claims else None
    if claims is None or not isinstance(value, list):
        names = [value]
    else:
        entries = [one for one in value if isinstance(one, dict) and one.get(claims.made_field) is None]
        names = [one.get(claims.name_field) for one in entries]
    return [
        {"name": f"claim-{number}", "persistentVolumeClaim": {"claimName": name}}
        for number, name in enumerate(names)
        if isinstance(name, str) and name
    ]


def _with_main(fragments: FragmentedPodSpec, containers: list[Value], document: Json, at: int) -> list[Value]:
    """The containers with what the main one requests; it comes first if the template does not have it."""
    name = fragments.container_name
    place = next((place for place, one in enumerate(containers) if _object(one).get("name") == name), None)
    main = _object(containers[place]) if place is not None else {"name": name}
    stated = merged_by_names(_object(main.get("resources")), _object(_value(fragments.resources_path, document, at)))
    gpus = _gpus(_object(_value(fragments.gpu_path, document, at)))
    gpus |= _object(_value(fragments.extended_resources_path, document, at))
    amounts = {
        field: {**_object(stated.get(field)), **_amounts(expressions, document, at), **gpus}
        for field, expressions in (("requests", fragments.requests), ("limits", fragments.limits))
    }
    resources = {**stated, **{field: given for field, given in amounts.items() if given}}
    main = {**main, **({"resources": resources} if resources else {})}
    return [main, *containers] if place is None else [*containers[:place], main, *containers[place + 1 :]]


def _gpus(gpu: Json) -> Json:
    """The extended resource of an object with ``name`` and ``quantity``."""
    name, quantity = gpu.get("name"), gpu.get("quantity")
    return {name: quantity} if isinstance(name, str) and name and isinstance(quantity, int) else {}


def added_of(definition: SpecDefinition, document: Json, at: int) -> frozenset[str]:
    """The names of the containers that the operator adds with requests that the object does not state."""
    fragments = definition.fragmented_pod_spec_definition
    return frozenset(
        container.name
        for container in (*fragments.added_containers, *fragments.added_init_containers)
        if container.requests and _is_added(container, document, at) and not _stated(container, document, at)
    )


def _is_added(container: AddedContainer, document: Json, at: int) -> bool:
    return container.when_path is None or truth(container.when_path.of(document, at))


def _stated(container: AddedContainer, document: Json, at: int) -> Json | None:
    """The resources that the object states for the container; ``None`` if it states none."""
    stated = _value(container.resources_path, document, at)
    return stated if isinstance(stated, dict) else None


def _added(containers: Iterable[AddedContainer], document: Json, at: int) -> Iterator[Json]:
    """The containers that the operator adds."""
    for container in containers:
        if not _is_added(container, document, at):
            continue
        stated = _stated(container, document, at)
        requests = _amounts(container.requests, document, at)
        yield {"name": container.name, "resources": {"requests": requests} if stated is None else stated}


def _amounts(expressions: Mapping[str, Formula], document: Json, at: int) -> Json:
    """The amounts by resource; a resource whose formula has no value is not requested."""
    amounts = {resource: _amount(expression.of(document, at)) for resource, expression in expressions.items()}
    return {resource: amount for resource, amount in amounts.items() if amount is not None}


def _amount(value: Value) -> str | None:
    """The value as a quantity: a text as it stands, a number rounded up to a nano-unit."""
    if isinstance(value, str):
        return value
    amount = number(value)
    return None if amount is None else format_quantity(math.ceil(amount * NANO))


def _value(path: Formula | None, document: Json, at: int) -> Value:
    return None if path is None else path.of(document, at)


def _object(value: Value) -> Json:
    return value if isinstance(value, dict) else {}


def _listed(value: Value) -> list[Value]:
    """A list as it is, and a single object as a list of one."""
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []
