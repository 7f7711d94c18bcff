"""Workloads that ``kubectl apply`` submits, and its output."""

import json
from typing import Any

from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane

FORBIDDEN = "Error from server (Forbidden)"
INVALID = "The request is invalid"
CORE = {"ReplicationController": "v1", "PodTemplate": "v1"}


def of_kind(kind: str, found: Object, **spec: Any) -> Object:
    """The pods of a Deployment, of another kind of workload."""
    version = "batch/v1" if "Job" in kind else CORE.get(kind, "apps/v1")
    made = {"selector": found["spec"]["selector"], "template": found["spec"]["template"], **spec}
    if kind == "PodTemplate":
        return {"apiVersion": version, "kind": kind, "metadata": found["metadata"], "template": made["template"]}
    if kind == "ReplicationController":
        made["selector"] = made["selector"]["matchLabels"]
    if "Job" in kind:
        del made["selector"]
        made["template"]["spec"]["restartPolicy"] = "Never"
    if kind == "CronJob":
        made = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": made}}
    return {"apiVersion": version, "kind": kind, "metadata": found["metadata"], "spec": made}


def applied(plane: ControlPlane, found: Object) -> str:
    """``kubectl apply``, which succeeds; what it warns of."""
    done = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(found))
    assert done.returncode == 0, done.stderr
    return done.stderr


def denied(hook: str) -> str:
    """How the API server begins what it says for a webhook of the chart."""
    return f'admission webhook "{hook}.placement.streams.ibm.com" denied the request: '


def refusal(plane: ControlPlane, found: Object, opening: str = FORBIDDEN, *, hook: str = "workloads") -> str:
    """What ``kubectl apply`` prints of the webhook's own words when it is refused."""
    return refused(plane, found, opening).partition(denied(hook))[2]


def refused(plane: ControlPlane, found: Object, opening: str = FORBIDDEN) -> str:
    """All that ``kubectl apply`` prints when it is refused."""
    done = plane.kubectl("apply", "--filename", "-", stdin=json.dumps(found))
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.startswith(f"{opening}: error when "), done.stderr
    return done.stderr
