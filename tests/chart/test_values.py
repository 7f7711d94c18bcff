"""Values, schema, settings and templates agree; what helm makes of them is tested with helm (``tests/e2e/chart``)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args, get_origin

import pytest

from tests.yaml_values import loaded
from webhook.admission import seal
from webhook.controller.hostpools.pool_object import FINALIZER
from webhook.placement.kube.selection.selector_text import parse_selector
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT
from webhook.setting_fields import declared

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "charts" / "streams-placement"
VALUES: Final[dict[str, Any]] = loaded((CHART / "values.yaml").read_text())
SCHEMA: Final[dict[str, Any]] = json.loads((CHART / "values.schema.json").read_text())
TEMPLATES: Final = {path.name: path.read_text() for path in sorted((CHART / "templates").iterdir())}
README: Final = (CHART / "README.md").read_text()

GIVEN: Final = {
    "host", "port", "health_host", "health_port", "tls_cert", "tls_key", "client_ca",  # by the pod
    "placement_review", "placement_review_port",  # with all that goes with them, in placementReview
    "lease_namespace", "lease_name", "excluded_namespaces", "controller_account", "reviewed_kinds",
    "operator_accounts", "node_shapes",
    "tls_self_signed", "tls_dir", "snapshot", "context",  # for those without a cluster
}  # fmt: skip
"""Settings that nobody chooses for an installation."""


def camel(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(word.title() for word in rest)


CHOSEN: Final = {camel(field): info for field, info in declared().items() if field not in GIVEN}


def test_every_setting_is_a_value_with_the_same_default() -> None:
    assert VALUES["settings"] == {name: info.default for name, info in CHOSEN.items()}


def test_the_schema_knows_the_choices_of_a_setting() -> None:
    for name, field in CHOSEN.items():
        schema = SCHEMA["properties"]["settings"]["properties"][name]
        choices = list(get_args(field.kind)) if get_origin(field.kind) is not None else None
        assert schema.get("enum") == choices, name


def test_the_schema_knows_the_bounds_of_a_setting() -> None:
    for name, field in CHOSEN.items():
        schema = SCHEMA["properties"]["settings"]["properties"][name]
        assert (schema.get("minimum"), schema.get("maximum")) == (field.rule.ge, field.rule.le), name


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = SCHEMA["definitions"][name] if name else schema
    return found


def objects(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object with properties of its own."""
    schema = resolved(schema)
    if "properties" in schema:
        yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from objects(inner, f"{path}.{name}")
    if "items" in schema:
        yield from objects(schema["items"], f"{path}[]")


def test_an_object_has_no_fields_but_the_known_ones() -> None:
    assert [path for path, schema in objects(SCHEMA) if schema["additionalProperties"] is not False] == []


def names(values: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all values, in their order."""
    for name, value in values.items():
        yield f"{path}{name}"
        if isinstance(value, dict):
            yield from names(value, f"{path}{name}.")


def test_every_value_has_a_schema() -> None:
    known = {f"{path}.{name}".lstrip(".") for path, schema in objects(SCHEMA) for name in schema["properties"]}
    freely = ("nodeSelector.", "resources.")
    missing = [name for name in names(VALUES) if name not in known and not any(word in name for word in freely)]
    assert missing == []


def commented() -> Iterator[tuple[str, str]]:
    """Each line of the values that holds a name, with the line before."""
    lines = (CHART / "values.yaml").read_text().splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if found := re.match(r" *([a-zA-Z]+):(.*)", line):
            yield found[0].strip(), before.strip()


def test_every_value_is_explained_in_one_sentence() -> None:
    parts = {
        "certManager:",
        "existingSecret:",
        "clientCA:",
        "dashboard:",
        "rules:",
        "headers:",
        "certificate:",
        "client:",
    }
    groups = {f"{name}:" for name in VALUES} | parts
    inside = {"requests", "limits"}  # of resources, which are explained as a whole
    bare = [line for line, before in commented() if not (before.startswith("# ") and before.endswith("."))]
    assert [line for line in bare if line not in groups and line.partition(":")[0] not in inside] == []


def test_the_readme_lists_every_value() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", README.partition("\n## Values\n")[2], re.MULTILINE)
    leaves = [name for name in names(VALUES) if not any(other.startswith(f"{name}.") for other in names(VALUES))]
    wanted = [re.sub(r"(resources|nodeSelector)\..*", r"\1", name) for name in leaves]
    assert rows == list(dict.fromkeys(wanted))


def test_the_selector_of_nodes_is_one() -> None:
    parse_selector(VALUES["settings"]["poolableNodes"])


# Templates


@pytest.mark.parametrize("name", TEMPLATES)
def test_nothing_depends_on_chance_time_or_the_cluster(name: str) -> None:
    changing = r"\b(lookup|now|rand\w+|gen\w+Cert|genCA|genPrivateKey|uuidv4|derivePassword|Capabilities)\b"
    assert not re.search(changing, re.sub(r"\{\{/\*.*?\*/\}\}|#.*", "", TEMPLATES[name], flags=re.DOTALL))


def test_the_conditions_say_the_keys_of_the_code() -> None:
    conditions = TEMPLATES["_conditions.tpl"]
    quoted = set(re.findall(r"'(streams\.ibm\.com[^']*)'", conditions))
    ours = {keys.JOB, keys.PE, keys.EXCLUSIVE, keys.INJECTED, keys.SEAL, keys.BIND, PROCESSING_ELEMENT.api_version}
    assert quoted == {keys.PREFIX, keys.PREFIX.rstrip("/"), *ours, *keys.FOREIGN}


def test_the_api_server_computes_the_seal_as_the_webhook_does() -> None:
    template = TEMPLATES["_seal.tpl"]
    [letters] = re.findall(r'splitList "" "(\w+)"', template)
    assert "$weight := mul $number $number $number $number $number }}" in template
    assert {letter: number**5 for number, letter in enumerate(letters, 1)} == seal.WEIGHTS
    assert set(re.findall(r"'(streams\.ibm\.com[^']*)'", template)) == {keys.PREFIX, *seal.UNSEALED}


def test_the_policies_say_the_keys_of_the_code() -> None:
    quoted = set(re.findall(r"'(streams\.ibm\.com[^']*)'", TEMPLATES["policies.yaml"]))
    ours = {keys.EXCLUSIVE, keys.MEMBERSHIP}
    assert quoted == {*ours, FINALIZER, keys.API_GROUP, PROCESSING_ELEMENT.api_version}


# The rest of the packaging


def test_the_image_runs_as_the_user_that_the_chart_says() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    user = re.search(r"runAsUser: ([0-9]+)", TEMPLATES["_helpers.tpl"])
    assert user is not None
    assert f"\nUSER {user[1]}:{user[1]}\n" in dockerfile


def test_the_image_starts_the_program_without_a_shell() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert '\nENTRYPOINT ["streams-placement"]\n' in dockerfile


def test_the_image_takes_only_what_is_pinned_by_hashes() -> None:
    commands = [json.loads(found) for found in re.findall(r"^RUN (\[[^]]*\])", joined_dockerfile(), re.MULTILINE)]
    installs = [command for command in commands if "install" in command]
    assert [("--require-hashes" in one, "--no-deps" in one) for one in installs] == [(True, False), (False, True)]


def test_what_the_image_leaves_out_is_imported_nowhere() -> None:
    [names] = re.findall(r"/cel_expr_python/ext/ext_\\\((.+?)\\\)", joined_dockerfile())
    left_out = {f"ext_{name}" for name in names.split("\\|")} | {"numpy.testing"}
    code = "".join(path.read_text() for path in (ROOT / "webhook").rglob("*.py"))
    assert (len(left_out), {name for name in left_out if name in code}) == (4, set())
    assert "ext_bindings" in code


def joined_dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text().replace("\\\n", "")


PAGES: Final = (
    "".join(path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))) + README
)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"--set '?([\w.]+)", PAGES))))
def test_every_value_that_a_page_sets_is_one_of_the_chart(path: str) -> None:
    found: Any = VALUES
    for key in path.split("."):
        assert key in found
        found = found[key]


def test_the_image_of_the_first_steps_is_what_is_built_and_what_the_chart_asks_for() -> None:
    version = loaded((CHART / "Chart.yaml").read_text())["appVersion"]
    tags = set(re.findall(r"streams-placement:(\d[\w.]*)", (ROOT / "README.md").read_text()))
    assert (tags, VALUES["image"]["repository"], VALUES["image"]["tag"]) == ({version}, "streams-placement", "")
