"""Jobs and ProcessingElements as users submit them, in the namespace of the rules."""

from typing import Any, Final, TypeAlias

from tests.e2e.chart.objects.hostpools import SPACE
from tests.e2e.client.api import Object

Spec: TypeAlias = dict[str, Any]

GROUP: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}"
JOBS: Final = f"{GROUP}/streamsjobs"
ELEMENTS: Final = f"{GROUP}/streamspes"

BUNDLE: Final[Spec] = {"name": "apps.parallel.Parallel.sab"}
CLAIM: Final[Spec] = {"name": "data", "subPath": "a/b"}
TEMPLATE: Final[Spec] = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def job(spec: object, name: str = "parallel") -> Object:
    metadata = {"name": name, "namespace": SPACE}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def element(spec: object, name: str = "parallel-0") -> Object:
    return {**job(spec, name), "kind": "ProcessingElement"}


def of(**options: Any) -> Spec:
    """A Job with one processing element of these options."""
    return {"bundle": BUNDLE, "processingElements": [options]}


def operators(*names: str) -> Spec:
    return of(operators=[{"name": name} for name in names])


FULL: Final[Spec] = {
    "bundle": {
        "name": "a.sab",
        "pullPolicy": "Always",
        "http": {
            "url": "https://example.com/a.sab",
            "certificationAuthority": {"configMapName": "ca", "subPath": "ca.crt"},
        },
    },
    "fusion": {"type": "channelIsolation", "manual": 3, "automatic": False},
    "imagePullPolicy": "IfNotPresent",
    "imagePullSecret": "registry",
    "processingElement": {"restartFailedPod": True},
    "submissionTimeOutInSeconds": 60,
    "submissionTimeValues": {"width": "3"},
    "threadingModel": {"dynamic": {"elastic": True, "threadCount": 2}, "manual": False},
    "transportCertificateValidityInDays": 10,
    "resources": {"requests": {"cpu": 3, "memory": "3Gi"}, "limits": {"nvidia.com/gpu": "3"}},
    "hostPools": [
        {"name": "P1", "tags": ["source"], "mode": "Shared", "elastic": False},
        {"name": "P2", "size": 2, "mode": "Exclusive", "job": "parallel", "elastic": True},
        {"name": "P3", "hosts": ["foo", "10.8.5.6"], "mode": "Shared", "elastic": False},
    ],
    "processingElements": [
        {
            "buildType": "debug",
            "imagePullPolicy": "Always",
            "imagePullSecret": "other",
            "sabName": "b.sab",
            "transportSecurityType": "TLSv1.2",
            "resources": {"requests": {"cpu": "500m"}},
            "allowPtrace": True,
            "runWithValgrind": True,
            "appTraceLevel": "DEBUG",
            "runtimeTraceLevel": "TRACE",
            "deleteFailedPod": False,
            "restartCompletedPod": True,
            "restartDeletedPod": True,
            "restartFailedPod": False,
            "initialProbeDelayInSeconds": 0,
            "probeFailureThreshold": 3,
            "probeIntervalInSeconds": 5,
            "dataPath": "/data",
            "dataVolumeClaim": CLAIM,
            "checkpointRepository": {"fileSystem": {"path": "/checkpoints", "volumeClaim": CLAIM}},
            "appPropertiesSecret": "app",
            "restrictedPropertiesSecret": "restricted",
            "name": "source",
            "operators": [
                {"name": "Main.Source", "placement": "host(P1)", "restartable": False},
                {"name": "Main.Parse", "placement": 'hostColocation("t")'},
            ],
        },
        {"checkpointRepository": {"redis": {"service": "redis", "replicaCount": 2, "shardCount": 1, "shuffle": True}}},
        {"name": "any", "template": TEMPLATE},
    ],
}
"""Something in every field."""
