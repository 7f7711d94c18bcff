"""The examples of asking before submission are read by what they are for."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.apiserver.kubeconfig import Kubeconfig
from tests.cli.reviews.conftest import ReviewServer
from tests.golden.examples import EXAMPLES
from tests.yaml_values import all_loaded, loaded
from webhook.app.review_requests import SnapshotReviewer, admitted
from webhook.cli import COMMANDS
from webhook.placementreview.review import GROUP, RESOURCE, PlacementReview
from webhook.settings import Settings

ASK = EXAMPLES / "ask"


async def test_the_review_is_one_and_is_answered() -> None:
    written = loaded((ASK / "review.yaml").read_text())
    review = msgspec.convert(written, PlacementReview)
    assert review.spec.what_if
    cluster = SnapshotReviewer(EXAMPLES / "cluster", Settings(snapshot=EXAMPLES / "cluster"))
    status = await cluster.review(review.metadata.namespace, review.spec)
    assert ([result.verdict for result in status.results], admitted(status)) == (["Admitted"], True)


def test_the_account_of_a_pipeline_may_create_reviews_and_nothing_else() -> None:
    account, role, binding = all_loaded((ASK / "rights.yaml").read_text())
    assert role["rules"] == [{"apiGroups": [GROUP], "resources": [RESOURCE], "verbs": ["create"]}]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"][0]["name"] == account["metadata"]["name"]


def test_the_configuration_of_an_assistant_starts_the_command() -> None:
    server = json.loads((ASK / "mcp.json").read_text())["mcpServers"]["streams-placement"]
    assert (server["command"], server["args"][0] in COMMANDS) == ("streams-placement", True)


def test_the_workflow_runs_the_step_with_and_without_a_cluster() -> None:
    text = (ASK / "github-actions.yaml").read_text()
    jobs = loaded(text)["jobs"]
    assert jobs.keys() == {"snapshot", "cluster"}
    asked = re.findall(r"sh check-placement\.sh manifests (--\w+)", text)
    assert asked == ["--snapshot", "--server"]


async def step(manifests: str, *words: str, text: str = "", **environment: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the step for pipelines; ``text`` is its standard input."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "sh", "examples/ask/check-placement.sh", manifests, *words,
        cwd=EXAMPLES.parent, stdin=pipe, stdout=pipe, stderr=pipe,
        env={"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **environment},
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(text.encode()), 60)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.integration
async def test_the_step_fails_for_a_manifest_that_no_longer_fits(tmp_path: Path) -> None:
    snapshot = ("--snapshot", "examples/cluster")
    assert await step("examples/host-affinity.yaml", *snapshot) == (0, "1 checked, 0 refused\n", "")
    (tmp_path / "bad.yaml").write_text("{")
    code, out, err = await step(str(tmp_path), *snapshot)
    assert (code, out, err.splitlines()[-1]) == (2, "", "placement was not checked")


@pytest.mark.integration
async def test_the_step_asks_the_webhook(reviews: ReviewServer, kubeconfig: Kubeconfig) -> None:
    refused: dict[str, Any] = {
        "manifest": 0, "kind": "Pod", "namespace": "default", "name": "p", "verdict": "Refused", "message": "no\nfix",
    }  # fmt: skip
    reviews.answer = lambda _namespace, _spec: {"results": [refused]}
    text = "{apiVersion: v1, kind: Pod, metadata: {name: p}}"
    code, out, err = await step("-", "--server", text=text, KUBECONFIG=str(kubeconfig.path))
    assert (code, err) == (1, "")
    assert out == "REFUSED Pod p in namespace default:\n  no\n  fix\n1 checked, 1 refused\n"
