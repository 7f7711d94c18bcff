"""The restart table of S2's options, written down a second time: for tests, and by what a pod was at its end."""

from typing import Any

Json = dict[str, Any]


def option(element: Json, job: Json, name: str, default: Any) -> Any:
    """The element's own value, else the Job's for all elements, else the default."""
    for level in (element["spec"], job["spec"].get("processingElement") or {}):
        if level.get(name) is not None:
            return level[name]
    return default


def restartable(element: Json) -> bool:
    return all(operator.get("restartable") is not False for operator in element["spec"].get("operators") or ())


def restarts(element: Json, job: Json, outcome: str, *, deleted: bool) -> bool:
    """Whether another launch follows an end; ``deleted`` if somebody had deleted the pod before."""
    on_delete = option(element, job, "restartDeletedPod", default=False)
    failed = option(element, job, "restartFailedPod", default=None)
    own = {
        "Completed": option(element, job, "restartCompletedPod", default=False),
        "Failed": restartable(element) if failed is None else failed,
        "Deleted": on_delete,
    }[outcome]
    return bool(own or (deleted and on_delete))
