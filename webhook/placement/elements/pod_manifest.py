"""The pod of a processing element, as JSON (Streams instance operator; ``docs/jobs.md``).

An element without a template gets the container of the Streams runtime. With a template the pod is the template, and
its worker container gets what the element, or the Job for all elements, states. Resources of a Job and of an element
are set by the webhook when the pod is created, and not here.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from webhook.placement.elements.element_order import placement_text
from webhook.placement.elements.environment import Variable, job_variables, launch_variables, option_variables
from webhook.placement.elements.mounted_volumes import Mounted, bundle_volumes, option_volumes
from webhook.placement.elements.names import owned_by, pod_name
from webhook.placement.elements.pod_template import is_readable
from webhook.placement.objects.jobs.job_spec import ElementOptions, JobSpec, ProcessingElementSpec, effective
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT
from webhook.placement.text.defaults import BUILD_TYPE

Json = dict[str, Any]

CONTAINER: Final = "pe"
"""The name of the runtime's container."""

CONTENT_ID: Final = f"{keys.PREFIX}contentId"
"""Annotation: the content that the pod was made of (Streams instance operator)."""

SECURITY: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
CONTAINER_SECURITY: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""Security contexts of the runtime's pod and container: the least that the standard ``restricted`` of Pod Security
asks for."""

HEALTH: Final = {"path": "/healthz", "port": 8080}
"""Where the runtime's container is asked whether it lives."""


class Launch(Struct, frozen=True, gc=False, kw_only=True):
    """One launch of the processing element ``element`` of ``job``; ``image`` is that of the runtime."""

    job: str
    element: str
    uid: str
    count: int
    image: str


def pod_of(launch: Launch, element: ProcessingElementSpec, job: JobSpec) -> Json:
    """The pod of that launch, to be created in the namespace of the Job."""
    template = element.template if isinstance(element.template, dict) else None
    if template is None:
        spec = _runtime(launch, effective(element, job), job)
        template = {}
    else:
        spec = _templated(template, element, job)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(launch, element, _part(template, "metadata")),
        "spec": {**spec, "restartPolicy": "Never"},
    }


def _metadata(launch: Launch, element: ProcessingElementSpec, own: Json) -> Json:
    annotations = _part(own, "annotations")
    placement = placement_text(element, str(annotations.get(keys.PLACEMENT) or ""))
    stated = {keys.PLACEMENT: placement} if placement else {}
    return {
        "name": pod_name(launch.element, launch.count),
        "labels": {**_part(own, "labels"), keys.JOB: launch.job, keys.PE: launch.element},
        "annotations": {**annotations, **stated, CONTENT_ID: element.content_id or ""},
        "ownerReferences": [owned_by(PROCESSING_ELEMENT, launch.element, launch.uid)],
        **({"finalizers": own["finalizers"]} if own.get("finalizers") else {}),
    }


def _runtime(launch: Launch, options: ElementOptions, job: JobSpec) -> Json:
    """The spec of a pod with the runtime's container."""
    variables = (
        *launch_variables(launch.job, launch.element, launch.count),
        *job_variables(job),
        *option_variables(options),
    )
    container = {
        "name": CONTAINER,
        "image": launch.image.replace(BUILD_TYPE, str(options.build_type)),
        "imagePullPolicy": options.image_pull_policy,
        "livenessProbe": {"httpGet": HEALTH, **_probe(options)},
        "securityContext": CONTAINER_SECURITY,
    }
    mounted = (*bundle_volumes(job.bundle), *option_volumes(options))
    equipped = _equipped(container, options, variables, mounted)
    return _pod_spec({"securityContext": SECURITY, "containers": [container]}, options, equipped, mounted)


def _templated(template: Json, element: ProcessingElementSpec, job: JobSpec) -> Json:
    """The spec of a template, and what its element asks for besides.

    A template that cannot be read is the pod as it is: the API server refuses it and says why.
    """
    spec, options = _part(template, "spec"), stated(element, job)
    if not is_readable(template):
        return spec
    containers = spec.get("containers") or ()
    at = _worker(containers, _part(_part(template, "metadata"), "annotations"))
    mounted = tuple(option_volumes(options))
    if at is None:
        return _pod_spec(spec, options, None, mounted)
    container = dict(containers[at])
    if probe := _part(container, "livenessProbe"):
        container["livenessProbe"] = {**probe, **_probe(options)}
    equipped = _equipped(container, options, option_variables(options), mounted)
    return _pod_spec(spec, options, equipped, mounted, at)


def stated(element: ElementOptions, job: JobSpec) -> ElementOptions:
    """The options that the element, or else the Job for all elements, states; without any default.

    The pull secret may also be the Job's own. ``runWithValgrind`` implies ``allowPtrace``.
    """
    shared = job.processing_element or ElementOptions()
    chosen: Json = {}
    for field in ElementOptions.__struct_fields__:
        own = getattr(element, field)
        chosen[field] = getattr(shared, field) if own is None else own
    chosen["image_pull_secret"] = chosen["image_pull_secret"] or job.image_pull_secret
    chosen["allow_ptrace"] = chosen["allow_ptrace"] or chosen["run_with_valgrind"]
    return ElementOptions(**chosen)


def _worker(containers: Sequence[Json], annotations: Json) -> int | None:
    """The place of the worker: the container that the annotation names, else that called ``pe``, else the only one."""
    named = [container.get("name") for container in containers]
    name = annotations.get(keys.CONTAINER) or CONTAINER
    if name in named:
        return named.index(name)
    return 0 if len(containers) == 1 and keys.CONTAINER not in annotations else None


def _probe(options: ElementOptions) -> Json:
    fields = {
        "initialDelaySeconds": options.initial_probe_delay_in_seconds,
        "failureThreshold": options.probe_failure_threshold,
        "periodSeconds": options.probe_interval_in_seconds,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _equipped(
    container: Json, options: ElementOptions, variables: Iterable[Variable], mounted: Iterable[Mounted]
) -> Json:
    """The container with variables, mounts and the capability of a debugger; what it states itself stays."""
    own = list(container.get("env") or ())
    own_names = {variable.get("name") for variable in own}
    env = [*own, *(variable for variable in variables if variable["name"] not in own_names)]
    mounts = [*(container.get("volumeMounts") or ()), *(each.mount for each in mounted)]
    equipped = {**container, **({"env": env} if env else {}), **({"volumeMounts": mounts} if mounts else {})}
    if options.allow_ptrace:
        context = _part(equipped, "securityContext")
        capabilities = _part(context, "capabilities")
        added = list(dict.fromkeys([*(capabilities.get("add") or ()), "SYS_PTRACE"]))
        equipped["securityContext"] = {**context, "capabilities": {**capabilities, "add": added}}
    return equipped


def _pod_spec(
    spec: Json, options: ElementOptions, container: Json | None, mounted: Iterable[Mounted], at: int = 0
) -> Json:
    """The spec with that container in its place, the volumes, and the pull secret."""
    pod_spec = dict(spec)
    if container is not None:
        containers = list(spec["containers"])
        pod_spec["containers"] = [*containers[:at], container, *containers[at + 1 :]]
        if volumes := [*(spec.get("volumes") or ()), *(each.volume for each in mounted)]:
            pod_spec["volumes"] = volumes
    secret = options.image_pull_secret
    secrets = list(spec.get("imagePullSecrets") or ())
    if secret and {"name": secret} not in secrets:
        pod_spec["imagePullSecrets"] = [*secrets, {"name": secret}]
    return pod_spec


def _part(whole: Json, name: str) -> Json:
    """A part of an object that is itself one; empty where it is missing."""
    part = whole.get(name)
    return part if isinstance(part, dict) else {}
