"""The pods of a Workload as Kueue will have them made: its pod sets, with all that Kueue adds when they start.

That is what the assigned ResourceFlavors and the other admission checks add, and the number of pods that has its quota
(Kueue, ``pkg/podset/podset.go``).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from webhook.cluster.objects import items
from webhook.placement.jobs.whole_application import PodsToJudge, read_pods
from webhook.placement.kinds.application import ComponentPods, OperatorApplication
from webhook.placement.text.problem import Problem

Json = dict[str, Any]


class _PodSet(Struct, frozen=True):
    name: str = "main"
    template: Json = {}
    count: int = 1


class _Assignment(Struct, frozen=True):
    name: str = "main"
    flavors: dict[str, str] | None = None
    count: int | None = None


class _Admission(Struct, frozen=True, rename="camel"):
    pod_set_assignments: tuple[_Assignment, ...] | None = None


class PodSetUpdate(Struct, frozen=True, rename="camel"):
    """What an admission check, or a ResourceFlavor, adds to the pods of a pod set."""

    name: str = "main"
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    node_selector: dict[str, str] | None = None
    tolerations: tuple[Json, ...] | None = None


class _OtherCheck(Struct, frozen=True, rename="camel"):
    pod_set_updates: tuple[PodSetUpdate, ...] | None = None


class _Reclaimable(Struct, frozen=True):
    name: str = "main"
    count: int = 0


class _AdmissionStatus(Struct, frozen=True, rename="camel"):
    admission: _Admission | None = None
    admission_checks: tuple[_OtherCheck, ...] | None = None
    reclaimable_pods: tuple[_Reclaimable, ...] | None = None


class _PodSetsSpec(Struct, frozen=True, rename="camel"):
    pod_sets: tuple[_PodSet, ...] | None = None


class _PodSetsDocument(Struct, frozen=True):
    spec: _PodSetsSpec = _PodSetsSpec()
    status: _AdmissionStatus = _AdmissionStatus()


class _FlavorSpec(Struct, frozen=True, rename="camel"):
    node_labels: dict[str, str] | None = None
    tolerations: tuple[Json, ...] | None = None


class _Flavor(Struct, frozen=True):
    spec: _FlavorSpec = _FlavorSpec()


class PodSets(Struct, frozen=True):
    """The pod sets of a Workload, and what is known of its admission; of each so many pods are ``running`` already."""

    document: _PodSetsDocument
    running: Mapping[str, int] = {}

    def growing(self, before: "PodSets") -> "PodSets":
        """These pod sets where the pods of ``before`` run already, as far as their templates and flavors are equal."""
        had, has = before.live, self.live
        same = {name: count for name, (count, *pods) in had.items() if name in has and [*has[name][1:]] == pods}
        return replace(self, running=same)

    @property
    def live(self) -> dict[str, tuple[int, Json, dict[str, str]]]:
        """For each pod set how many pods there are to be, their template and their flavors."""
        assigned = {one.name: one for one in self._assignments}
        ended = {one.name: one.count for one in self.document.status.reclaimable_pods or ()}
        by_name = {}
        for pods in self.document.spec.pod_sets or ():
            mine = assigned.get(pods.name, _Assignment())
            stated = pods.count if mine.count is None else mine.count
            by_name[pods.name] = max(stated - ended.get(pods.name, 0), 0), pods.template, mine.flavors or {}
        return by_name

    @property
    def flavors(self) -> tuple[str, ...]:
        """The names of the ResourceFlavors that are assigned, each once."""
        flavors = (name for one in self._assignments for name in (one.flavors or {}).values())
        return tuple(dict.fromkeys(flavors))

    @property
    def _assignments(self) -> Sequence[_Assignment]:
        admission = self.document.status.admission
        return (admission and admission.pod_set_assignments) or ()

    def application(self, flavors: Mapping[str, PodSetUpdate]) -> OperatorApplication:
        """The pods, where the ResourceFlavors with these names add that."""
        status = self.document.status
        live = self.live
        updates = [update for check in status.admission_checks or () for update in check.pod_set_updates or ()]
        components = []
        for place, pods in enumerate(self.document.spec.pod_sets or ()):
            stated, _, mine = live[pods.name]
            count = max(stated - self.running.get(pods.name, 0), 0)
            added = [flavors[name] for name in dict.fromkeys(mine.values())]
            added += [update for update in updates if update.name == pods.name]
            field = f"spec.podSets[{place}].template"
            pod = _with(pods.template, added)
            components.append(ComponentPods(pods.name, field, f"{field}.metadata.annotations", pod, count, count))
        return OperatorApplication(tuple(components))

    def pods(self, flavors: Mapping[str, PodSetUpdate]) -> list[PodsToJudge] | tuple[Problem, ...] | None:
        """The pods to judge, or everything that cannot be read of them; ``None`` if none of them asks for placement."""
        application = self.application(flavors)
        return read_pods(application) if application.asks else None


def read_pod_sets(text: bytes) -> PodSets:
    """The pod sets of a Workload from JSON; raises one of :data:`decoding.ERRORS`."""
    return PodSets(items.decode(Raw(text), _PodSetsDocument))


def read_flavor(text: bytes) -> PodSetUpdate:
    """What a ResourceFlavor adds to pods, from JSON; raises one of :data:`decoding.ERRORS`."""
    spec = msgspec.json.decode(text, type=_Flavor).spec
    return PodSetUpdate(node_selector=spec.node_labels, tolerations=spec.tolerations)


_PARTS: Final = ("labels", "annotations")


def _with(template: Json, added: Sequence[PodSetUpdate]) -> Json:
    """The pod of the template, with what is added; the template's own words come first."""
    metadata, spec = _object(template.get("metadata")), {**_object(template.get("spec"))}
    merged: Json = {
        part: {**_merged([getattr(one, part) for one in added]), **_object(metadata.get(part))} for part in _PARTS
    }
    if selector := _merged([one.node_selector for one in added]):
        spec["nodeSelector"] = {**selector, **_object(spec.get("nodeSelector"))}
    if tolerations := [toleration for one in added for toleration in one.tolerations or ()]:
        own = spec.get("tolerations")
        spec["tolerations"] = [*(own if isinstance(own, list) else ()), *tolerations]
    return {"metadata": merged, "spec": spec}


def _merged(parts: Sequence[dict[str, str] | None]) -> dict[str, str]:
    return {key: value for part in parts for key, value in (part or {}).items()}


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
