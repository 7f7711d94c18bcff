"""The tables of the pages are the code's: settings, keys, grammar, limits, fields."""

import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest

from certs import options
from tests.docs.pages import ROOT, blocks, page
from webhook.admission.checks.jobs import CONTAINERS_LIMIT
from webhook.admission.review import OBJECT_LIMIT
from webhook.cluster.crds import hpaintent_schema, job_schema, processingelement_schema
from webhook.cluster.objects import report
from webhook.cluster.queries.lookups import job_workloads
from webhook.cluster.snapshot import folder, yaml_documents
from webhook.controller import hostpools
from webhook.placement.annotations import hardware_text
from webhook.placement.inventory.policy import POOLS
from webhook.placement.jobs import problems
from webhook.placement.jobs.job_workloads import MOST
from webhook.placement.kube import quantity
from webhook.placement.kube.selection import node_terms as nodeterms
from webhook.placement.kube.size_limits import NESTING_LIMIT, WORDS_LIMIT
from webhook.placement.objects import consumer, intent, pool_spec
from webhook.placement.objects.jobs import job_resources, job_spec
from webhook.placement.provision import intended_hardware as intended
from webhook.placement.spl import clauses
from webhook.placement.spl import placement as spl
from webhook.placement.text import keys, problem
from webhook.server import certificate
from webhook.server.http.limits import HEALTH, REVIEWS
from webhook.setting_fields import declared, flag, variable


def rows(name: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its two lines of head."""
    section = page(name).partition(f"\n## {heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table is not None, heading
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.group().splitlines()[2:]]


def encoded(struct: type) -> list[str]:
    """The names of the fields of a Struct as JSON has them."""
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def limits() -> dict[str, str]:
    return {name.strip(): value.strip() for name, value in rows("operations.md", "Limits")}


# Settings, keys


def setting(name: str) -> list[str]:
    """The row of a setting, as its field in ``webhook/setting_fields.py`` has it."""
    field = declared()[name]
    default = {"None": "none", "": "none", "True": "yes", "False": "no"}.get(str(field.default)) or f"`{field.default}`"
    values = get_args(field.kind) if get_origin(field.kind) is Literal else ()
    choices = f" One of {', '.join(f'`{value}`' for value in values)}." if values else ""
    return [f"`{flag(name)}`", f"`{variable(name)}`", default, f"{field.rule.description}{choices}"]


def test_the_table_of_settings_is_that_of_the_code() -> None:
    assert rows("operations.md", "Settings") == [setting(name) for name in declared()]


def test_the_table_of_certificate_flags_is_that_of_the_code() -> None:
    shown = rows("operations.md", "Certificates")
    assert shown == [[f"`--{each.name}`", f"`{each.variable}`", each.meaning] for each in options.CREATE]


def test_every_reason_of_conditions_and_events_is_on_the_page() -> None:
    texts = "".join(path.read_text() for path in Path(hostpools.__file__).parent.glob("pool_*.py"))
    words = set(re.findall(r"\"([A-Z][a-z]+(?:[A-Z][a-z]+)+|Unsized|Settling|Invalid|Released|Degraded)\"", texts))
    section = page("hostpool.md").partition("\n### Conditions and Events\n")[2].partition("\n### ")[0]
    shown = set(re.findall(r"`([A-Z]\w+)`", section)) - {"Ready", "Exclusive"}
    assert shown == words - {"HostPool"}


KEYS = sorted(
    {value for name, value in vars(keys).items() if isinstance(value, str) and name.isupper() and "/" in value}
    - {keys.PREFIX}
    | keys.FOREIGN
)
"""Every key in ``webhook/placement/text/keys.py``, and every prefix of keys."""


def test_every_key_is_on_the_page() -> None:
    assert [key for key in KEYS if f"`{key}" not in page("annotations.md")] == []


def test_the_keys_are_found_in_the_code() -> None:
    assert {keys.PLACEMENT, keys.JOB, keys.MEMBERSHIP, keys.EXCLUSIVE, keys.TAGS, keys.HOSTNAME} <= set(KEYS)


@pytest.mark.parametrize("clause", clauses.ClauseName)
def test_every_clause_is_in_the_grammar(clause: clauses.ClauseName) -> None:
    (grammar,) = blocks("ebnf", (ROOT / "docs" / "annotations.md",))
    assert f'"{clause}"' in grammar.text


def test_the_grammar_is_that_of_the_parser() -> None:
    (grammar,) = blocks("ebnf", (ROOT / "docs" / "annotations.md",))
    shown = " ".join(grammar.text.split())
    source = " ".join(Path(spl.__file__).read_text().split())
    rules = re.findall(r"``((?:placement|operator_clauses|clause|pool|operator) = .+? ;)``", source)
    assert len(rules) == 5
    assert [rule for rule in rules if rule not in shown] == []


# Limits


LIMITS: dict[str, tuple[Any, ...]] = {
    "body of a request; one object in it": (f"{REVIEWS.body >> 20} MiB", f"{OBJECT_LIMIT >> 20} MiB"),
    f"all bodies over {REVIEWS.small_body >> 10} KiB at a time; of one address": (
        f"{REVIEWS.bodies >> 20} MiB",
        f"{REVIEWS.share >> 20} MiB",
        f"others wait unread, up to 256 of them, {REVIEWS.room_seconds:g} s each",
    ),
    f"a body over {REVIEWS.small_body >> 10} KiB, once there is room for it": (
        f"{REVIEWS.arrival(0):g} s, and 1 s more for every {REVIEWS.body_rate >> 20} MiB",
    ),
    "answers that wait to be read, on one connection; on all": (
        f"what one answer is beyond {REVIEWS.unsent >> 10} KiB",
        f"{REVIEWS.bodies >> 20} MiB",
    ),
    "one header line; header fields; a whole header": (
        f"{REVIEWS.header_line:,} bytes",
        REVIEWS.header_fields,
        f"{REVIEWS.header >> 10} KiB",
    ),
    "a header, from its first byte to its end": (f"{REVIEWS.header_seconds:g} s",),
    "a TLS handshake": (f"{REVIEWS.handshake_seconds:g} s",),
    "open connections for reviews": (
        f"{REVIEWS.connections:,}, setting `--max-connections`",
        f"{HEALTH.connections} on the port for health",
    ),
    "idle connection": (
        f"{REVIEWS.keep_alive_seconds:,.0f} s",
        f"{HEALTH.keep_alive_seconds:g} s on the port for health",
    ),
    "one review": (f"{REVIEWS.deadline_seconds:g} s, or less as its caller says",),
    "one annotation; clauses; different tokens": (f"{spl.TEXT_LIMIT >> 10} KiB", spl.CLAUSE_LIMIT, spl.TOKEN_LIMIT),
    "node selector terms of a merged pod; expressions and values in them": (
        f"{nodeterms.TERM_LIMIT:,}",
        f"{WORDS_LIMIT:,}",
    ),
    "containers of a pod that asks; amounts of resources; ports": ("1,000", "5,000", "20,000"),
    "its labels in `nodeSelector`; tolerations; spread constraints; terms about pods": ("2,000", "2,000", 10, "1,000"),
    "HostPools of a namespace": (f"{POOLS}, setting `--pool-quota`",),
    "hosts of a pool; its tags": (f"{pool_spec.POOL_LIMIT:,}", pool_spec.TAG_LIMIT),
    "name of its job, and of its processing element": (f"{keys.LABEL_LIMIT} characters, as for any label",),
    "PEs of one job; its HostPools; operators of one PE": (
        f"{job_spec.ELEMENT_LIMIT:,}",
        problems.POOL_LIMIT,
        f"{problems.OPERATOR_LIMIT:,}",
    ),
    "amounts of resources that a Job, or one of its PEs, states": (job_resources.AMOUNTS_LIMIT,),
    "lists and objects in a Job; levels of nesting in a template; `hostIsolation` clauses of one job": (
        f"{CONTAINERS_LIMIT:,}",
        NESTING_LIMIT,
        f"{problems.ISOLATION_LIMIT:,}",
    ),
    "workloads of a namespace that one of a job is judged with; bytes of their list": (
        f"{job_workloads.OBJECTS:,} of each kind",
        f"{job_workloads.LIST_BYTES >> 20} MiB",
    ),
    "time for listing these; workloads that this is done for at a time": (
        f"{job_workloads.SECONDS:g} s",
        job_workloads.AT_A_TIME,
    ),
    "pods of one job's workloads that are judged together": (f"{MOST:,}",),
    "hardware requirements of a pod; HPAIntents that it names": (
        hardware_text.REQUIREMENT_LIMIT,
        intended.INTENT_LIMIT,
    ),
    "consumers of an HPAIntent; requirements of one; its replicas": (
        intent.CONSUMER_LIMIT,
        hardware_text.REQUIREMENT_LIMIT,
        f"{consumer.REPLICA_LIMIT:,}",
    ),
    "a refusal; a warning; warnings": (f"{problem.MESSAGE_LIMIT:,} bytes", "250 characters", 10),
    "a quantity": (f"{quantity.LENGTH_LIMIT} characters, exponents up to 128",),
    "files of a snapshot; bytes of one": (f"{folder.FILE_LIMIT:,}", f"{folder.SIZE_LIMIT >> 30} GiB"),
    "nesting of YAML": (f"{yaml_documents.DEPTH_LIMIT} levels",),
    "skipped objects named in the log": (f"{report.FINDING_LIMIT:,}, then counted",),
    "PEM file": (f"{certificate.SIZE_LIMIT >> 20} MiB",),
}


def test_the_table_of_limits_is_that_of_the_code() -> None:
    assert limits() == {name: "; ".join(map(str, values)) for name, values in LIMITS.items()}


def test_every_field_of_a_host_pool_is_on_its_page() -> None:
    shown = [row[0].strip("`") for row in rows("hostpool.md", "The object")]
    assert shown == list(pool_spec.HostPoolSpec.__struct_fields__)


JOB_TABLES: dict[str, tuple[str, list[str]]] = {
    "a Job": ("The Job object", encoded(job_spec.JobSpec)),
    "an element's options": ("Options of processing elements", encoded(job_spec.ElementOptions)),
    "a ProcessingElement": (
        "The ProcessingElement object",
        [name for name in encoded(job_spec.ProcessingElementSpec) if name not in encoded(job_spec.ElementSpec)],
    ),
}


@pytest.mark.parametrize(("heading", "fields"), JOB_TABLES.values(), ids=JOB_TABLES)
def test_every_field_of_a_job_is_on_its_page(heading: str, fields: list[str]) -> None:
    assert [row[0].strip("`") for row in rows("jobs.md", heading)] == fields


def test_the_defaults_of_options_on_the_page_are_those_of_the_code() -> None:
    shown = {row[0].strip("`"): row[2] for row in rows("jobs.md", "Options of processing elements")}
    for field in msgspec.structs.fields(job_spec.ElementOptions):
        value = getattr(job_spec.DEFAULTS, field.name)
        if value is not None:
            assert shown[field.encode_name].endswith(f"`{str(value).lower() if isinstance(value, bool) else value}`")


def test_every_phase_is_on_the_page_of_jobs() -> None:
    section = page("jobs.md").partition("\n## Phases\n")[2].partition("\n## ")[0]
    assert [word for word in (*job_schema.PHASES, *processingelement_schema.PHASES) if f"`{word}`" not in section] == []


INTENT: dict[str, Any] = hpaintent_schema.SCHEMA["properties"]["spec"]["properties"]
CONSUMER: dict[str, Any] = INTENT["consumers"]["items"]["properties"]


def test_every_field_of_an_intent_and_its_consumers_is_on_its_page() -> None:
    text = page("hpaintent.md").partition("\n## The object\n")[2].partition("\n## ")[0]
    shown = set(re.findall(r"`([\w.-]+)`", "".join(line.split(" | ")[0] for line in text.splitlines() if "|" in line)))
    workload = {f"consumer.{name}" for name in CONSUMER["consumer"]["properties"]}
    assert INTENT.keys() | (CONSUMER.keys() - {"consumer"}) | workload <= shown


RULES = {rule["message"] for rule in (*hpaintent_schema.ENTRY, *hpaintent_schema.SPEC)}


@pytest.mark.parametrize("message", sorted(RULES))
def test_every_rule_for_intents_is_on_their_page(message: str) -> None:
    general = re.sub(r"(?<=means the same as )\S+(?=,)", "name", message)
    assert f"`{general}`" in page("hpaintent.md")
