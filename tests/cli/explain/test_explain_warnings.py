"""``streams-placement explain``: what it could not use, could not find, or takes for a mistake."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Explain
from tests.golden.examples import EXAMPLES
from webhook.cli import main

CLUSTER = ("--snapshot", str(EXAMPLES / "cluster"))
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: '4', memory: 4Gi, pods: '9'}}\n"
POOL = "apiVersion: streams.ibm.com/v1\nkind: HostPool\nmetadata: {name: p}\nspec: {sizes: 1}\n"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A cluster of one node, to which tests add what cannot be used."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "node.yaml").write_text(NODE)
    return folder


def written(folder: Path, *documents: dict[str, Any]) -> str:
    file = folder / "manifest.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    return str(file)


# What the snapshot holds, and is not used


def test_what_was_skipped_of_a_snapshot_is_named_one_line_each(explain: Explain, snapshot: Path) -> None:
    (snapshot / "broken.yaml").write_text("a: [,\n")
    (snapshot / "pool.yaml").write_text(POOL)
    _, _, err = explain("-f", "examples/pool-any.yaml", "--snapshot", str(snapshot))
    assert err == (
        "streams-placement: warning: snapshot: broken.yaml: line 1, column 5: did not find expected node content\n"
        "streams-placement: warning: snapshot: pool.yaml: HostPool p: spec: object contains unknown field `sizes`\n"
    )


def test_parts_that_were_left_out_are_named_too(explain: Explain, snapshot: Path) -> None:
    (snapshot / "odd.yaml").write_text(NODE.replace("{name: n}", "{name: odd}").replace("cpu: '4'", "cpu: four"))
    _, _, err = explain("-f", "examples/pool-any.yaml", "--snapshot", str(snapshot))
    assert err.startswith("streams-placement: warning: snapshot: odd.yaml: Node odd: ")


def test_those_that_are_too_many_to_be_named_are_counted(
    explain: Explain, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.cluster.snapshot.loader.FINDING_LIMIT", 1)
    for name in ("a", "b", "c"):
        (snapshot / f"{name}.yaml").write_text(POOL)
    _, _, err = explain("-f", "examples/pool-any.yaml", "--snapshot", str(snapshot))
    assert err.splitlines()[1:] == ["streams-placement: warning: snapshot: and 2 more that are not named"]


def test_parts_of_the_manifests_that_were_left_out_are_named_with_their_file(
    explain: Explain, snapshot: Path, tmp_path: Path
) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text(NODE.replace("{name: n}", "{name: odd}").replace("cpu: '4'", "cpu: four"))
    _, _, err = explain("-f", str(file), "examples/pool-any.yaml", "--snapshot", str(snapshot))
    assert err.startswith(f"streams-placement: warning: {file}: Node odd: ")


# Nothing to judge

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
NOTEBOOK = {"apiVersion": "kubeflow.org/v1", "kind": "Notebook", "metadata": {"generateName": "w-"}}
NOTHING: dict[str, tuple[list[dict[str, Any]], str]] = {
    "an empty rendering": ([], "they are empty"),
    "only a Service": ([SERVICE], "only Service web"),
    "a kind that is not known to hold pods": ([NOTEBOOK, SERVICE], "only Notebook w-*, Service web"),
    "a Pod without an apiVersion": (
        [{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}],
        "only Pod p without an apiVersion",
    ),
    "many": ([SERVICE] * 7, f"only {', '.join(['Service web'] * 5)} and 2 more"),
}


@pytest.mark.parametrize(("documents", "held"), NOTHING.values(), ids=NOTHING)
class TestNothingToJudge:
    """A pipeline that renders nothing must not pass for one that was judged."""

    def sentence(self, held: str) -> str:
        return f"nothing to judge: no pod, workload or HostPool in the manifests, {held}\n"

    def test_is_a_warning(self, explain: Explain, tmp_path: Path, documents: list[dict[str, Any]], held: str) -> None:
        said = explain("-f", written(tmp_path, *documents), *CLUSTER)
        assert said == (0, "", f"streams-placement: warning: {self.sentence(held)}")

    def test_is_wrong_use_if_one_is_strict(
        self, explain: Explain, tmp_path: Path, documents: list[dict[str, Any]], held: str
    ) -> None:
        said = explain("--strict", "-f", written(tmp_path, *documents), *CLUSTER)
        assert said == (2, "", f"streams-placement: {self.sentence(held)}")


POD_WITHOUT_VERSION = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
POD = {**POD_WITHOUT_VERSION, "apiVersion": "v1", "spec": {"containers": [{"name": "c"}]}}
CONTEXT: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}},
    {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "default"}},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}},
    {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "r"}},
    {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "r"}, "spec": {}},
]


class TestObjectsBesideThoseThatAreJudged:
    """What is left out of a verdict is said in one line."""

    SAID = "in 2 of 9 objects: Service web, Pod p without an apiVersion\n"

    @pytest.mark.parametrize(("command", "verb"), [("explain", "judge"), ("plan", "plan")])
    def test_are_named(self, tmp_path: Path, command: str, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
        file = written(tmp_path, SERVICE, POD, *CONTEXT, POD_WITHOUT_VERSION)
        assert main([command, "-f", file, *CLUSTER]) == 0
        assert capsys.readouterr().err == f"streams-placement: warning: nothing to {verb} {self.SAID}"

    def test_are_named_by_a_review(self, explain: Explain, tmp_path: Path) -> None:
        """A change that counts as made is asked about by a review, as ``--server`` asks."""
        file = written(tmp_path, SERVICE, POD, *CONTEXT)
        _, _, err = explain("--cordon", "worker-1", "-f", file, *CLUSTER)
        assert err == "streams-placement: warning: nothing to judge in 2 of 8 objects: Service web, RayJob r\n"

    def test_are_not_named_if_the_cluster_is_read_from_them(self, explain: Explain, tmp_path: Path) -> None:
        assert explain("-f", written(tmp_path, POD, *CONTEXT), *CLUSTER)[::2] == (0, "")

    def test_are_named_up_to_five(self, explain: Explain, tmp_path: Path) -> None:
        _, _, err = explain("-f", written(tmp_path, POD, *[SERVICE] * 7), *CLUSTER)
        names = ", ".join(["Service web"] * 5)
        assert err == f"streams-placement: warning: nothing to judge in 7 of 8 objects: {names} and 2 more\n"


def test_nothing_is_an_empty_list_in_json(explain: Explain, tmp_path: Path) -> None:
    code, out, _ = explain("-o", "json", "-f", written(tmp_path, SERVICE), *CLUSTER)
    assert (code, json.loads(out)) == (0, [])


def test_what_is_judged_passes_a_strict_run(explain: Explain) -> None:
    assert explain("--strict", "-f", "examples/pool-any.yaml", *CLUSTER)[::2] == (0, "")


# Kinds that are not known


def rollout(**spec: Any) -> dict[str, Any]:
    metadata = {"labels": {"streams.ibm.com/job": "j"}, "annotations": {"streams.ibm.com/placement": "host(MyPool)"}}
    template = {"metadata": metadata, "spec": {"containers": [{"name": "c"}]}}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {**spec, "template": template},
    }


@pytest.mark.parametrize(
    ("said", "replicas"), [({"replicas": 3}, 3), ({}, 1), ({"replicas": "three"}, 1)], ids=["three", "unsaid", "odd"]
)
def test_a_kind_with_a_pod_template_is_judged_by_it(
    explain: Explain, tmp_path: Path, said: dict[str, Any], replicas: int
) -> None:
    _, out, _ = explain("-o", "json", "-f", written(tmp_path, rollout(**said)), *CLUSTER)
    [found] = json.loads(out)
    assert (found["origin"], found["verdict"], found["candidates"]) == (
        "Rollout web",
        "admitted",
        ["worker-1", "worker-2"],
    )
    assert found["warnings"] == [
        (f"Rollout of argoproj.io/v1alpha1 is an unknown kind: spec.template and replicas {replicas} were judged")
    ]


def test_all_its_pods_are_counted(explain: Explain, tmp_path: Path) -> None:
    found = rollout(replicas=9)
    found["spec"]["template"]["metadata"]["annotations"] = {"streams.ibm.com/placement": 'hostExlocation("apart")'}
    code, out, _ = explain("-f", written(tmp_path, found), *CLUSTER)
    assert (code, 'hostExlocation("apart") and replicas 9 cannot both hold' in out) == (1, True)


@pytest.mark.parametrize("containers", [None, [], "c", ["c"]], ids=["none", "an empty list", "text", "texts"])
def test_a_template_without_containers_is_none(explain: Explain, tmp_path: Path, containers: object) -> None:
    found = rollout()
    found["spec"]["template"]["spec"]["containers"] = containers
    assert "only Rollout web" in explain("-f", written(tmp_path, found), *CLUSTER)[2]


# Keys that were meant to be ours


def pod(annotations: dict[str, str], labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"name": "p", "annotations": annotations, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c"}]}}


def test_a_key_with_a_misspelt_prefix_is_warned_of(explain: Explain, tmp_path: Path) -> None:
    file = written(tmp_path, pod({"stream.ibm.com/placement": "host(MyPool)"}))
    assert explain("-f", file, *CLUSTER)[1].splitlines()[:3] == [
        f"{file}: Pod p in namespace default",
        "  admitted unchanged (it does not ask for placement), 7 of 13 nodes can run it",
        (
            "  warning: metadata.annotations[stream.ibm.com/placement]: this key has no effect, "
            "did you mean metadata.annotations[streams.ibm.com/placement]?"
        ),
    ]


def test_keys_of_a_template_and_of_its_workload_are_looked_at(explain: Explain, tmp_path: Path) -> None:
    found = rollout()
    found |= {"apiVersion": "apps/v1", "kind": "Deployment"}
    found["metadata"]["annotations"] = {"streams.ibm.co/placement": "host(MyPool)"}
    found["spec"]["template"]["metadata"] = {"labels": {"streams.ibm.com/placement": "x"}}
    _, out, _ = explain("-o", "json", "-f", written(tmp_path, found), *CLUSTER)
    meant = "this key has no effect, did you mean spec.template.metadata.annotations[streams.ibm.com/placement]?"
    assert json.loads(out)[0]["warnings"] == [
        f"metadata.annotations[streams.ibm.co/placement]: {meant}",
        f"spec.template.metadata.labels[streams.ibm.com/placement]: {meant}",
    ]


@pytest.mark.parametrize(
    ("version", "kind", "spec", "path"),
    [
        (
            "batch/v1",
            "CronJob",
            {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}},
            "spec.jobTemplate.spec.template.metadata",
        ),
        (
            "streams.ibm.com/v1",
            "Job",
            {"bundle": {"name": "a.sab"}, "processingElements": [{"operators": [{"name": "A"}]}]},
            "spec.processingElements[].template.metadata",
        ),
    ],
    ids=["a CronJob", "a Streams job"],
)
def test_the_place_that_is_named_is_that_of_the_kind(
    explain: Explain, tmp_path: Path, version: str, kind: str, spec: dict[str, Any], path: str
) -> None:
    metadata = {"name": "j", "annotations": {"streams-ibm.com/placement": "host(MyPool)"}}
    document = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
    _, out, _ = explain("-f", written(tmp_path, document), *CLUSTER)
    assert f"did you mean {path}.annotations[streams.ibm.com/placement]?\n" in out


# Pods that ask for nothing


def test_a_pod_that_asks_for_nothing_and_fits_nowhere_is_said_to_be_let_through(
    explain: Explain, tmp_path: Path
) -> None:
    found = pod({})
    found["spec"]["nodeSelector"] = {"no": "where"}
    code, out, _ = explain("-o", "json", "-f", written(tmp_path, found), *CLUSTER)
    [said] = json.loads(out)
    assert (code, said["verdict"], said["asks"]) == (1, "refused", False)
    assert said["warnings"] == [
        "the pod does not ask for placement: a cluster would admit it, and it would wait for a node"
    ]


# DaemonSets, which not everybody may let onto exclusive hosts

RIGHT = (
    "its pods tolerate exclusive hosts: on a cluster, creating it takes "
    "the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster"
)
EVERYTHING, ONE_THING = {"operator": "Exists"}, {"key": "x", "operator": "Exists"}
OURS = {"key": "streams.ibm.com/exclusive", "operator": "Exists"}


@pytest.mark.parametrize(
    ("kind", "tolerations", "expected"),
    [
        pytest.param("DaemonSet", [EVERYTHING], [RIGHT], id="everything"),
        pytest.param("DaemonSet", [ONE_THING, OURS], [RIGHT], id="the taint"),
        pytest.param("DaemonSet", [ONE_THING], [], id="one thing"),
        pytest.param("DaemonSet", [], [], id="nothing"),
        pytest.param("Deployment", [ONE_THING], [], id="no DaemonSet"),
    ],
)
def test_who_submits_a_daemon_set_learns_which_right_it_takes(
    explain: Explain, tmp_path: Path, kind: str, tolerations: list[Any], expected: list[str]
) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": tolerations}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    made = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    document = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "d"}, "spec": made}
    code, out, _ = explain("-f", written(tmp_path, document), "-o", "json", *CLUSTER)
    [told] = json.loads(out)
    assert (code, told["verdict"], told["warnings"]) == (0, "admitted", expected)
