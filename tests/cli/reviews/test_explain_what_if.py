"""``explain`` with changes of a snapshot that count as made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Explain
from tests.golden.examples import EXAMPLES

CLUSTER = ("--snapshot", str(EXAMPLES / "cluster"))
POD = ("-f", "examples/pool-tagged.yaml")


def candidates(explain: Explain, *words: str) -> list[str]:
    _, out, _ = explain(*POD, *CLUSTER, *words, "-o", "json")
    found: list[str] = json.loads(out)[0]["candidates"]
    return found


def test_a_cordoned_node_runs_no_new_pod(explain: Explain) -> None:
    """``worker-2`` is left, and ``worker-1`` is not."""
    assert candidates(explain, "--cordon", "worker-1") == ["worker-2"]


def test_nodes_like_another_are_candidates_as_that_one_is(explain: Explain) -> None:
    added = candidates(explain, "--add-nodes", "worker-2=3")
    assert [name for name in added if name.startswith("added")] == ["added-1", "added-2", "added-3"]


def test_the_last_candidate_that_is_drained_refuses_the_pod(explain: Explain) -> None:
    code, out, _ = explain(*POD, *CLUSTER, "--drain", "worker-1", "worker-2")
    assert code == 1
    assert "  refused, 0 of 13 nodes can run it\n" in out
    assert "\ndrained: worker-1, worker-2\n  Pod parallel-0-fjcqz in namespace default is deleted: " in out


def test_a_pod_that_is_gone_no_longer_keeps_others_off_its_node(explain: Explain) -> None:
    pod = ("-f", "examples/refused-pool-and-exlocation.yaml")
    before = explain(*pod, *CLUSTER, "--cordon", "worker-13")[1]
    after = explain(*pod, *CLUSTER, "--remove-pod", "default/parallel-0-fjcqz", "parallel-1-kq2zt")[1]
    out = 'already runs a pod of hostExlocation("apart")'
    assert (out in before, out in after) == (True, False)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--drain", "worker-1", "nothing"], '--drain nothing: there is no node "nothing"'),
        (["--cordon", "no\nthing"], '--cordon no\\nthing: there is no node "no\\nthing"'),
        (["--add-nodes", "nothing"], '--add-nodes nothing=1: there is no node "nothing"'),
        (["--add-nodes", "worker-1=900", "worker-2=900"], "--add-nodes: has 1,800 nodes, at most 1,000 are allowed"),
        (["--remove-pod", "a/b"], '--remove-pod a/b: there is no pod "b" in namespace a'),
        (
            ["--drain", "x", "--cordon", "y"],
            '--drain x: there is no node "x"; --cordon y: there is no node "y"',
        ),
        (["--drain", "x" * 300], f"--drain {'x' * 80}: must be a name of 1 to 253 characters"),
    ],
)
def test_an_error_names_the_flag(explain: Explain, words: list[str], error: str) -> None:
    assert explain(*POD, *CLUSTER, *words) == (2, "", f"streams-placement: {error}\n")


def test_a_drain_needs_no_manifest(explain: Explain) -> None:
    code, out, err = explain(*CLUSTER, "--drain", "worker-1", "--strict")
    assert (code, err) == (0, "")
    assert out == (
        "drained: worker-1\n"
        "  Pod parallel-0-fjcqz in namespace default is deleted: no controller recreates the pod\n"
        "  Pod parallel-1-kq2zt in namespace default is deleted: no controller recreates the pod\n"
    )
    assert explain(*CLUSTER, "--drain", "worker-13", "--cordon", "worker-1") == (
        0,
        "drained: worker-13\n  no pod is evicted\n",
        "",
    )


@pytest.mark.parametrize("words", [(), ("--cordon", "worker-1"), ("--strict",)])
def test_without_a_drain_a_manifest_is_needed(explain: Explain, words: tuple[str, ...]) -> None:
    error = "nothing to review: give manifests with -f, or nodes with --drain"
    assert explain(*CLUSTER, *words) == (2, "", f"streams-placement: {error}\n")


def test_changes_need_a_snapshot_or_the_webhook(explain: Explain) -> None:
    assert explain(*POD, "--cordon", "worker-1") == (
        2,
        "",
        "streams-placement: --drain, --cordon, --add-nodes and --remove-pod need --server or --snapshot\n",
    )


def test_a_folder_without_nodes_is_trouble(explain: Explain, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("{")
    code, out, err = explain(*POD, "--snapshot", str(tmp_path), "--cordon", "worker-1")
    assert (code, out) == (3, "")
    assert "holds no Node" in err


def test_an_object_without_pods_is_not_told_of(explain: Explain, tmp_path: Path) -> None:
    """Another one that asks for nothing is."""
    service, pod = "{apiVersion: v1, kind: Service, metadata: {name: web}}", "{apiVersion: v1, kind: Pod, spec: 7}"
    (tmp_path / "service.yaml").write_text(service)
    (tmp_path / "pod.yaml").write_text(pod)
    code, out, err = explain("-f", str(tmp_path / "service.yaml"), *CLUSTER, "--cordon", "worker-1")
    assert (code, out) == (0, "")
    assert "nothing to judge: no pod, workload or HostPool in the manifests, only Service web" in err
    _, out, _ = explain("-f", str(tmp_path / "pod.yaml"), *CLUSTER, "--cordon", "worker-1")
    assert out.splitlines()[0].endswith("pod.yaml: Pod without a name in namespace default")


@pytest.mark.parametrize("form", ["html", "review"])
def test_a_review_is_text_or_data(form: str, explain: Explain) -> None:
    assert explain(*POD, *CLUSTER, "--cordon", "worker-1", "-o", form) == (
        2,
        "",
        f"streams-placement: a review has no form {form}: give -o text, json or yaml\n",
    )


@pytest.mark.integration
@pytest.mark.untraced
def test_a_snapshot_is_explained_without_the_http_client() -> None:
    """Its import takes a fifth of the time."""
    code = "import sys, webhook.cli.commands.explain; print('aiohttp' in sys.modules)"
    command = (sys.executable, "-c", code)
    done = subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True, text=True, check=True)  # noqa: S603 -- ours
    assert done.stdout == "False\n"
