"""Which workload a pod is a replica of, told from the pod alone."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

HASH: Final = "pod-template-hash"
"""Label by which a Deployment tells its ReplicaSets apart; their names end in it (Kubernetes, Deployments)."""

_RUN = re.compile(r"Job/(.+)-[0-9]+", re.ASCII)
"""A run of a CronJob: its name and the minute it was due (Kubernetes, ``getJobName`` of the CronJob controller)."""


DAEMON_SET: Final = ("apps/v1", "DaemonSet")
"""Version and kind of the owner whose pods may run on exclusive hosts too: no node is of use without them."""


class Reference(Protocol):
    """An owner reference."""

    @property
    def api_version(self) -> str:
        """The group and version of the owner's kind."""
        ...

    @property
    def kind(self) -> str:
        """Of what kind the owner is."""
        ...

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def controller(self) -> bool | None:
        """Whether it manages the object."""
        ...


def owner_of(references: Iterable[Reference] | None, labels: Mapping[str, str] | None) -> str:
    """Kind and name of the workload, such as ``Deployment/pipeline``; empty for a pod that nobody controls."""
    owner = next((found for found in references or () if found.controller), None)
    if owner is None:
        return ""
    ending = f"-{(labels or {}).get(HASH, '')}"
    if owner.kind == "ReplicaSet" and len(ending) > 1 and owner.name.endswith(ending):
        return f"Deployment/{owner.name.removesuffix(ending)}"
    return f"{owner.kind}/{owner.name}"


def is_daemon_set(owner: Reference) -> bool:
    """Whether the owner manages the object and is a DaemonSet of Kubernetes' own."""
    return bool(owner.controller) and (owner.api_version, owner.kind) == DAEMON_SET


def of_daemon_set(references: Iterable[Reference] | None) -> bool:
    """Whether the references say that a DaemonSet has made the object; whether that is so is another question."""
    return any(map(is_daemon_set, references or ()))


def owners_of(owner: str) -> Iterator[str]:
    """The workload, and the workload it is itself a run of, where the name tells."""
    yield owner
    if run := _RUN.fullmatch(owner):
        yield f"CronJob/{run[1]}"
