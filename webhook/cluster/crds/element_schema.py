"""OpenAPI schema and CEL rules of a processing element: what the schemas of Job and ProcessingElement share.

The fields are described in ``docs/jobs.md``. Options that a processing element inherits have no default in the schema:
a default would be stored in the object, and nothing could be inherited any more.
"""

from typing import Final

from webhook.cluster.crds.openapi import Schema, listed, mapped, obj, open_object, properties, rule, text
from webhook.placement.field_rules.element_patterns import QUANTITY
from webhook.placement.jobs.problems import OPERATOR_LIMIT
from webhook.placement.kube.quantity import LENGTH_LIMIT
from webhook.placement.objects.jobs.job_spec import (
    DataVolumeClaim,
    ElementOptions,
    ElementSpec,
    FileSystemRepository,
    OperatorSpec,
    RedisRepository,
)

RESOURCE_LIMIT: Final = 64
"""Resources of one list of requests or limits."""

RULES: Final = "x-kubernetes-validations"


def at_most_one(*conditions: str) -> str:
    """CEL: whether not more than one of the conditions holds."""
    return f"[{', '.join(conditions)}].filter(one, one).size() <= 1"


AMOUNT: Final[Schema] = {"x-kubernetes-int-or-string": True, "maxLength": LENGTH_LIMIT, "pattern": QUANTITY}
"""The schema of an amount."""


def resources_schema(about: str) -> Schema:
    """The schema of compute resources; ``about`` is their description."""
    return obj(
        about,
        {
            "requests": mapped("Requested amount of each resource.", AMOUNT, limit=RESOURCE_LIMIT),
            "limits": mapped("Limit of each resource.", AMOUNT, limit=RESOURCE_LIMIT),
        },
    )


def _volume_claim(about: str) -> Schema:
    return obj(about, properties(DataVolumeClaim), required=["name"])


_FILE_SYSTEM: Final = obj(
    "Checkpoints in a file system.",
    properties(FileSystemRepository, volume_claim=_volume_claim("PersistentVolumeClaim that is mounted there.")),
    required=["path", "volumeClaim"],
)

_REDIS: Final = obj("Checkpoints in Redis servers.", properties(RedisRepository), required=["service"])

_CHECKPOINTS: Final = obj(
    "Checkpoint repository: a file system or Redis.", {"fileSystem": _FILE_SYSTEM, "redis": _REDIS}
) | {RULES: [rule("has(self.fileSystem) != has(self.redis)", "must be either fileSystem or redis")]}


OPTIONS: Final[Schema] = properties(
    ElementOptions,
    resources=resources_schema("Compute resources of the container; resources of the Job take precedence."),
    data_volume_claim=_volume_claim("PersistentVolumeClaim that is mounted at the data path."),
    checkpoint_repository=_CHECKPOINTS,
)
"""The fields of ``ElementOptions`` in ``placement/objects/jobs/job_spec.py``."""

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
    "An operator that is fused into the processing element.", properties(OperatorSpec), required=["name"]
)

_TEMPLATE: Final = open_object(
    "Pod template, as in a Deployment; defaults to that of the Streams runtime.",
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
                    "Must be Never: the restart options decide whether a pod is restarted, not the kubelet.",
                    enum=["Never"],
                ),
            },
        )
        | {"required": ["containers"]},
    },
) | {"required": ["spec"]}

MODELLED: Final[dict[str, Schema]] = {
    "resources": OPTIONS["resources"],
    "data_volume_claim": OPTIONS["dataVolumeClaim"],
    "checkpoint_repository": _CHECKPOINTS,
    "operators": listed(
        "Operators that are fused into the processing element.", _OPERATOR, kind="map", limit=OPERATOR_LIMIT
    )
    | {"x-kubernetes-list-map-keys": ["name"]},
    "template": _TEMPLATE,
}
"""The schemas of the fields of ``ElementSpec`` that have no rule of their own."""

MODEL: Final[Schema] = properties(ElementSpec, **MODELLED)
"""The fields of ``ElementSpec``: a processing element in the list of a Job."""
