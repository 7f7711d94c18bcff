"""``streams-placement explain``: what admission would make of a manifest, and why."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Explain
from tests.golden.examples import EXAMPLES, expected, manifests
from tests.yaml_values import all_loaded

CLUSTER = str(EXAMPLES / "cluster")


def as_json(explain: Explain, *words: str) -> list[dict[str, Any]]:
    _, out, _ = explain("-o", "json", "--snapshot", CLUSTER, *words)
    found: list[dict[str, Any]] = json.loads(out)
    return found


def test_an_admitted_pod_is_shown_with_its_patch_and_where_it_can_run(explain: Explain) -> None:
    code, out, _ = explain("-f", "examples/host-affinity.yaml", "--snapshot", CLUSTER)
    assert code == 0
    assert out == (
        "examples/host-affinity.yaml: Pod parallel-0-ioyms in namespace default\n"
        "  admitted, 1 of 13 nodes can run it\n       app: streams\n       streams.ibm.com/job: parallel\n "
        "      streams.ibm.com/pe: parallel-0\n  +    streams.ibm.com/seal: '1009466855'\n"
        "     annotations:\n"
        '       streams.ibm.com/placement: host("foo.watson.ibm.com")\n'
        "       streams.ibm.com/host-binding: nodeAffinity\n"
        "  +    streams.ibm.com/injected: "
        '\'{"nodeAffinity":["host(\\"foo.watson.ibm.com\\")"],"resources":["default of processing elements"]}\'\n'
        "   spec:\n"
        "     containers:\n"
        "     - name: streams-runtime\n"
        "       image: us.icr.io/spl_team/streams-runtime:6.release\n"
        "       args:\n"
        "       - /opt/ibm/streams/system/impl/bin/streams-k8s-bootstrap\n  +    resources:\n  +      "
        "requests:\n  +        cpu: 100m\n  +        memory: 128Mi\n"
        "  +  affinity:\n"
        "  +    nodeAffinity:\n"
        "  +      requiredDuringSchedulingIgnoredDuringExecution:\n"
        "  +        nodeSelectorTerms:\n"
        "  +        - matchFields:\n"
        "  +          - key: metadata.name\n"
        "  +            operator: In\n"
        "  +            values:\n"
        "  +            - foo.watson.ibm.com\n"
        "  candidates: foo.watson.ibm.com\n"
        "  out: bar, control-plane-1, foo, worker-1, worker-10, worker-11, worker-12, worker-13, worker-2, worker-3, "
        'worker-8, worker-9 (host("foo.watson.ibm.com"): is not named foo.watson.ibm.com)\n'
    )


def test_a_refused_pod_is_shown_with_the_refusal_and_which_rule_removed_each_node(explain: Explain) -> None:
    code, out, _ = explain("-f", "examples/refused-pool-and-exlocation.yaml", "--snapshot", CLUSTER)
    assert code == 1
    assert out == (
        "examples/refused-pool-and-exlocation.yaml: Pod parallel-0-ioyms in namespace default\n"
        "  refused, 0 of 13 nodes can run it\n"
        '  host(MyPool), hostExlocation("apart") and nodeSelector disktype=ssd cannot all hold: '
        "0 of 13 nodes can run this pod.\n"
        "    10 nodes are not in HostPool MyPool (tag source)\n"
        "    2 nodes do not have the label disktype=ssd\n"
        '    1 node already runs a pod of hostExlocation("apart")\n'
        "  Nearest fix: label one more node streams.ibm.com/hostpool=source (only 1 of 10 nodes helps), or "
        "drop host(MyPool) (1 node would fit).\n"
        "  out: bar, control-plane-1, foo, foo.watson.ibm.com, worker-10, worker-11, worker-12, worker-13, worker-8, "
        "worker-9 (host(MyPool): is not in HostPool MyPool (tag source))\n"
        "  out: worker-2, worker-3 (nodeSelector disktype=ssd: does not have the label disktype=ssd)\n"
        '  out: worker-1 (hostExlocation("apart"): already runs a pod of hostExlocation("apart"))\n'
    )


def test_warnings_are_shown(explain: Explain) -> None:
    _, out, _ = explain("-f", "examples/isolation.yaml", "--snapshot", CLUSTER)
    assert "  warning: partitionIsolation controls fusion, which is complete: it has no effect on the pod\n" in out


def test_many_nodes_are_cut_and_counted(explain: Explain) -> None:
    _, out, _ = explain("-f", "examples/refused-unknown-host.yaml", "--snapshot", CLUSTER)
    assert "worker-8 and 1 more (" in out


def test_one_refused_pod_among_others_makes_the_exit_code(explain: Explain) -> None:
    files = ("-f", "examples/pool-any.yaml", "-f", "examples/refused-index.yaml")
    assert explain(*files, "--snapshot", CLUSTER)[0] == 1


def test_json_says_everything_about_every_pod(explain: Explain) -> None:
    [found] = as_json(explain, "-f", "examples/refused-tainted-host.yaml")
    assert list(found) == [
        *("file", "origin", "namespace", "verdict", "code", "message", "warnings", "candidates", "removed", "patch"),
        *("before", "after", "ranking", "asks"),
    ]
    assert (found["verdict"], found["code"], found["candidates"], found["after"]) == ("refused", 403, [], None)
    assert found["removed"][1] == {
        "clause": "",
        "reason": "has the taint dedicated=infra:NoSchedule",
        "nodes": ["worker-3"],
    }


@pytest.mark.untraced
@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.stem)
def test_explain_agrees_with_admission(explain: Explain, path: Path) -> None:

    for found, result in zip(as_json(explain, "-f", str(path)), all_loaded(expected(path).read_text()), strict=True):
        assert found["after"] == result.get("admitted")
        assert found["message"] == result.get("message", "")
        assert found["code"] == result.get("refused", 200)


def test_host_pools_and_jobs_among_the_manifests_count_as_applied(explain: Explain, tmp_path: Path) -> None:
    manifest = tmp_path / "job.yaml"
    manifest.write_text(
        "apiVersion: streams.ibm.com/v1\nkind: HostPool\nmetadata: {name: mine}\nspec: {name: Mine, tags: [source]}\n"
        "---\n"
        "apiVersion: streams.ibm.com/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  bundle: {name: a}\n"
        "  processingElements:\n"
        "  - operators: [{name: A, placement: host(Mine)}]\n"
        "  - operators: [{name: B, placement: hostIsolation}]\n"
    )
    pool, job, first, second = as_json(explain, "-f", str(manifest))
    assert (pool["origin"], pool["candidates"]) == ("HostPool mine", ["worker-1", "worker-2", "worker-3"])
    assert (job["origin"], job["verdict"]) == ("Job j", "admitted")
    assert first["origin"] == "Job j, processing element j-0"
    assert first["candidates"] == ["worker-1", "worker-2"]
    assert first["after"]["metadata"]["labels"]["streams.ibm.com/job"] == "j"
    assert [key for key in first["after"]["metadata"]["labels"] if "hostisolation" in key]
    assert second["verdict"] == "admitted"


def test_the_fusion_of_operators_is_shown(explain: Explain) -> None:
    [found] = as_json(explain, "-f", "examples/job-operators.yaml")
    assert (found["verdict"], found["fusion"]["made"]) == ("admitted", 4)
    assert found["fusion"]["processingElements"][3] == {"name": "apps-fused-3", "operators": ["Sink", "Log"]}
    _, out, _ = explain("-f", "examples/job-operators.yaml", "--snapshot", CLUSTER)
    assert (
        "  fused (manual) into 4 processing elements, 9 % of the traffic stays inside:\n    apps-fused-0: Source\n"
        in out
    )
    assert "  apart: Format[0] and Sink (type: channelIsolation)\n" in out


def test_no_fusion_is_shown_of_a_job_without_operators(explain: Explain) -> None:
    _, out, _ = explain("-f", "examples/job-parallel.yaml", "--snapshot", CLUSTER)
    assert "  fused (" not in out


def test_a_pod_whose_verdict_has_no_nodes_shows_no_count(explain: Explain) -> None:
    assert "  refused\n" in explain("-f", "examples/refused-syntax.yaml", "--snapshot", CLUSTER)[1]


WRONG = {
    "no file": (["-f", "nowhere.yaml", "--snapshot", CLUSTER], "nowhere.yaml: No such file or directory"),
    "a wrong selector": (
        ["-f", "examples/pool-any.yaml", "--snapshot", CLUSTER, "--poolable-nodes", "a b"],
        '--poolable-nodes is "a b", but "a b" is not a label selector such as',
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_one_sentence_and_exit_code_2(explain: Explain, words: list[str], sentence: str) -> None:
    code, out, err = explain(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"streams-placement: {sentence}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "apiVersion: v1\nkind: Pod\nspec: 7\n",
            "Pod is not readable: spec: 7 is a whole number, expected a mapping",
        ),
        (
            "apiVersion: streams.ibm.com/v1\nkind: HostPool\nmetadata: {name: p}\nspec: {size: 0}\n",
            "bad.yaml: HostPool p: spec.size: 0 is not between 1 and 5000",
        ),
    ],
    ids=["a pod", "a host pool"],
)
def test_an_object_that_cannot_be_used_is_named(explain: Explain, tmp_path: Path, text: str, sentence: str) -> None:
    manifest = tmp_path / "bad.yaml"
    manifest.write_text(text)
    code, _, err = explain("-f", str(manifest), "--snapshot", CLUSTER)
    assert code == 2
    assert err.rstrip().endswith(sentence)


def test_no_cluster_at_all_is_trouble(explain: Explain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    code, _, err = explain("-f", "examples/pool-any.yaml")
    assert code == 3
    assert err.startswith(
        "streams-placement: there is no cluster to connect to: this is not a pod with a service account"
    )
    assert err.endswith("or give --snapshot with a folder of what kubectl prints\n")


def test_a_folder_that_is_not_a_cluster_is_trouble(explain: Explain, tmp_path: Path) -> None:
    code, _, err = explain("-f", "examples/pool-any.yaml", "--snapshot", str(tmp_path))
    assert code == 3
    assert "holds no Node" in err


def test_a_refused_job_is_shown_with_what_is_wrong(explain: Explain) -> None:
    code, out, _ = explain("-f", "examples/refused-job-fusion.yaml", "--snapshot", CLUSTER)
    assert (code, out) == (
        1,
        (
            "examples/refused-job-fusion.yaml: Job apps-parallel in namespace default\n"
            "  refused\n"
            "  spec.fusion: automatic and manual exclude each other: state one kind of fusion\n"
        ),
    )


def test_names_of_nodes_have_no_effect_on_a_terminal(explain: Explain, tmp_path: Path) -> None:
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}}
        for name in ("free\x1b[2J", "one\x1b[31m\ntwo", "end")
    ]
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    pod = tmp_path / "pod.json"
    annotations = {"streams.ibm.com/placement": 'hostExlocation("a")'}
    containers = [{"name": "main", "image": "busybox"}]
    pod.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "labels": {"streams.ibm.com/job": "j"}, "annotations": annotations},
                "spec": {"containers": containers, "nodeSelector": {"zone": "a"}},
            }
        )
    )
    _, out, _ = explain("-f", str(pod), "--snapshot", str(tmp_path / "cluster"))
    assert "\x1b" not in out
    assert r"out: end, free\x1b[2J, one\x1b[31m\ntwo (" in out


def test_a_job_that_the_api_server_is_to_name_is_judged_by_a_name_of_its_kind(explain: Explain, tmp_path: Path) -> None:
    job = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"generateName": "app-"},
        "spec": {
            "bundle": {"name": "app.sab"},
            "hostPools": [{"name": "P", "tags": ["source"]}],
            "processingElements": [{"operators": [{"name": "Op", "placement": "host(P)"}]}],
        },
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job))
    code, out, _ = explain("-f", str(path), "--snapshot", CLUSTER)
    assert code == 0
    assert f"{path}: Job app-xxxxx, processing element app-xxxxx-0 in namespace default\n  admitted" in out
