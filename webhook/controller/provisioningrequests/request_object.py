"""A ProvisioningRequest of a Job, and its PodTemplates, as JSON.

The templates are owned by the request, and the request by the Job, so that one deletion ends all of them.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from webhook.controller.jobstore.records import StoredJob
from webhook.controller.provisioningrequests.asked_pods import AskedPod
from webhook.controller.provisioningrequests.stored_request import CLASS, StoredRequest
from webhook.placement.elements.names import owned_by
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.text.api_kinds import POD_TEMPLATE, PROVISIONING_REQUEST, STREAMS_JOB

Json = dict[str, Any]

MOST: Final = 32
"""Pod sets of a request, each for equal pods: the bound of the API."""

ATTEMPTS: Final = 2
"""Requests about the same pods: the autoscaler fails a request whose templates it has not seen yet."""

_STEM: Final = 200
"""Characters of the Job's name in that of a request, of the 253 that a name has."""

_ONCE: Final = {"noRetry": "true"}
"""The parameter with which the cluster autoscaler looks for room once, since 1.32; earlier versions ignore it."""


def request_names(job: StoredJob, spec: JobSpec) -> list[str]:
    """The names of the requests for the Job as it is now, fused as in ``spec``: other ones once anything changes."""
    elements = [element.name for element in spec.processing_elements or ()]
    content = msgspec.json.encode([job.uid, job.generation, elements])
    stem = f"{job.name[:_STEM].rstrip('-.')}-{hashlib.sha256(content).hexdigest()[:10]}"
    return [stem, *(f"{stem}-again-{attempt}" for attempt in range(1, ATTEMPTS))]


def request_object(job: StoredJob, name: str, pods: Sequence[AskedPod], api_version: str) -> Json:
    """The request for these pods."""
    sets = [
        {"podTemplateRef": {"name": template_name(name, place)}, "count": len(each.names)}
        for place, each in enumerate(pods)
    ]
    return {
        "apiVersion": api_version,
        "kind": PROVISIONING_REQUEST.name,
        "metadata": {"name": name, "ownerReferences": [owned_by(STREAMS_JOB, job.name, job.uid)]},
        "spec": {"provisioningClassName": CLASS, "parameters": _ONCE, "podSets": sets},
    }


def template_object(request: StoredRequest, place: int, pod: AskedPod) -> Json:
    """The PodTemplate of the request's pod set at that place."""
    owner = {
        "apiVersion": request.api_version,
        "kind": PROVISIONING_REQUEST.name,
        "name": request.name,
        "uid": request.uid,
        "controller": True,
    }
    return {
        "apiVersion": POD_TEMPLATE.api_version,
        "kind": POD_TEMPLATE.name,
        "metadata": {"name": template_name(request.name, place), "ownerReferences": [owner]},
        "template": {"metadata": {"labels": pod.labels}, "spec": pod.spec},
    }


def template_name(request: str, place: int) -> str:
    """The name of the PodTemplate of the pod set at that place."""
    return f"{request}-{place}"
