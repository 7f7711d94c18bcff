"""OpenAPI schema and CEL rules of a processing element: what the schemas of Job and ProcessingElement share.

The fields are described in ``docs/jobs.md``. Options that a processing element inherits have no default in the schema:
a default would be stored in the object, and nothing could be inherited any more.
"""

from typing import Final

from webhook.cluster.crds.element_patterns import ABSOLUTE_PATH, OBJECT_NAME, QUANTITY, RELATIVE_PATH
from webhook.cluster.crds.openapi import Schema, listed, mapped, number, obj, open_object, rule, switch, text
from webhook.placement.jobs.option_problems import BUILD_TYPES, PULL_POLICIES, SECURITY_TYPES, TRACE_LEVELS
from webhook.placement.jobs.problems import OPERATOR_LIMIT
from webhook.placement.kube.addresses import NAME_LIMIT
from webhook.placement.kube.quantity import LENGTH_LIMIT
from webhook.placement.spl.placement import TEXT_LIMIT
from webhook.placement.text.keys import LABEL_LIMIT

PATH_LIMIT: Final = 4096
"""Characters of a path (Linux, ``PATH_MAX``)."""

IDENTIFIER_LIMIT: Final = 1024
"""Characters of the name of an operator, which has the names of the composites around it, or of a property."""

RESOURCE_LIMIT: Final = 64
"""Resources of one list of requests or limits."""

_KEY_LIMIT: Final = NAME_LIMIT + 1 + LABEL_LIMIT
_COUNT_LIMIT: Final = 1000
"""Replicas and shards of Redis servers."""

RULES: Final = "x-kubernetes-validations"


def at_most_one(*conditions: str) -> str:
    """CEL: whether not more than one of the conditions holds."""
    return f"[{', '.join(conditions)}].filter(one, one).size() <= 1"


def object_name(about: str, limit: int = NAME_LIMIT) -> Schema:
    """The schema of the name of an object."""
    return text(about, minLength=1, maxLength=limit, pattern=OBJECT_NAME)


def resources_schema(about: str) -> Schema:
    """The schema of compute resources; ``about`` is their description."""
    amount = {"x-kubernetes-int-or-string": True, "maxLength": LENGTH_LIMIT, "pattern": QUANTITY}
    return obj(
        about,
        {
            "requests": mapped("How much of each resource is needed.", amount, limit=RESOURCE_LIMIT),
            "limits": mapped("How much of each resource may be used.", amount, limit=RESOURCE_LIMIT),
        },
    )


def _absolute(about: str) -> Schema:
    return text(about, maxLength=PATH_LIMIT, pattern=ABSOLUTE_PATH)


def _volume_claim(about: str) -> Schema:
    return obj(
        about,
        {
            "name": object_name("The PersistentVolumeClaim."),
            "subPath": text(
                "A path in the claim; its root if absent.", minLength=1, maxLength=PATH_LIMIT, pattern=RELATIVE_PATH
            ),
        },
        required=["name"],
    )


_FILE_SYSTEM: Final = obj(
    "Checkpoints in a file system.",
    {
        "path": _absolute("Where the file system is mounted in the container."),
        "volumeClaim": _volume_claim("The claim that is mounted there."),
    },
    required=["path", "volumeClaim"],
)

_REDIS: Final = obj(
    "Checkpoints in Redis servers.",
    {
        "replicaCount": number("How many replicas there are.", at_least=1, maximum=_COUNT_LIMIT),
        "restrictedProperty": text(
            "The restricted property that is the password.", minLength=1, maxLength=IDENTIFIER_LIMIT
        ),
        "service": object_name("The Service of the servers.", LABEL_LIMIT),
        "shardCount": number("How many shards a replica has.", at_least=1, maximum=_COUNT_LIMIT),
        "shuffle": switch("Whether servers are chosen in random order."),
    },
    required=["service"],
)

_CHECKPOINTS: Final = obj(
    "Where checkpoints are kept: in a file system, or in Redis.", {"fileSystem": _FILE_SYSTEM, "redis": _REDIS}
) | {RULES: [rule("has(self.fileSystem) != has(self.redis)", "must be either fileSystem or redis")]}


def pull_policy(about: str) -> Schema:
    """The schema of a policy that says when something is fetched."""
    return text(about, enum=list(PULL_POLICIES))


OPTIONS: Final[Schema] = {
    "buildType": text("The build of the runtime; debug if nobody says.", enum=list(BUILD_TYPES)),
    "imagePullPolicy": pull_policy("When the image is pulled; as the Job says, or Always."),
    "imagePullSecret": object_name("The Secret for pulling the image; that of the Job, or none."),
    "sabName": text("The application bundle; that of the Job.", minLength=1, maxLength=NAME_LIMIT),
    "transportSecurityType": text(
        "How connections between processing elements are encrypted; none if nobody says.", enum=list(SECURITY_TYPES)
    ),
    "resources": resources_schema("Compute resources of the container; resources of the Job count more."),
    "allowPtrace": switch("Whether the container has the capability SYS_PTRACE; no if nobody says."),
    "runWithValgrind": switch(
        "Whether the runtime runs in valgrind, which implies buildType debug and allowPtrace; no if nobody says."
    ),
    "appTraceLevel": text("Trace level of the application; that of the bundle if absent.", enum=list(TRACE_LEVELS)),
    "runtimeTraceLevel": text("Trace level of the runtime; INFO if nobody says.", enum=list(TRACE_LEVELS)),
    "deleteFailedPod": switch("Whether a pod that has failed is deleted; yes if nobody says."),
    "restartCompletedPod": switch("Whether a pod that has completed is started again; no if nobody says."),
    "restartDeletedPod": switch("Whether a pod that somebody deletes is started again; no if nobody says."),
    "restartFailedPod": switch(
        "Whether a pod that has failed is started again; if nobody says, whether all operators are restartable."
    ),
    "initialProbeDelayInSeconds": number("Seconds before the first liveness probe; 30 if nobody says.", at_least=0),
    "probeFailureThreshold": number("Failed probes after which it is killed; 1 if nobody says.", at_least=1),
    "probeIntervalInSeconds": number("Seconds between probes; 10 if nobody says.", at_least=1),
    "dataPath": _absolute("The data path of the runtime; that of the image if absent."),
    "dataVolumeClaim": _volume_claim("The claim that is mounted at the data path."),
    "checkpointRepository": _CHECKPOINTS,
    "appPropertiesSecret": object_name("The Secret with application properties."),
    "restrictedPropertiesSecret": object_name("The Secret with restricted properties."),
}
"""The fields of ``ElementOptions`` in ``placement/inventory/job_spec.py``."""

_VALGRIND: Final = "!has(self.runWithValgrind) || !self.runWithValgrind"

OPTION_RULES: Final = [
    rule(
        f"{_VALGRIND} || !has(self.allowPtrace) || self.allowPtrace",
        "must not be false, as runWithValgrind needs it",
        fieldPath=".allowPtrace",
    ),
    rule(
        f"{_VALGRIND} || !has(self.buildType) || self.buildType == 'debug'",
        "must be debug, as runWithValgrind needs it",
        fieldPath=".buildType",
    ),
]
"""CEL rules of the options of one object."""

_OPERATOR: Final = obj(
    "An operator that is fused into the processing element.",
    {
        "name": text("The operator, different from all others here.", minLength=1, maxLength=IDENTIFIER_LIMIT),
        "placement": text(
            'Its host constraints, such as host(Pool), hostColocation("t") or hostIsolation.', maxLength=TEXT_LIMIT
        ),
        "restartable": switch("Whether it can be started again after a failure; yes if absent."),
    },
    required=["name"],
)

_TEMPLATE: Final = open_object(
    "The pod, as in a Deployment; that of the Streams runtime if absent.",
    {
        "metadata": open_object("Labels and annotations of the pod.", {}),
        "spec": open_object(
            "The spec of the pod.",
            {
                "containers": {
                    "type": "array",
                    "description": "The containers of the pod.",
                    "minItems": 1,
                    "items": open_object("A container.", {"name": text("Its name.")}) | {"required": ["name"]},
                },
                "restartPolicy": text(
                    "Pods are started again as the restart options say, never by the kubelet.", enum=["Never"]
                ),
            },
        )
        | {"required": ["containers"]},
    },
) | {"required": ["spec"]}

MODEL: Final[Schema] = {
    **OPTIONS,
    "name": object_name("The ProcessingElement; <job>-<index> if absent.", LABEL_LIMIT),
    "operators": listed("The operators that are fused into it.", _OPERATOR, kind="map", limit=OPERATOR_LIMIT)
    | {"x-kubernetes-list-map-keys": ["name"]},
    "template": _TEMPLATE,
}
"""The fields of ``ElementSpec``: a processing element in the list of a Job."""
