"""The workload that a pod is a replica of, such as ``Deployment/pipeline``, read from owner references and labels."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from webhook.placement.text.api_kinds import PROCESSING_ELEMENT

HASH: Final = "pod-template-hash"
"""Label of a Deployment's pods; the names of its ReplicaSets end in the label's value (Kubernetes, Deployments)."""

_RUN = re.compile(r"Job/(.+)-[0-9]+", re.ASCII)
"""A Job that a CronJob made, named by the CronJob and the scheduled minute (Kubernetes, ``getJobName`` of CronJobs)."""


DAEMON_SET: Final = ("apps/v1", "DaemonSet")
"""API version and kind of Kubernetes' own DaemonSets. Nodes need such pods, so exclusive hosts run them, too."""


_DAEMON_SET_KIND: Final = DAEMON_SET[1]

_ELEMENT: Final = (PROCESSING_ELEMENT.api_version, PROCESSING_ELEMENT.name)


class Reference(Protocol):
    """The fields of an owner reference (``metadata.ownerReferences``) that are read here."""

    @property
    def api_version(self) -> str:
        """The API group and version of the owner's kind."""
        ...

    @property
    def kind(self) -> str:
        """The owner's kind."""
        ...

    @property
    def name(self) -> str:
        """The owner's name."""
        ...

    @property
    def controller(self) -> bool | None:
        """Whether the owner is the managing controller of the object."""
        ...


def owner_of(references: Iterable[Reference] | None, labels: Mapping[str, str] | None) -> str:
    """Kind and name of the workload, such as ``Deployment/pipeline``; empty for a pod without a controller.

    For a ReplicaSet of a Deployment the workload is the Deployment.
    """
    owner = next((reference for reference in references or () if reference.controller), None)
    if owner is None:
        return ""
    ending = f"-{(labels or {}).get(HASH, '')}"
    if owner.kind == "ReplicaSet" and len(ending) > 1 and owner.name.endswith(ending):
        return f"Deployment/{owner.name.removesuffix(ending)}"
    return f"{owner.kind}/{owner.name}"


def is_daemon_set(owner: Reference) -> bool:
    """Whether the owner is the object's controller and a DaemonSet of ``apps/v1``."""
    return bool(owner.controller) and (owner.api_version, owner.kind) == DAEMON_SET


def of_daemon_set(references: Iterable[Reference] | None) -> bool:
    """Whether one of the references names a DaemonSet as controller. Users can write such a reference, too."""
    for owner in references or ():  # noqa: SIM110 -- of every pod under review: a loop costs a third of any()
        if owner.kind == _DAEMON_SET_KIND and is_daemon_set(owner):
            return True
    return False


def owners_of(owner: str) -> Iterator[str]:
    """The workload ``owner`` and, if its name is that of a CronJob's run, the CronJob."""
    yield owner
    if run := _RUN.fullmatch(owner):
        yield f"CronJob/{run[1]}"


def is_element(owner: Reference) -> bool:
    """Whether the owner is a ProcessingElement that is the pod's controller."""
    return bool(owner.controller) and (owner.api_version, owner.kind) == _ELEMENT
