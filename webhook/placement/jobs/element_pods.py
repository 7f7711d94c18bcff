"""The pods that the processing elements of a Job get: one for elements that differ only in their names.

What they claim, and whether a changed Job demands more of the cluster, is read from these pods.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from webhook.placement.elements.content import content_id
from webhook.placement.elements.pod_manifest import Json, Launch, pod_of
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, ProcessingElementSpec, element_name
from webhook.placement.objects.volumes import ClaimName
from webhook.placement.planning.search.solver import Resting, taken
from webhook.placement.planning.search.steps import Steps
from webhook.placement.request.claimed_volumes import claims_of, has_claims
from webhook.placement.text.defaults import RUNTIME_IMAGE

_STEP: Final = 50
"""Elements that are looked at in some tenths of a millisecond."""

_KNOWN: Final = 1024
"""Pods of elements that are kept during one search, of a few kilobytes each."""

_MAY_CLAIM: Final = b"laim"
"""In the JSON of every Job whose pods have claims: ``claimName``, ``dataVolumeClaim``, ``volumeClaimTemplate``."""


async def claims_of_job(namespace: str, name: str, spec: JobSpec, solving: Resting) -> tuple[ClaimName, ...] | None:
    """The claims of all pods of the Job; ``None`` if these have no volumes of claims, not even ones made with them."""
    if _MAY_CLAIM not in msgspec.json.encode(spec):  # of most Jobs
        return None
    claims: dict[ClaimName, None] = {}
    claiming = False
    apart = tuple(ElementSpec(template=one.template) for one in spec.operators or () if one.template is not None)
    stated = replace(spec, processing_elements=apart) if apart else spec
    for step in element_steps(name, stated):
        await solving.rest()
        pod = step[1].spec if step else None
        if pod is not None and has_claims(pod):
            claiming = True
            claims.update(dict.fromkeys(claims_of(pod, namespace)))
    return tuple(claims) if claiming else None


async def demands_more(name: str, old: JobSpec, new: JobSpec, solving: Resting) -> bool:
    """Whether a changed Job demands of the cluster what it did not before: fewer of the same elements do not."""
    if new.operators is not None or old.operators is not None:
        return True
    count = len(new.processing_elements or ())
    shared = new.resources is not None and count != len(old.processing_elements or ())
    if shared or _common(old) != _common(new):
        return True
    asked = Counter(await taken(_demands(name, new), solving))
    return bool(asked - Counter(await taken(_demands(name, old), solving)))


def _common(spec: JobSpec) -> tuple[object, ...]:
    """The demands of all elements."""
    shared = spec.processing_element.resources if spec.processing_element else None
    return spec.host_pools or (), spec.resources, shared


def _demands(name: str, spec: JobSpec) -> Steps[list[bytes]]:
    """The demands of each element; elements that demand the same have equal values."""
    demands = []
    for at, element in enumerate(spec.processing_elements or ()):
        plain = ElementSpec(template=element.template, resources=element.resources, operators=element.operators)
        demands.append(_shape(plain, element_name(name, at, element)))
        yield
    return demands


def element_pods(name: str, spec: JobSpec) -> Iterator[tuple[tuple[str, ...], Pod]]:
    """The names of equal elements, and the pod of the first of them; in the order of the Job."""
    return (element for element in element_steps(name, spec) if element is not None)


class KnownPods:
    """Pods of elements of one Job that were made before: the fusions of a search have most elements in common."""

    __slots__ = ("_job", "_pods")

    def __init__(self, job: str) -> None:
        self._job = job
        self._pods: dict[tuple[bytes, bytes], Pod] = {}

    def pod(self, pe: str, element: ElementSpec, spec: JobSpec, common: bytes) -> Pod:
        """The first pod of the element; ``common`` is what :func:`common_of` says of the spec."""
        key = common, msgspec.json.encode((pe, element))
        known = self._pods.get(key)
        if known is None:
            if len(self._pods) >= _KNOWN:
                self._pods.clear()
            known = self._pods[key] = msgspec.convert(element_pod(self._job, pe, element, spec), Pod)
        return known


def common_of(spec: JobSpec) -> bytes:
    """All that the pods of elements have of their Job."""
    return msgspec.json.encode(replace(spec, processing_elements=None))


def element_steps(
    name: str, spec: JobSpec, known: KnownPods | None = None
) -> Iterator[tuple[tuple[str, ...], Pod] | None]:
    """The pods of the Job's elements, one for equal elements; ``None`` after each step, so that other work can run.

    With ``known`` none is made twice.
    """
    alike: dict[bytes, list[tuple[str, ElementSpec]]] = {}
    for at, element in enumerate(spec.processing_elements or ()):
        if at % _STEP == 0:
            yield None
        pe = element_name(name, at, element)
        alike.setdefault(_shape(element, pe), []).append((pe, element))
    common = common_of(spec) if known else b""
    for elements in alike.values():
        pe, element = elements[0]
        pod = (
            known.pod(pe, element, spec, common)
            if known
            else msgspec.convert(element_pod(name, pe, element, spec), Pod)
        )
        yield tuple(pe for pe, _ in elements), pod


def _shape(element: ElementSpec, pe: str) -> bytes:
    """Equal for elements that differ only in names; isolated operators are known by their names."""
    placements = [(operator.placement or "").strip() for operator in element.operators or ()]
    named = pe if any("hostIsolation" in text for text in placements) else ""
    plain = replace(element, name=None, operators=None)
    return msgspec.json.encode((plain, [text for text in placements if text], named))


def element_pod(job: str, pe: str, element: ElementSpec, spec: JobSpec) -> Json:
    """The first pod of an element, as the controller will make it."""
    own = {"name": None, "job": job, "content_id": content_id(element, spec)}
    launch = Launch(job=job, element=pe, uid="", count=1, image=RUNTIME_IMAGE)
    return pod_of(launch, ProcessingElementSpec(**{**asdict(element), **own}), spec)


def positions(name: str, spec: JobSpec) -> dict[str, int]:
    """The place of each element in the list of the Job, by name."""
    return {element_name(name, at, element): at for at, element in enumerate(spec.processing_elements or ())}
