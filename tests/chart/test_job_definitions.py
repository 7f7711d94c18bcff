"""The definitions of Job and ProcessingElement say what the code says."""

import re
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import fields

from tests.chart.schema_paths import defaults, open_paths, undescribed
from webhook.cluster.crds.definitions import job_definition, processingelement_definition
from webhook.placement.field_rules.element_patterns import GITHUB_URL, QUANTITY, RELATIVE_PATH
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.objects.jobs import job_operators, job_spec
from webhook.placement.objects.jobs.job_spec import CERTIFICATE_DAYS, DEFAULTS, ELEMENT_LIMIT, SUBMISSION_SECONDS
from webhook.placement.objects.pool_spec import HostPoolSpec

JOB: Final[dict[str, Any]] = job_definition()["spec"]["versions"][0]
ELEMENT: Final[dict[str, Any]] = processingelement_definition()["spec"]["versions"][0]
JOB_SCHEMA: Final[dict[str, Any]] = JOB["schema"]["openAPIV3Schema"]
ELEMENT_SCHEMA: Final[dict[str, Any]] = ELEMENT["schema"]["openAPIV3Schema"]
SPEC: Final[dict[str, Any]] = JOB_SCHEMA["properties"]["spec"]["properties"]
LISTED: Final[dict[str, Any]] = SPEC["processingElements"]["items"]
OF_ALL: Final[dict[str, Any]] = SPEC["processingElement"]
OWN: Final[dict[str, Any]] = ELEMENT_SCHEMA["properties"]["spec"]
REPOSITORY: Final[dict[str, Any]] = LISTED["properties"]["checkpointRepository"]

FORMS: Final[dict[str, tuple[dict[str, Any], type]]] = {
    "Job": (JOB_SCHEMA["properties"]["spec"], job_spec.JobSpec),
    "bundle": (SPEC["bundle"], job_spec.Bundle),
    "http": (SPEC["bundle"]["properties"]["http"], job_spec.HttpSource),
    "certificationAuthority": (
        SPEC["bundle"]["properties"]["http"]["properties"]["certificationAuthority"],
        job_spec.CertificationAuthority,
    ),
    "file": (SPEC["bundle"]["properties"]["file"], job_spec.FileSource),
    "github": (SPEC["bundle"]["properties"]["github"], job_spec.GithubSource),
    "fusion": (SPEC["fusion"], job_spec.Fusion),
    "operator": (SPEC["operators"]["items"], job_operators.JobOperator),
    "stream": (SPEC["streams"]["items"], job_operators.StreamSpec),
    "region": (SPEC["parallelRegions"]["items"], job_operators.RegionSpec),
    "threadingModel": (SPEC["threadingModel"], job_spec.ThreadingModel),
    "dynamic": (SPEC["threadingModel"]["properties"]["dynamic"], job_spec.DynamicThreading),
    "hostPools": (SPEC["hostPools"]["items"], HostPoolSpec),
    "processingElement": (OF_ALL, job_spec.ElementOptions),
    "processingElements": (LISTED, job_spec.ElementSpec),
    "operators": (LISTED["properties"]["operators"]["items"], job_spec.OperatorSpec),
    "dataVolumeClaim": (LISTED["properties"]["dataVolumeClaim"], job_spec.DataVolumeClaim),
    "checkpointRepository": (REPOSITORY, job_spec.CheckpointRepository),
    "fileSystem": (REPOSITORY["properties"]["fileSystem"], job_spec.FileSystemRepository),
    "redis": (REPOSITORY["properties"]["redis"], job_spec.RedisRepository),
    "ProcessingElement": (OWN, job_spec.ProcessingElementSpec),
}


@pytest.mark.parametrize(("schema", "struct"), FORMS.values(), ids=FORMS)
def test_the_fields_are_those_that_are_read(schema: dict[str, Any], struct: type) -> None:
    assert list(schema["properties"]) == [field.encode_name for field in fields(struct)]


@pytest.mark.parametrize("schema", [JOB_SCHEMA, ELEMENT_SCHEMA], ids=["Job", "ProcessingElement"])
def test_every_field_is_explained_to_kubectl_explain(schema: dict[str, Any]) -> None:
    assert undescribed(schema) == [".apiVersion", ".kind", ".metadata"]


def test_only_templates_are_open() -> None:
    parts = ("", ".metadata", ".spec", ".spec.containers[]")
    lists = ("processingElements", "operators")
    assert open_paths(JOB_SCHEMA) == [f".spec.{one}[].template{part}" for one in lists for part in parts]
    assert open_paths(ELEMENT_SCHEMA) == [f".spec.template{part}" for part in parts]


def test_what_is_inherited_has_no_default() -> None:
    """A default would be stored, and hide what the Job says."""
    assert defaults(JOB_SCHEMA) == {
        ".spec.submissionTimeOutInSeconds": SUBMISSION_SECONDS,
        ".spec.transportCertificateValidityInDays": CERTIFICATE_DAYS,
        ".spec.hostPools[].mode": "Shared",
        ".spec.hostPools[].elastic": False,
    }
    assert defaults(ELEMENT_SCHEMA) == {".spec.launchCount": 1}


SAID: Final = {
    field.encode_name: value for field in fields(DEFAULTS) if (value := getattr(DEFAULTS, field.name)) is not None
}


@pytest.mark.parametrize("name", SAID)
def test_the_description_of_an_option_says_its_default(name: str) -> None:
    word = {"True": "true", "False": "false"}.get(str(SAID[name]), SAID[name])
    assert re.search(rf"\b{word}\b", LISTED["properties"][name]["description"])


def test_every_list_map_and_text_of_a_job_has_a_bound() -> None:
    """The API server computes the cost of rules with them."""

    def boundless(schema: dict[str, Any], path: str) -> list[str]:
        wanted = {"array": "maxItems", "string": "maxLength"}.get(schema.get("type", ""))
        free = wanted not in {None, *schema} and not {"enum", "format"} & schema.keys()
        free |= "additionalProperties" in schema and "maxProperties" not in schema
        inner = {**schema.get("properties", {}), **({"[]": schema["items"]} if "items" in schema else {})}
        return [path] * free + [one for name, each in inner.items() for one in boundless(each, f"{path}.{name}")]

    templates = [f".{one}.[].template.spec" for one in ("processingElements", "operators")]
    found = boundless(JOB_SCHEMA["properties"]["spec"], "")
    assert found == [f"{path}.containers{part}" for path in templates for part in ("", ".[].name")]


def test_a_job_has_as_many_processing_elements_as_the_code_takes() -> None:
    assert SPEC["processingElements"]["maxItems"] == SPEC["fusion"]["properties"]["manual"]["maximum"] == ELEMENT_LIMIT


def test_columns_show_how_a_job_stands() -> None:
    shown = [column["name"] for column in JOB["additionalPrinterColumns"] if "priority" not in column]
    wide = [column["name"] for column in JOB["additionalPrinterColumns"] if "priority" in column]
    assert shown == ["Status", "PEs", "Running", "Waiting", "Failed", "Age"]
    assert wide == ["Completed", "Pools", "Ready pools", "Message"]


def test_columns_show_where_a_processing_element_runs() -> None:
    names = [column["name"] for column in ELEMENT["additionalPrinterColumns"]]
    assert names == ["Job", "Status", "Node", "Pod", "Restarts", "Age", "Message"]


@pytest.mark.parametrize("version", [JOB, ELEMENT], ids=["Job", "ProcessingElement"])
def test_a_column_shows_a_field_that_there_is(version: dict[str, Any]) -> None:
    for column in version["additionalPrinterColumns"]:
        first, second, *_ = re.findall(r"\w+", column["jsonPath"])
        known = {"metadata": {"creationTimestamp"}} | {
            part: version["schema"]["openAPIV3Schema"]["properties"][part]["properties"] for part in ("spec", "status")
        }
        assert second in known[first]


@pytest.mark.parametrize("definition", [job_definition, processingelement_definition])
def test_the_status_is_written_by_itself(definition: Any) -> None:
    spec = definition()["spec"]
    assert spec["versions"][0]["subresources"] == {"status": {}}
    assert "job" not in spec["names"]["shortNames"]


# Patterns, which are matched as a whole


def fits(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern.removeprefix("^").removesuffix("$"), text) is not None


@given(st.text("a./", min_size=1, max_size=8))
@example("..a/...")
@example("a/../b")
@example(".")
def test_a_path_in_a_claim_is_one_as_for_kubernetes(text: str) -> None:
    assert fits(RELATIVE_PATH, text) == (not text.startswith("/") and ".." not in text.split("/"))


@given(st.text("0159.eEmKi+-", max_size=6))
@example("500m")
@example("64Gi")
@example("1e3")
@example("1e-159")
@example("1Ei")
def test_an_amount_is_one_to_the_pattern_as_to_the_code(text: str) -> None:
    exponent = re.search("[eE]([-+]?[0-9]+)$", text)
    tiny = exponent is not None and int(exponent[1]) < -128  # the code takes it for the smallest amount
    assert fits(QUANTITY, text) == (parse_quantity(text) is not None and not tiny and not text.startswith("-"))


@pytest.mark.parametrize("exponent", ["0", "9", "99", "100", "128", "+128", "-128", "0128"])
def test_an_exponent_that_can_be_read(exponent: str) -> None:
    assert fits(QUANTITY, f"1e{exponent}")
    assert parse_quantity(f"1e{exponent}") is not None


@pytest.mark.parametrize("exponent", ["129", "130", "200", "999999", "-129", "-999999", "01280"])
def test_an_exponent_that_no_reader_accepts(exponent: str) -> None:
    assert not fits(QUANTITY, f"1e{exponent}")


URLS: Final = {
    "https://api.github.com/repos/user/repository/contents/a/b.sab": True,
    "https://github.example.com/api/v3/repos/user/repository/contents/b.sab": True,
    "https://api.github.com/repos/user/repository/contents/b.txt": False,
    "https://github.com/user/repository/raw/main/b.sab": False,
    "http://api.github.com/repos/user/repository/contents/b.sab": False,
}


@pytest.mark.parametrize(("url", "right"), URLS.items())
def test_a_url_with_a_secret_is_one_of_the_api(url: str, *, right: bool) -> None:
    assert fits(GITHUB_URL, url) == right
