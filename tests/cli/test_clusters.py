"""``streams-placement clusters``: which of several clusters can take which apps."""

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.golden.examples import EXAMPLES
from tests.yaml_values import all_loaded
from webhook.app import clusters as reading
from webhook.app.clusters import ClusterReading, ClusterSource, Readers
from webhook.cli import main
from webhook.placement.clusters.examination import ExaminedCluster
from webhook.settings import Settings

Run = Callable[..., tuple[int, str, str]]
CLUSTERS = "examples/clusters"
APPS = "examples/apps/emco.yaml"


@pytest.fixture
def clusters(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``clusters`` with these words, run in the repository: exit code, standard output, standard error."""
    monkeypatch.chdir(EXAMPLES.parent)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["clusters", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def written(folder: Path, *documents: object) -> str:
    path = folder / "manifest.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def deployment(name: str, replicas: int = 1, **labels: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "edge", "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def intent(*consumers: str, **spec: object) -> dict[str, Any]:
    cpu = [{"name": "cpu", "requests": 1}]
    listed = [
        {"consumer": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}, "requirements": cpu}
        for name in consumers
    ]
    metadata = {"name": "intent", "namespace": "edge"}
    spec = {"app": "shop", "consumers": listed, **spec}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HPAIntent", "metadata": metadata, "spec": spec}


def test_the_apps_of_the_design_get_their_lists(clusters: Run) -> None:
    code, out, err = clusters("-f", APPS, "--clusters", CLUSTERS)
    assert (code, err) == (0, "")
    assert out == (
        "APP        COUNT  CLUSTERS                         BEST\n"
        "analytics  1      deny edge-2 (allows 3 clusters)  edge-1\n"
        "fwall      1      allow edge-1, edge-2             edge-1 (9)\n"
        "in contention: analytics, fwall cannot all run on edge-3\n"
    )


def test_the_answer_is_there_for_programs(clusters: Run) -> None:
    _, out, _ = clusters("-f", APPS, "--clusters", CLUSTERS, "-o", "json")
    assert json.loads(out) == {
        "apps": {
            "analytics": {"replicationCount": 1, "deny": ["edge-2"], "best": ["edge-1"]},
            "fwall": {
                "replicationCount": 1,
                "allow": ["edge-1", "edge-2"],
                "best": ["edge-1"],
                "weights": {"edge-1": 9},
            },
        },
        "clusters": ["edge-1", "edge-2", "edge-3", "edge-4"],
        "contention": [{"apps": ["analytics", "fwall"], "clusters": ["edge-3"]}],
    }


def test_without_intents_the_same_workloads_could_go_anywhere(clusters: Run, tmp_path: Path) -> None:
    documents = list(all_loaded((EXAMPLES / "apps" / "emco.yaml").read_text()))
    bare = written(tmp_path, *(one for one in documents if one["kind"] != "HPAIntent"))
    _, out, _ = clusters("-f", bare, "--clusters", CLUSTERS)
    assert "core-fwall  1      deny none (allows 4 clusters)" in out


def test_apps_that_too_few_clusters_can_take_are_refused(clusters: Run) -> None:
    code, out, err = clusters("-f", "examples/apps/refused.yaml", "--clusters", CLUSTERS)
    assert code == 1
    assert "App archive: 0 of 4 clusters can take it, 1 is needed." in out
    assert "App inference: 1 of 4 clusters can take it, 2 are needed." in out
    what = "Deployment ranker is not among the manifests: one pod is judged, with the hardware that the HPAIntent names"
    assert err == f"streams-placement: warning: app inference: {what}\n"


@pytest.mark.parametrize("form", ["karmada", "ocm"])
def test_fleet_managers_get_objects_and_people_get_the_rest(clusters: Run, form: str) -> None:
    _, out, err = clusters("-f", APPS, "examples/apps/refused.yaml", "--clusters", CLUSTERS, "-o", form)
    kind = {"karmada": "PropagationPolicy", "ocm": "Placement"}[form]
    found = list(all_loaded(out))
    assert [(one["kind"], one["metadata"]) for one in found] == [
        (kind, {"name": "analytics", "namespace": "edge"}),
        (kind, {"name": "fwall", "namespace": "edge"}),
    ]
    assert "App archive: 0 of 4 clusters" in err
    assert "in contention: analytics, fwall cannot all run on edge-3" in err


def test_replicas_can_be_divided(clusters: Run) -> None:
    _, out, _ = clusters("-f", APPS, "--clusters", CLUSTERS, "-o", "karmada", "--divide")
    assert out.count("replicaSchedulingType: Divided") == 2


def test_a_folder_without_a_node_gets_no_app(clusters: Run, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "clusters" / "edge-1", tmp_path / "edge-1")
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()
    code, out, _ = clusters("-f", APPS, "--clusters", str(tmp_path))
    assert code == 0
    assert "fwall      1      allow edge-1  edge-1 (9)\n" in out
    assert f"not read, so no app goes there: empty: the folder {tmp_path / 'empty'} holds no Node" in out


def test_what_could_not_be_used_of_a_cluster_is_named_with_it(clusters: Run, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "clusters" / "edge-1", tmp_path / "edge-1")
    (tmp_path / "edge-1" / "odd.yaml").write_text("kind: Node")
    _, _, err = clusters("-f", APPS, "--clusters", str(tmp_path))
    assert err.startswith("streams-placement: warning: cluster edge-1: ")


def test_an_app_counts_its_workloads_and_pods_and_those_that_are_idle_need_no_room(
    clusters: Run, tmp_path: Path
) -> None:
    file = written(
        tmp_path,
        intent("front", "idle", replicationCount=2),
        deployment("front", replicas=9),
        deployment("idle", replicas=0),
    )
    _, out, _ = clusters("-f", file, "--clusters", CLUSTERS)
    # Nine cores fit into edge-1 only.
    assert "App shop: 1 of 4 clusters can take it, 2 are needed." in out


def test_a_label_says_which_app_a_workload_is_part_of(clusters: Run, tmp_path: Path) -> None:
    part = {"app.kubernetes.io/part-of": "shop"}
    file = written(
        tmp_path, deployment("front", **part), deployment("back", **part), {"apiVersion": "v1", "kind": "Service"}
    )
    code, out, _ = clusters("-f", file, "--clusters", CLUSTERS)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["APP", "shop"]


WRONG: dict[str, tuple[list[object], list[str], str]] = {
    "no app": ([{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}], [], "no app in the manifests"),
    "a Job of Streams": (
        [
            {
                "apiVersion": "streams.ibm.com/v1",
                "kind": "Job",
                "metadata": {"name": "j"},
                "spec": {"processingElements": []},
            }
        ],
        [],
        "Job j is planned in one cluster: streams-placement plan",
    ),
    "an intent with a mistake": (
        [intent("w", replicationCount=0)],
        [],
        'spec.replicationCount: "0" is not a whole number',
    ),
    "an unreadable workload": (
        [deployment("w") | {"spec": {"template": {"spec": {"containers": 7}}}}],
        [],
        "Deployment is not readable",
    ),
    "no folders": ([deployment("w")], ["--clusters", "examples/apps"], "the folder examples/apps has no folders"),
    "no folder": ([deployment("w")], ["--clusters", "nowhere"], "the folder nowhere cannot be listed: No such file"),
    "no context": ([deployment("w")], ["--contexts", "a,,b"], '"a,,b" is not a list of contexts'),
    "no name": ([deployment("w")], ["--contexts", "=a"], '"=a" is not a list of contexts'),
    "a context without a name": ([deployment("w")], ["--contexts", "a="], '"a=" is not a list of contexts'),
    "one context twice": ([deployment("w")], ["--contexts", "a,b,a=c"], '"a,b,a=c" names "a" twice'),
}


@pytest.mark.parametrize(("documents", "where", "message"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_said(
    clusters: Run, tmp_path: Path, documents: list[object], where: list[str], message: str
) -> None:
    code, out, err = clusters("-f", written(tmp_path, *documents), *(where or ["--clusters", CLUSTERS]))
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize("words", [["--parallel", "0"], ["--timeout", "x"], ["--timeout", "-1"], ["--parallel", "1e9"]])
def test_numbers_are_above_0(clusters: Run, words: list[str]) -> None:
    code, _, err = clusters("-f", APPS, "--clusters", CLUSTERS, *words)
    assert code == 2
    assert "invalid number above 0 value" in err


def test_limits_of_reading_change_no_answer(clusters: Run) -> None:
    limits = ("--parallel", "1", "--timeout", "59.5")
    assert clusters("-f", APPS, "--clusters", CLUSTERS, *limits) == clusters("-f", APPS, "--clusters", CLUSTERS)


def test_clusters_are_needed_and_in_one_way(clusters: Run) -> None:
    code, _, err = clusters("-f", APPS)
    assert code == 2
    assert "one of the arguments --clusters --contexts --profiles is required" in err


def source(name: str) -> ClusterSource:
    return ClusterSource(name, Settings())


def test_a_bounded_number_is_read_at_the_same_time() -> None:
    """Each three wait for one another: with fewer at a time none would be read."""
    three, lock, most, now = threading.Barrier(3, timeout=20), threading.Lock(), 0, 0

    def look(one: ClusterSource) -> ExaminedCluster:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        three.wait()
        with lock:
            now -= 1
        return ExaminedCluster(one.name)

    found = Readers(look, ClusterReading(timeout=20, parallel=3)).run([source(f"c{at}") for at in range(9)])
    assert sorted((one.name, one.trouble) for one in found) == [(f"c{at}", "") for at in range(9)]
    assert most == 3


def test_one_that_takes_too_long_is_left_behind_and_its_late_answer_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "_GRACE", 0.0)
    late, slow = threading.Event(), list[threading.Thread]()

    def look(one: ClusterSource) -> ExaminedCluster:
        if one.name == "slow":
            slow.append(threading.current_thread())
            late.wait(10)
        elif one.name == "last":
            late.set()
            slow[0].join(10)  # the late answer comes before this one
        return ExaminedCluster(one.name, nodes=1)

    found = Readers(look, ClusterReading(timeout=0.5, parallel=1)).run([source("slow"), source("last")])
    assert found == [
        ExaminedCluster("slow", trouble="did not answer within 0.5 s"),
        ExaminedCluster("last", nodes=1),
    ]


def test_one_that_cannot_be_read_says_why() -> None:
    def look(one: ClusterSource) -> ExaminedCluster:
        raise ValueError("no way; or another" if one.name == "a" else "")

    found = Readers(look, ClusterReading()).run([source("a"), source("b")])
    assert {one.name: one.trouble for one in found} == {"a": "no way", "b": "ValueError"}


def test_when_the_time_for_all_is_over_the_others_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_GRACE", 0.0)
    gate = threading.Event()

    def look(one: ClusterSource) -> ExaminedCluster:
        gate.wait(10)
        return ExaminedCluster(one.name)

    found = Readers(look, ClusterReading(timeout=20, parallel=1, total=0.1)).run([source("a"), source("b")])
    gate.set()
    assert [(one.name, one.trouble) for one in found] == [
        ("a", "did not answer within 0.1 s"),
        ("b", "was not queried: other clusters used up the time limit"),
    ]


def test_a_cluster_that_is_stuck_is_not_asked_again_until_it_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_GRACE", 0.0)
    gate, ended, busy = threading.Event(), threading.Event(), set[str]()

    def look(one: ClusterSource) -> ExaminedCluster:
        gate.wait(10)
        ended.set()
        return ExaminedCluster(one.name, nodes=3)

    def troubles(timeout: float) -> list[str]:
        return [one.trouble for one in Readers(look, ClusterReading(timeout), busy).run([source("a")])]

    assert troubles(0.1) == ["did not answer within 0.1 s"]
    assert troubles(5) == ["has not answered the previous query yet"]
    gate.set()
    assert ended.wait(10)
    while busy:
        threading.Event().wait(0.01)
    assert troubles(5) == [""]


def test_the_time_of_others_does_not_count_for_a_cluster(clusters: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight clusters are examined at the same time, on one core: each would have an eighth of its time."""
    monkeypatch.setattr(reading, "SECONDS", 0.5)
    examine = reading.examine

    async def interrupted(*asked: Any) -> ExaminedCluster:
        time.sleep(0.6)  # noqa: ASYNC251 -- what other threads take, of which the loop knows as little
        return await examine(*asked)

    monkeypatch.setattr(reading, "examine", interrupted)
    assert json.loads(clusters("-f", APPS, "--clusters", CLUSTERS, "-o", "json")[1])["apps"].keys() == {
        "analytics",
        "fwall",
    }
    late = json.loads(clusters("-f", APPS, "--clusters", CLUSTERS, "-o", "json", "--timeout", "0.1")[1])
    assert "was not decided in time" in str(late["refused"])
