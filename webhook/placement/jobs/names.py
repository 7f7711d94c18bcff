"""Names of the pods of processing elements, and references to the owners of objects."""

from typing import Any

from webhook.placement.text.api_kinds import ApiKind


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
