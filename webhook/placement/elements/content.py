"""The content of a processing element's pod as a short hash: another hash means another pod (``contentId``)."""

import hashlib
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, effective

LENGTH: Final = 12
"""Hexadecimal digits of the hash: 48 bits."""

_RESTARTS: Final = ("delete_failed_pod", "restart_completed_pod", "restart_deleted_pod", "restart_failed_pod")
"""Options that do not change the pod. An element's own ones count, because a change of them has to reach its object;
those of the Job for all elements are read when a pod ends."""

_to_json: Final = msgspec.json.Encoder(order="deterministic").encode


def content_id(element: ElementSpec, job: JobSpec) -> str:
    """The hash of everything that determines the pod of an element of the Job.

    The other elements do not count, nor does their number, so that pods of unchanged elements stay when others are
    added or removed.
    """
    own: dict[str, Any] = {option: getattr(element, option) for option in _RESTARTS}
    content: tuple[object, ...] = (
        replace(effective(element, job), **own),
        element.operators,
        element.template,
        job.bundle,
        job.submission_time_values,
        job.threading_model,
        job.transport_certificate_validity_in_days,
        job.resources,
    )
    if element.connections is not None:
        content += (element.connections,)
    return hashlib.sha256(_to_json(content)).hexdigest()[:LENGTH]
