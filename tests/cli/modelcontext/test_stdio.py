"""``streams-placement mcp``: the tools over standard input and output, about a cluster and about a snapshot."""

import io
import json
import subprocess
import sys

import pytest

from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import status
from tests.cli.modelcontext.conftest import Started, failed
from tests.cli.reviews.conftest import PATH, ReviewServer
from tests.golden.examples import EXAMPLES
from webhook.cli import main

pytestmark = pytest.mark.integration

POD = (EXAMPLES / "refused-index.yaml").read_text()
FITS = (EXAMPLES / "pool-tagged.yaml").read_text()


async def test_a_cluster_is_asked_with_the_rights_of_the_user(
    reviews: ReviewServer, kubeconfig: Kubeconfig, started: Started
) -> None:
    result = {"manifest": 0, "kind": "Pod", "namespace": "default", "name": "p", "verdict": "Refused", "message": "no"}
    reviews.answer = lambda _namespace, _spec: {"results": [result]}
    async with started(KUBECONFIG=str(kubeconfig.path)) as client:
        tools = (await client.list_tools()).tools
        answer = await client.call_tool("review_placement", {"manifests": POD, "whatIf": {"cordon": ["a"]}})
        reviews.answer = lambda _namespace, _spec: status(403, "you may not", reason="Forbidden")
        denied = await client.call_tool("review_placement", {"manifests": POD})
    assert [tool.name for tool in tools] == ["review_placement", "plan_placement", "explain_message"]
    assert answer.structured_content == {"admitted": False, "results": [result]}
    assert json.loads(answer.content[0].text) == answer.structured_content
    assert reviews.paths == [PATH.format("default")] * 2
    assert reviews.reviews[0]["spec"]["whatIf"] == {"cordon": ["a"]}
    assert failed(denied) == "the API server refuses the review in namespace default: you may not"


def test_an_input_that_ends_ends_the_server() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "webhook", "mcp", "--snapshot", "examples/cluster"),
        cwd=EXAMPLES.parent, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


async def test_a_snapshot_is_judged_here(started: Started) -> None:
    async with started("--snapshot", "examples/cluster", "-n", "default") as client:
        answer = await client.call_tool("review_placement", {"manifests": POD})
        changed = await client.call_tool(
            "review_placement", {"manifests": FITS, "whatIf": {"drain": ["worker-1", "worker-2"]}}
        )
        plan = await client.call_tool("plan_placement", {"manifests": FITS})
        unknown = await client.call_tool("review_placement", {"whatIf": {"drain": ["nothing"]}})
    assert answer.structured_content["results"][0]["message"].startswith(
        "metadata.annotations[streams.ibm.com/placement]: host(P1[5]): HostPool P1 has 2 hosts, index 0 to 1\n"
    )
    assert changed.structured_content["admitted"] is False
    assert {one["name"]: one["verdict"] for one in changed.structured_content["evicted"]} == {
        "parallel-0-fjcqz": "Deleted",
        "parallel-1-fdpfh": "Deleted",
        "parallel-1-kq2zt": "Deleted",
    }
    assert plan.structured_content["subjects"][0]["elements"] == [{"name": "Pod parallel-0-ioyms", "node": "worker-2"}]
    assert failed(unknown) == 'spec.whatIf.drain[0]: there is no node "nothing"'


@pytest.mark.usefixtures("_no_environment")
def test_without_the_sdk_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    monkeypatch.delitem(sys.modules, "webhook.cli.modelcontext.tool_server", raising=False)
    assert main(["mcp", "--snapshot", "examples/cluster"]) == 3
    assert capsys.readouterr().err == (
        "streams-placement: the SDK of the Model Context Protocol is not installed (mcp_types is missing): "
        "pip install 'streams-placement[mcp]'\n"
    )


@pytest.mark.parametrize("words", [("--snapshot", "examples/cluster"), ("-n", "team-a")], ids=["snapshot", "cluster"])
@pytest.mark.usefixtures("_no_environment")
def test_nothing_is_read_before_a_tool_is_called(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(["mcp", *words]) == 0
