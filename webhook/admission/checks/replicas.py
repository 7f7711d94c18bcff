"""How many pods a workload wants at the same time, read from the object (``docs/workloads.md``)."""

import re
from typing import Final

from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.placement.decision.replica_fit import ClaimTemplates, Replicas
from webhook.placement.text import keys

_PERCENT: Final = re.compile(r"([0-9]{1,9})%", re.ASCII)
_QUARTER: Final = "25%"
"""What a Deployment may have too many, and too few, while it is rolled out (Kubernetes, Deployments)."""

_MOST: Final = 2**31 - 1
"""Pods that a workload can ask for: its number is an ``int32``."""

_JOB_CONTROLLER: Final = "kubernetes.io/job-controller"
"""What the field ``managedBy`` of a Job says if Kubernetes' own controller makes its pods (KEP-4368)."""

_SAID: Final = ("annotations", "labels")
_CONTAINERS: Final = ("containers", "initContainers")
_WHERE: Final = ("nodeName", "nodeSelector", "affinity", "tolerations", "resources", "overhead")
"""Fields of a pod about where it runs, and how much room it takes."""

_GANG_ANNOTATIONS: Final = ("scheduling.k8s.io/group-name",)
_GANG_LABELS: Final = (
    "scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name",
    "kueue.x-k8s.io/pod-group-name",
)  # fmt: skip
"""Annotation and labels of pods that their scheduler starts all at the same time, or not at all (Volcano, the scheduler
plugins' coscheduling, Kueue)."""


def replicas_of(document: Unstructured, old: Unstructured | None = None) -> Replicas:
    """How many pods the workload wants at the same time, and the words for that number; 1 for a kind without one.

    ``old`` is the workload before an update: its live pods are replaced, or are among those it wants.
    """
    kind = str(document.get("kind"))
    owner = f"{kind}/{mapping(document, 'metadata').get('name', '')}" if old else ""
    spec = mapping(document, "spec")
    if kind == "CronJob":
        return _parallel(mapping(spec, "jobTemplate", "spec"), owner, suspended=spec.get("suspend") is True)
    if kind == "Job":
        return _parallel(spec, owner)
    if kind not in {"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"}:
        return Replicas(owner=owner, everywhere=kind == "DaemonSet", selector=_selector(spec))
    count = _number(spec.get("replicas"))
    spare = old is not None and kind == "Deployment" and bool(count) and _needs_spare(spec, mapping(old, "spec"), count)
    said = f"replicas {count}"
    said = f"{said} with one more in a rollout" if spare else said
    claims = _claims(document, spec) if kind == "StatefulSet" else None
    return Replicas(count + spare, said, spare=spare, owner=owner, claims=claims)


def grown(document: Unstructured, old: Unstructured) -> bool:
    """Whether the workload describes other pods than before, more of them, or more of them at the same time."""
    spec, before = mapping(document, "spec"), mapping(old, "spec")
    if document.get("kind") == "PodTemplate":
        spec, before = document, old
    if document.get("kind") == "CronJob":
        spec, before = (mapping(inner, "jobTemplate", "spec") for inner in (spec, before))
    if spec.get("template") != before.get("template"):
        return True
    wanted, had = replicas_of(document), replicas_of(old | {"kind": document.get("kind")})
    if wanted.idle or had.idle:
        return not wanted.idle
    return wanted.count > had.count or wanted.needed > had.needed


def demands_more(document: Unstructured, old: Unstructured) -> bool:
    """Whether a workload demands more than before: more pods, or other places or amounts for its pods."""
    template, before = (mapping(workload, "spec", "template") for workload in (document, old))
    wanted, had = replicas_of(document), replicas_of(old | {"kind": document.get("kind")})
    return _wishes(template) != _wishes(before) or had.idle or wanted.count > had.count or wanted.needed > had.needed


def _parallel(spec: Unstructured, owner: str, *, suspended: bool = False) -> Replicas:
    """Pods of a Job: as many at a time as are still to be completed, or fewer if they need not wait for each other."""
    parallel = _number(spec.get("parallelism"))
    completions = spec.get("completions")
    count = min(parallel, _number(completions)) if isinstance(completions, int) else parallel
    in_turn = spec.get("completionMode") != "Indexed" and not _gang(mapping(spec, "template"))
    elsewhere = (spec.get("managedBy") or _JOB_CONTROLLER) != _JOB_CONTROLLER  # as what MultiKueue runs
    suspended = suspended or elsewhere or spec.get("suspend") is True
    said = f"parallelism {parallel}"
    return Replicas(count, said, owner=owner, in_turn=in_turn, suspended=suspended, field="parallelism")


def _claims(document: Unstructured, spec: Unstructured) -> ClaimTemplates | None:
    """The claims that a StatefulSet makes for each of its pods; ``None`` if it makes none."""
    name, start = mapping(document, "metadata").get("name"), mapping(spec, "ordinals").get("start")
    templates = sequence(spec, "volumeClaimTemplates")
    named = tuple((str(mapping(one, "metadata").get("name")), _class_of(mapping(one, "spec"))) for one in templates)
    return ClaimTemplates(str(name), named, start if isinstance(start, int) else 0) if name and named else None


def _class_of(claim: Unstructured) -> str | None:
    class_name = claim.get("storageClassName")
    return class_name if isinstance(class_name, str) else None


def _selector(spec: Unstructured) -> dict[str, str]:
    """The labels by which a workload knows its pods."""
    return {key: str(value) for key, value in mapping(spec, "selector", "matchLabels").items()}


def _gang(template: Unstructured) -> bool:
    """Whether a scheduler starts all pods of the template at the same time: they state a group of that scheduler."""
    annotations, labels = (mapping(template, "metadata", field) for field in _SAID)
    if mapping(template, "spec").get("schedulingGroup"):
        return True
    return any(key in annotations for key in _GANG_ANNOTATIONS) or any(key in labels for key in _GANG_LABELS)


def _needs_spare(spec: Unstructured, before: Unstructured, count: int) -> bool:
    """Whether a rollout must start a new pod before it may stop an old one, which stands where the new one could.

    One is enough: as soon as it runs an old one goes. Source: ``ResolveFenceposts`` of the deployment controller.
    """
    template, replaced = mapping(spec, "template"), mapping(before, "template")
    strategy = mapping(spec, "strategy")
    if template == replaced or _wishes(template) != _wishes(replaced) or strategy.get("type") == "Recreate":
        return False
    rolling = mapping(strategy, "rollingUpdate")
    surge = _share(rolling.get("maxSurge", _QUARTER), count, up=True)
    return surge > 0 and _share(rolling.get("maxUnavailable", _QUARTER), count, up=False) == 0


def _wishes(template: Unstructured) -> list[object]:
    """Everything in a template that says where its pods run, and how much room they take."""
    metadata, spec = mapping(template, "metadata"), mapping(template, "spec")
    said = [(key, text) for field in _SAID for key, text in sorted(mapping(metadata, field).items())]
    ours = [pair for pair in said if pair[0].startswith(keys.PREFIX)]
    sizes = [container.get("resources") for field in _CONTAINERS for container in sequence(spec, field)]
    return [ours, sizes, *(spec.get(field) for field in _WHERE)]


def _share(said: object, count: int, *, up: bool) -> int:
    """A number of pods, or a percentage of them."""
    if isinstance(said, int):
        return said
    percent = _PERCENT.fullmatch(str(said))
    if not percent:
        return 0
    hundredths = int(percent[1]) * count
    return -(-hundredths // 100) if up else hundredths // 100


def _number(said: object) -> int:
    """The stated number; 1 if it is absent."""
    return min(max(said, 0), _MOST) if isinstance(said, int) else 1
