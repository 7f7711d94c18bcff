"""What commands write with ``-o json`` and ``-o yaml`` is what the schemas in ``docs/schemas`` say."""

import asyncio
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import jsonschema
import pytest
import yaml

from tests.cli.test_status import DEGRADED
from tests.golden.examples import EXAMPLES
from tests.suite.example_count import EVERY_DAY
from tools.schemas import DIALECT, FOLDER, LOG, files
from webhook.app.release import ReleaseRequest, TellFreed
from webhook.cli import COMMANDS, main
from webhook.cli.why.report import EventLine, PodLine, SinceCreation, WhyReport
from webhook.cluster.queries.job_view import JobView
from webhook.controller.release import Freed
from webhook.placementreview.explanations.explanation import Removed
from webhook.settings import Settings

SERVERS: Final = {"completion", "controller", "hpa-api", "mcp", "serve"}
"""Commands without an answer of their own."""

SNAPSHOT: Final = ("--snapshot", "examples/cluster")
FREED: Final = Freed(what="HostPool team/one", hosts=("n1",), finalizer=True, stays=True)
WHY: Final = WhyReport(
    namespace="team", kind="Pod", name="one", created="2026-09-01T08:00:00Z", state="Pending", verdict="fits",
    asks=["host(MyPool)"], warnings=["beware"], candidates=["n1"], scheduler="0/3 nodes are available",
    removed=[Removed("host(MyPool)", "is not in HostPool MyPool", ["n2"])],
    events=[EventLine("2026-09-01T08:00:01Z", "Pod one", "FailedScheduling", "0/3 nodes are available")],
    changes=[SinceCreation("", "node n3 is gone")], pods=[PodLine("one-1", "", "Pending", "waits")], unread=["nodes"],
)  # fmt: skip
Answer = Callable[..., Any]


def schema(command: str) -> dict[str, Any]:
    """The schema of a command's answer; no object may have a field that it does not list."""
    found: dict[str, Any] = json.loads((FOLDER / f"{command}.json").read_text())
    for each in objects(found):
        if "properties" in each and each["properties"].keys() != {"name"}:
            each["additionalProperties"] = each.get("additionalProperties", "title" not in each)
    return found


@functools.cache
def validator(command: str) -> jsonschema.Draft202012Validator:
    """What checks an answer of a command; made once, because each one reads all references of its schema anew."""
    return jsonschema.Draft202012Validator(schema(command))


def objects(node: object) -> Iterator[dict[str, Any]]:
    """The node and all objects in it."""
    if isinstance(node, dict):
        yield node
        for each in node.values():
            yield from objects(each)
    elif isinstance(node, list):
        for each in node:
            yield from objects(each)


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Answer:
    """What the command writes for programs, as a value; JSON fits the schema, and YAML is the same."""
    monkeypatch.chdir(EXAMPLES.parent)

    async def job_status(*_: object) -> JobView:
        await asyncio.sleep(0)
        return DEGRADED

    async def release(_: Settings, __: ReleaseRequest, tell: TellFreed) -> None:
        await asyncio.sleep(0)
        tell(FREED)

    monkeypatch.setattr("webhook.cli.commands.why._answer", lambda *_: WHY)
    monkeypatch.setattr("webhook.app.status.job_status", job_status)
    monkeypatch.setattr("webhook.app.release.release", release)

    def run(command: str, *words: str, forms: str = "json yaml") -> Any:
        main([command, *words, "-o", "json"])
        value = json.loads(capsys.readouterr().out)
        validator(command).validate(value)
        if "yaml" in forms:
            main([command, *words, "-o", "yaml"])
            assert yaml.load(capsys.readouterr().out, Loader=yaml.CSafeLoader) == value
        return value

    return run


def test_the_files_are_those_that_the_types_make() -> None:
    assert {path: path.read_text() for path in FOLDER.iterdir()} == files()


def test_every_command_with_an_answer_has_a_schema() -> None:
    assert {path.stem for path in files()} - {LOG} | SERVERS == COMMANDS.keys() | SERVERS


def test_every_schema_is_on_the_page_of_the_command_line() -> None:
    page = (FOLDER.parent / "command-line.md").read_text()
    answers = [path for path in files() if path.stem != LOG]
    assert [path.name for path in answers if f"| `{path.stem}` | [{path.name}](schemas/{path.name})" not in page] == []


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_a_schema_is_one(path: Any) -> None:
    found = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["$schema"] == DIALECT


EVERYTHING: Final = sorted(str(path.relative_to(EXAMPLES.parent)) for path in EXAMPLES.glob("*.yaml"))
MANIFESTS: Final = [path for path in EVERYTHING if not path.endswith(".expected.yaml")]


@pytest.mark.parametrize("path", MANIFESTS)
def test_explanations(answer: Answer, path: str) -> None:
    assert answer("explain", "-f", path, *SNAPSHOT, forms="json")


@pytest.mark.untraced
@pytest.mark.parametrize("path", MANIFESTS[::6] if EVERY_DAY else MANIFESTS)
def test_explanations_in_yaml(answer: Answer, path: str) -> None:
    assert answer("explain", "-f", path, *SNAPSHOT)


@pytest.mark.parametrize("path", ["job-parallel", "refused-replicas", "deployment", "pool-sized", "job-pools"])
def test_plans(answer: Answer, path: str) -> None:
    assert answer("plan", "-f", f"examples/{path}.yaml", *SNAPSHOT)["subjects"]


def test_clusters(answer: Answer) -> None:
    apps = answer("clusters", "-f", "examples/apps/emco.yaml", "--clusters", "examples/clusters")["apps"]
    assert apps.keys() == {"analytics", "fwall"}


def test_conversions(answer: Answer) -> None:
    """In YAML they are one document for each manifest."""
    items = answer("convert", "examples/convert/isolation.spl", forms="json")["items"]
    assert [one["kind"] for one in items] == ["Job"]


def test_status_of_a_job(answer: Answer) -> None:
    assert answer("status", "parallel")["processingElements"][2]["message"] == "0/3 nodes are available"


def test_why_an_object_waits(answer: Answer) -> None:
    assert answer("why", "one")["removed"][0]["nodes"] == ["n2"]


def test_hosts_given_back(answer: Answer) -> None:
    assert answer("release", "--all", "--dry-run") == {
        "dryRun": True,
        "released": [
            {
                "what": "HostPool team/one", "hosts": ["n1"], "finalizer": True, "stays": True, "closed": False,
                "failure": "",
            },
        ],
    }  # fmt: skip


def test_versions(answer: Answer) -> None:
    assert answer("version").keys() == {"name", "version", "python", "platform"}


@pytest.mark.integration
def test_the_tour(answer: Answer) -> None:
    answers = answer("tour", "--only", "*pool*")
    assert {one["verdict"] for one in answers} == {"admitted", "refused"}
