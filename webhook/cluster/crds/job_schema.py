"""OpenAPI schema, CEL rules and printer columns of Job: what the API server checks and ``kubectl get`` shows.

The fields are described in ``docs/jobs.md``. Two processing elements of one name are refused by the webhook and by the
controller, not here: a CEL rule would compare every element with every other, at each change of the object.
"""

from typing import Final

from webhook.cluster.crds.condition_schema import OBSERVED_GENERATION, conditions_schema
from webhook.cluster.crds.element_schema import MODEL, OPTION_RULES, OPTIONS, RULES, at_most_one, resources_schema
from webhook.cluster.crds.hostpool_schema import FIELDS as POOL_FIELDS
from webhook.cluster.crds.hostpool_schema import STATIC_RULES as POOL_RULES
from webhook.cluster.crds.openapi import Schema, listed, number, obj, properties, rule, text
from webhook.placement.field_rules.element_patterns import GITHUB_URL
from webhook.placement.jobs.problems import POOL_LIMIT
from webhook.placement.kube.names import KEY_LIMIT, NAME_LIMIT
from webhook.placement.objects.job_spec import (
    ELEMENT_LIMIT,
    Bundle,
    CertificationAuthority,
    DynamicThreading,
    FileSource,
    Fusion,
    GithubSource,
    HttpSource,
    JobSpec,
    ThreadingModel,
)
from webhook.placement.objects.pool_spec import POOL_LIMIT as HOST_LIMIT
from webhook.placement.text.keys import LABEL_LIMIT

PHASES: Final = ("Submitting", "Running", "Degraded", "Failed", "Completed", "Deleting")

_INDEX_LENGTH: Final = len(f"-{ELEMENT_LIMIT - 1}")
"""Characters that the name of a processing element has more than that of its Job, if the Job does not name it."""


def _chosen(field: str) -> str:
    """CEL: whether a Boolean field is true; a choice that says ``false`` is not made."""
    return f"has(self.{field}) && self.{field}"


FUSION_RULES: Final = [
    rule(
        at_most_one(_chosen("automatic"), _chosen("legacy"), "has(self.manual)"),
        "automatic, legacy and manual exclude each other",
        reason="FieldValueForbidden",
    )
]
"""CEL rules of ``fusion``."""

THREADING_RULES: Final = [
    rule(
        at_most_one(_chosen("automatic"), _chosen("dedicated"), "has(self.dynamic)", _chosen("manual")),
        "automatic, dedicated, dynamic and manual exclude each other",
        reason="FieldValueForbidden",
    )
]
"""CEL rules of ``threadingModel``."""

GITHUB_RULES: Final = [
    rule(
        f"!has(self.secret) || self.url.matches(r'{GITHUB_URL}')",
        "must have the form https://api.HOST/repos/USER/REPOSITORY/contents/PATH.sab, which a secret needs",
        fieldPath=".url",
    )
]
"""CEL rules of ``bundle.github``."""

BUNDLE_RULES: Final = [
    rule(
        at_most_one("has(self.http)", "has(self.file)", "has(self.github)"),
        "http, file and github exclude each other",
        reason="FieldValueForbidden",
    )
]
"""CEL rules of ``bundle``."""

_NAME: Final = "size(self.metadata.name)"

ROOT_RULES: Final = [
    rule(f"{_NAME} <= {LABEL_LIMIT}", f"the name of a Job is a label value: at most {LABEL_LIMIT} characters"),
    rule(
        f"{_NAME} <= {LABEL_LIMIT - _INDEX_LENGTH} || !has(self.spec.processingElements)"
        " || self.spec.processingElements.all(element, has(element.name))",
        f"the name of the Job has more than {LABEL_LIMIT - _INDEX_LENGTH} characters, so that <job>-<index> may be no "
        "label value: each processing element needs a name of its own",
        fieldPath=".spec.processingElements",
    ),
    rule(
        "!has(self.spec.hostPools)"
        " || self.spec.hostPools.all(pool, !has(pool.job) || pool.job in ['', self.metadata.name])",
        "a HostPool of a Job is for this Job: leave out job",
        fieldPath=".spec.hostPools",
    ),
]
"""CEL rules of the whole object."""


_AUTHORITY: Final = obj(
    "A root certificate that the download trusts.", properties(CertificationAuthority), required=["configMapName"]
)

_HTTP: Final = obj(
    "The bundle is downloaded from a URL.", properties(HttpSource, certification_authority=_AUTHORITY), required=["url"]
)

_FILE: Final = obj("The bundle is a file in the container image.", properties(FileSource), required=["path"])

_GITHUB: Final = obj("The bundle is in a GitHub repository.", properties(GithubSource), required=["url"]) | {
    RULES: GITHUB_RULES
}

_BUNDLE: Final = obj(
    "The application bundle and its source.",
    properties(Bundle, http=_HTTP, file=_FILE, github=_GITHUB),
    required=["name"],
) | {RULES: BUNDLE_RULES}

_FUSION: Final = obj("How operators are fused into processing elements.", properties(Fusion)) | {RULES: FUSION_RULES}

_DYNAMIC: Final = obj("The dynamic threading model.", properties(DynamicThreading))

_THREADING: Final = obj("Threading model of the operators.", properties(ThreadingModel, dynamic=_DYNAMIC)) | {
    RULES: THREADING_RULES
}

_POOL: Final = obj(
    "A HostPool that the Job creates.",
    {
        **POOL_FIELDS,
        "name": {**POOL_FIELDS["name"], "description": "Name of the pool in host(...).", "minLength": 1},
        "job": {**POOL_FIELDS["job"], "description": "This Job; the pool always belongs to it."},
    },
    required=["name"],
) | {RULES: POOL_RULES}

_SPEC: Final = obj(
    "The application: its bundle, options, and model.",
    properties(
        JobSpec,
        bundle=_BUNDLE,
        fusion=_FUSION,
        processing_element=obj("Default options of all processing elements; an element can override them.", OPTIONS)
        | {RULES: OPTION_RULES},
        threading_model=_THREADING,
        resources=resources_schema("Compute resources of the whole Job, divided evenly among its elements."),
        host_pools=listed("The HostPools of the Job.", _POOL, kind="map", limit=POOL_LIMIT)
        | {"x-kubernetes-list-map-keys": ["name"]},
        processing_elements=listed(
            "Processing elements; the position in the list is the index.",
            obj("A processing element: its options, operators and template.", MODEL) | {RULES: OPTION_RULES},
            kind="atomic",
            limit=ELEMENT_LIMIT,
        ),
    ),
)

_NODE_NAME: Final = text("The name of a node.", maxLength=NAME_LIMIT)

_PLAN: Final = obj(
    "Placement of the whole Job when it was last planned.",
    {
        "judgedAt": text("Time of that plan.", format="date-time"),
        "nodes": listed(
            "Nodes of the processing elements.",
            obj(
                "A node, and the processing elements planned for it.",
                {
                    "name": _NODE_NAME,
                    "processingElements": listed(
                        "The names of processing elements.", text("A name.", maxLength=LABEL_LIMIT),
                        kind="atomic", limit=ELEMENT_LIMIT,
                    ),
                },
                required=["name"],
            ),
            kind="atomic",
            limit=ELEMENT_LIMIT,
        ),
        "required": listed(
            "Processing elements that can run on their planned node only.",
            text("A name.", maxLength=LABEL_LIMIT),
            kind="atomic",
            limit=ELEMENT_LIMIT,
        ),
        "pools": listed(
            "Planned hosts of the Job's own HostPools whose hosts were not yet assigned.",
            obj(
                "A HostPool.",
                {
                    "name": text("The name of the object.", maxLength=NAME_LIMIT),
                    "hosts": listed("Nodes of the pool, by index.", _NODE_NAME, kind="atomic", limit=HOST_LIMIT),
                },
                required=["name"],
            ),
            kind="atomic",
            limit=POOL_LIMIT,
        ),
        "hardware": listed(
            "Optional hardware assigned to processing elements; all others run without it.",
            obj(
                "An amount of a resource, and the processing elements that receive it.",
                {
                    "name": text("The name of the resource.", maxLength=KEY_LIMIT),
                    "container": text("The name of the container.", maxLength=LABEL_LIMIT),
                    "requests": text("The amount that the container requests."),
                    "limits": text("Its limit."),
                    "processingElements": listed(
                        "The names of processing elements.", text("A name.", maxLength=LABEL_LIMIT),
                        kind="atomic", limit=ELEMENT_LIMIT,
                    ),
                },
                required=["name"],
            ),
            kind="atomic",
            limit=ELEMENT_LIMIT,
        ),
    },
)  # fmt: skip

_STATUS: Final = obj(
    "Observed state.",
    {
        "phase": text("State of the Job.", enum=list(PHASES)),
        "processingElements": number("Desired number of processing elements.", at_least=0),
        "running": number("Number of processing elements that run.", at_least=0),
        "waiting": number("Number of processing elements that wait for a node or for something else.", at_least=0),
        "failed": number("Number of processing elements that have failed permanently.", at_least=0),
        "completed": number("Number of processing elements that have completed.", at_least=0),
        "pools": number("Desired number of HostPools.", at_least=0),
        "readyPools": number("Number of HostPools that are Ready.", at_least=0),
        "submittedAt": text("Start of the submission.", format="date-time"),
        "plan": _PLAN,
        "conditions": conditions_schema(
            "Conditions of the Job.",
            "A condition of the Job.",
            "Submitted once all pools and processing elements exist; Ready while all of these run; or Satisfiable "
            "while all of them could be started again.",
        ),
        "observedGeneration": OBSERVED_GENERATION,
    },
)

SCHEMA: Final[Schema] = obj(
    "A Streams job: host pools, and processing elements that each run as one pod.",
    {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": _SPEC,
        "status": _STATUS,
    },
    required=["spec"],
) | {RULES: ROOT_RULES}

COLUMNS: Final[list[Schema]] = [
    {"name": "Status", "type": "string", "jsonPath": ".status.phase"},
    {
        "name": "PEs",
        "type": "integer",
        "jsonPath": ".status.processingElements",
        "description": "Desired number of processing elements.",
    },
    {"name": "Running", "type": "integer", "jsonPath": ".status.running"},
    {"name": "Waiting", "type": "integer", "jsonPath": ".status.waiting"},
    {"name": "Failed", "type": "integer", "jsonPath": ".status.failed"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {"name": "Completed", "type": "integer", "jsonPath": ".status.completed", "priority": 1},
    {"name": "Pools", "type": "integer", "jsonPath": ".status.pools", "priority": 1},
    {"name": "Ready pools", "type": "integer", "jsonPath": ".status.readyPools", "priority": 1},
    {
        "name": "Message",
        "type": "string",
        "jsonPath": '.status.conditions[?(@.type=="Ready")].message',
        "description": "What is waiting, and why.",
        "priority": 1,
    },
]
"""Printer columns, which ``kubectl get`` shows with their names in capitals; those of priority 1 with ``-o wide``."""
