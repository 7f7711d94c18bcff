"""OpenAPI schema, CEL rules and printer columns of Job: what the API server checks and ``kubectl get`` shows.

The fields are described in ``docs/jobs.md``. Two processing elements of one name are refused by the webhook and by the
controller, not here: a CEL rule would compare every element with every other, at each change of the object.
"""

from typing import Final

from webhook.cluster.crds.condition_schema import OBSERVED_GENERATION, conditions_schema
from webhook.cluster.crds.element_schema import (
    AMOUNT,
    MODEL,
    MODELLED,
    OPTION_RULES,
    OPTIONS,
    RULES,
    at_most_one,
    resources_schema,
)
from webhook.cluster.crds.hostpool_schema import FIELDS as POOL_FIELDS
from webhook.cluster.crds.hostpool_schema import STATIC_RULES as POOL_RULES
from webhook.cluster.crds.openapi import Schema, listed, number, obj, properties, root, rule, text
from webhook.placement.field_rules.element_patterns import GITHUB_URL
from webhook.placement.jobs.problems import POOL_LIMIT
from webhook.placement.kube.names import KEY_LIMIT, NAME_LIMIT
from webhook.placement.objects.jobs.job_fusion import SEPARATIONS
from webhook.placement.objects.jobs.job_operators import (
    IDENTIFIER_LIMIT,
    OPERATORS_LIMIT,
    REGION_NAME_LIMIT,
    REGIONS_LIMIT,
    STREAMS_LIMIT,
    JobOperator,
    RegionSpec,
    StreamSpec,
)
from webhook.placement.objects.jobs.job_spec import (
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
from webhook.placement.text.problem import MESSAGE_LIMIT

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

SPEC_RULES: Final = [
    rule(
        at_most_one("has(self.operators)", "has(self.processingElements)"),
        "operators and processingElements exclude each other",
        reason="FieldValueForbidden",
    ),
    rule(
        "has(self.operators) || !(has(self.streams) || has(self.parallelRegions))",
        "streams and parallelRegions are stated without operators",
    ),
]
"""CEL rules of the spec."""

ROOT_RULES: Final = [
    rule(f"{_NAME} <= {LABEL_LIMIT}", f"the name of a Job is a label value: at most {LABEL_LIMIT} characters"),
    rule(
        f"{_NAME} <= {LABEL_LIMIT - _INDEX_LENGTH} || !has(self.spec.operators)",
        f"the name of the Job has more than {LABEL_LIMIT - _INDEX_LENGTH} characters, so that <job>-<index> may be no "
        "label value, and processing elements that operators are fused into have such names",
    ),
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


def _by_name(about: str, entry: Schema, limit: int) -> Schema:
    """The schema of a list whose entries have different names."""
    return listed(about, entry, kind="map", limit=limit) | {"x-kubernetes-list-map-keys": ["name"]}


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
        host_pools=_by_name("The HostPools of the Job.", _POOL, POOL_LIMIT),
        processing_elements=listed(
            "Processing elements; the position in the list is the index.",
            obj("A processing element: its options, operators and template.", MODEL) | {RULES: OPTION_RULES},
            kind="atomic",
            limit=ELEMENT_LIMIT,
        ),
        operators=_by_name(
            "Operators that are to be fused into processing elements.",
            obj(
                "An operator.",
                properties(
                    JobOperator,
                    cost={"description": "CPU of the operator at full load."} | AMOUNT,
                    memory={"description": "Memory of the operator."} | AMOUNT,
                    template=MODELLED["template"],
                ),
                required=["name"],
            ),
            OPERATORS_LIMIT,
        ),
        streams=listed(
            "Streams between the operators.",
            obj("A stream.", properties(StreamSpec), required=["from", "to"]),
            kind="atomic",
            limit=STREAMS_LIMIT,
        ),
        parallel_regions=_by_name(
            "Parallel regions; each channel has a copy of the operators.",
            obj("A parallel region.", properties(RegionSpec), required=["name", "width"]),
            REGIONS_LIMIT,
        ),
    ),
) | {RULES: SPEC_RULES}

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

_OPERATOR: Final = text("The name of an operator.", maxLength=IDENTIFIER_LIMIT)

_FUSED: Final = obj(
    "Fusion of the operators.",
    {
        "scheme": text("Scheme by which they were fused.", enum=["automatic", "manual", "legacy"]),
        "asked": number("Number of processing elements that the scheme asks for.", at_least=0),
        "made": number("Number of processing elements that were made.", at_least=0),
        "inside": number("Traffic that stays within processing elements, in per cent.", at_least=0),
        "insideAtMost": number("Traffic that can stay there with as many elements, at most, in per cent.", at_least=0),
        "processingElements": listed(
            "The processing elements.",
            obj(
                "A processing element.",
                {
                    "name": text("Its name.", maxLength=LABEL_LIMIT),
                    "operators": listed("Its operators.", _OPERATOR, kind="atomic", limit=OPERATORS_LIMIT),
                },
                required=["name"],
            ),
            kind="atomic",
            limit=ELEMENT_LIMIT,
        ),
        "separations": listed(
            "Operators with a stream between them that a clause keeps apart.",
            obj(
                "Two operators.",
                {
                    "operators": listed("The operators.", _OPERATOR, kind="atomic", limit=2),
                    "clause": text("What keeps them apart.", maxLength=MESSAGE_LIMIT),
                },
            ),
            kind="atomic",
            limit=SEPARATIONS,
        ),
        "generation": number("Generation of the spec that was fused.", at_least=0),
        "regions": listed(
            "Parallel regions as they were fused.",
            obj(
                "A parallel region.",
                {
                    "name": text("Its name.", maxLength=REGION_NAME_LIMIT),
                    "width": number("Number of its channels.", at_least=1),
                    "stated": number("Width that the Job stated then.", at_least=1),
                },
                required=["name"],
            ),
            kind="atomic",
            limit=REGIONS_LIMIT,
        ),
    },
)

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
        "fusion": _FUSED,
        "conditions": conditions_schema(
            "Conditions of the Job.",
            "A condition of the Job.",
            "Submitted once all pools and processing elements exist; Ready while all of these run; Satisfiable "
            "while all of them could be started again; or CapacityFound if an autoscaler has room for them.",
        ),
        "observedGeneration": OBSERVED_GENERATION,
    },
)

SCHEMA: Final[Schema] = root(
    "A Streams job: host pools, and processing elements that each run as one pod.", _SPEC, _STATUS, required=["spec"]
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
