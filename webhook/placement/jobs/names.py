"""Names of the objects that belong to a Job, its HostPools and the pods of its elements; and references to owners."""

import re
from typing import Any, Final

from webhook.placement.text.api_kinds import ApiKind
from webhook.placement.text.keys import digest

NAME_LIMIT: Final = 63
"""Characters of a DNS label (RFC 1123)."""

_OTHER: Final = re.compile(r"[^a-z0-9-]+")


def pool_object_name(job: str, pool: str) -> str:
    """The name of the HostPool object for the Job's pool of that SPL name: ``parallel-mypool``.

    The SPL name in lower case, with ``-`` for what a DNS label cannot have; a name that is too long is cut and ends in a
    digest of the whole.
    """
    name = f"{job}-{_OTHER.sub('-', pool.lower()).strip('-') or 'pool'}"
    if len(name) <= NAME_LIMIT:
        return name
    return f"{name[: NAME_LIMIT - 9].rstrip('-.')}-{digest(f'{job}/{pool}')[:8].lower()}"


def pod_name(element: str, launch: int) -> str:
    """The name of the pod of that launch of a processing element: ``parallel-0-1``.

    A name belongs to one launch, so that a pod that is created twice by mistake is refused by the API server.
    """
    return f"{element}-{launch}"


def launch_of(element: str, pod: str) -> int:
    """The launch that a pod of the processing element belongs to, by its name; 0 if the name is none of :func:`pod_name`."""
    stated = pod.removeprefix(f"{element}-")
    return int(stated) if stated != pod and stated.isdecimal() and stated.isascii() and len(stated) < 12 else 0


def owned_by(kind: ApiKind, name: str, uid: str) -> dict[str, Any]:
    """The entry of ``ownerReferences`` for that owner: it is the controller, and is kept until what it owns is gone.

    The garbage collector deletes what has lost its owner (Kubernetes, ``pkg/controller/garbagecollector``).
    """
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
