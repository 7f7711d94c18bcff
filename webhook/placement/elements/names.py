"""Names of the pods of processing elements, and references to the owners of objects."""

import re
from typing import Any, Final

from webhook.placement.text.api_kinds import ApiKind

_LAUNCH: Final = re.compile(r"[1-9][0-9]{0,11}", re.ASCII)


def pod_name(element: str, launch: int) -> str:
    """The name of the pod of that launch of a processing element: ``parallel-0-1``.

    A name belongs to one launch, so that a pod that is created twice by mistake is refused by the API server.
    """
    return f"{element}-{launch}"


def launch_of(element: str, pod: str) -> int:
    """The launch that a pod of the processing element belongs to, by its name; 0 if that is of another form."""
    match = _LAUNCH.fullmatch(pod.removeprefix(f"{element}-"))
    return int(match.group()) if match and pod.startswith(f"{element}-") else 0


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
