"""``streams-placement explain -o review``: the reviews that the server can be tried with."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Explain
from tests.golden.examples import EXAMPLES, snapshot
from webhook.admission.answer import Outcome
from webhook.admission.mutate import mutate
from webhook.placement.inventory.policy import Policy


def test_the_review_of_a_pod_is_one_line_that_the_server_takes(explain: Explain) -> None:
    code, out, err = explain("-f", "examples/pool-tagged.yaml", "-o", "review")
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert mutate(out.encode(), snapshot(), Policy()).outcome is Outcome.PATCHED


def test_it_needs_no_cluster(explain: Explain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    assert explain("-f", "examples/refused-syntax.yaml", "-o", "review")[0] == 0


def test_it_is_that_of_the_pod_where_there_is_a_workload(explain: Explain) -> None:
    _, out, _ = explain("-f", "examples/deployment.yaml", "-o", "review")
    request = json.loads(out)["request"]
    assert (request["kind"]["kind"], request["operation"], request["namespace"]) == ("Pod", "CREATE", "default")


def test_a_namespace_that_is_named_is_that_of_the_review(explain: Explain, tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
    _, out, _ = explain("-f", str(manifest), "-o", "review", "-n", "team-a")
    assert json.loads(out)["request"]["namespace"] == "team-a"


def test_several_are_one_a_line_and_said_to_be(explain: Explain) -> None:
    code, out, err = explain("-f", "examples/pool-tagged.yaml", "examples/pool-any.yaml", "-o", "review")
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["AdmissionReview"] * 2
    assert (code, err) == (
        0,
        "streams-placement: warning: these are 2 reviews, one a line: the server takes one at a time\n",
    )


def test_none_is_a_warning(explain: Explain) -> None:
    pool = str(EXAMPLES / "cluster" / "hostpools.yaml")
    code, out, err = explain("-f", pool, "-o", "review")
    assert (code, out) == (0, "")
    assert err.startswith("streams-placement: warning: no review to write: no pod or workload in the manifests, only")


def test_objects_that_have_none_are_named_beside_those_that_have_one(explain: Explain) -> None:
    pools = str(EXAMPLES / "cluster" / "hostpools.yaml")
    code, out, err = explain("-f", "examples/pool-tagged.yaml", pools, "-o", "review")
    assert (code, out.count("\n")) == (0, 1)
    assert err.startswith("streams-placement: warning: no review to write in 11 of 12 objects: HostPool mypool, ")
