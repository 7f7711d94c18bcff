"""``streams-placement explain``: which of the nodes that are left it prefers, and how replicas share them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.examples import EXAMPLES
from webhook.cli import main

WEB = ("-f", "examples/scoring/web.yaml", "--snapshot", "examples/scoring/cluster")
CLUSTER = ("--snapshot", "examples/cluster")

Text = Callable[..., str]


@pytest.fixture
def text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Text:
    monkeypatch.chdir(EXAMPLES.parent)

    def run(*words: str) -> str:
        main(["explain", *words])
        return capsys.readouterr().out

    return run


def nodes(count: int, **allocatable: str) -> list[dict[str, Any]]:
    """Manifests of equal nodes ``node-00``, ``node-01``, ...; nodes among the manifests count as applied."""
    status = {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"} | allocatable}
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{at:02}"}, "status": status}
        for at in range(count)
    ]


def deployment(replicas: int, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c"}], **spec}}
    metadata = {"name": "x"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"replicas": replicas, "template": template},
    }


@pytest.fixture
def shown(text: Text, tmp_path: Path) -> Callable[..., list[str]]:
    """The lines about cost and replicas of a workload on a cluster of its own."""
    manifest, cluster = tmp_path / "x.json", tmp_path / "cluster"
    cluster.mkdir()

    def run(workload: dict[str, Any], found: list[dict[str, Any]], *words: str) -> list[str]:
        manifest.write_text(json.dumps(workload))
        listed = {"apiVersion": "v1", "kind": "List", "items": found}
        (cluster / "nodes.json").write_text(json.dumps(listed))
        lines = text("-f", str(manifest), "--snapshot", str(cluster), *words).splitlines()
        return [line.strip() for line in lines if line.startswith(("  cheapest:", "  replicas:"))]

    return run


def test_replicas_of_nginx_share_the_nodes_that_it_must_run_on(text: Text) -> None:
    """The user story of the Poseidon node affinity design, as the next one."""
    assert (
        "examples/scoring/web.yaml: Deployment nginx in namespace default\n"
        "  admitted unchanged (it does not ask for placement), 3 of 6 nodes can run it\n"
        "  candidates: east-1, west-1, west-2\n"
        "  cheapest: east-1 (1075), west-1 (1075), west-2 (1075)\n"
        "  replicas: 2 on each of east-1, west-1, west-2\n"
        "  out: west-3, west-4 (nodeSelector beta.kubernetes.io/instance-type=m3.medium: does not have"
    ) in text(*WEB)


def test_httpd_goes_to_the_node_that_it_prefers_within_its_region(text: Text) -> None:
    assert (
        "examples/scoring/web.yaml: Pod httpd in namespace default\n"
        "  admitted unchanged (it does not ask for placement), 3 of 6 nodes can run it\n"
        "  candidates: west-3, west-4, west-5\n"
        "  cheapest: west-4 (927), west-5 (995), west-3 (1007)\n"
        "  out: east-1, west-1, west-2 ("
    ) in text(*WEB)


def test_nginx_is_refused_where_no_node_has_its_label(text: Text, tmp_path: Path) -> None:
    manifest = tmp_path / "web.yaml"
    manifest.write_text((EXAMPLES / "scoring" / "web.yaml").read_text().replace("key: y-web", "key: z-web"))
    assert "  refused, 0 of 6 nodes can run it\n" in text("-f", str(manifest), *WEB[2:])


def test_json_ranks_the_candidates_by_cost_and_then_by_name(text: Text) -> None:
    [nginx, httpd] = json.loads(text("-o", "json", *WEB))
    assert nginx["ranking"] == [{"node": name, "cost": 1075, "replicas": 2} for name in ("east-1", "west-1", "west-2")]
    assert httpd["ranking"] == [
        {"node": "west-4", "cost": 927},
        {"node": "west-5", "cost": 995},
        {"node": "west-3", "cost": 1007},
    ]


@pytest.mark.parametrize("name", ["refused-syntax", "refused-unknown-host"])
def test_json_ranks_nothing_where_no_node_is_left(text: Text, name: str) -> None:
    [found] = json.loads(text("-o", "json", "-f", f"examples/{name}.yaml", *CLUSTER))
    assert found["ranking"] == []


def test_json_says_also_which_nodes_get_no_replica(text: Text) -> None:
    [found] = json.loads(text("-o", "json", "-f", "examples/replicas.yaml", *CLUSTER))
    assert found["candidates"] == sorted(each["node"] for each in found["ranking"])
    assert [each["replicas"] for each in found["ranking"]] == [1] * 6


def test_json_shares_what_fits_of_replicas_that_do_not_all_fit(text: Text) -> None:
    [found] = json.loads(text("-o", "json", "-f", "examples/refused-replicas.yaml", *CLUSTER))
    assert (found["verdict"], sum(each["replicas"] for each in found["ranking"])) == ("refused", 7)


def test_a_refusal_is_shown_without_costs(text: Text) -> None:
    out = text("-f", "examples/refused-replicas.yaml", *CLUSTER)
    assert "  candidates: " in out
    assert "  cheapest: " not in out


def test_the_only_candidate_is_shown_without_its_cost(text: Text) -> None:
    assert "  cheapest: " not in text("-f", "examples/host-name.yaml", *CLUSTER)


def test_the_best_five_are_shown_and_the_others_counted(shown: Callable[..., list[str]]) -> None:
    assert shown(deployment(1), nodes(17)) == [
        "cheapest: node-00 (1000), node-01 (1000), node-02 (1000), node-03 (1000), node-04 (1000) and 12 more"
    ]


@pytest.mark.parametrize(
    ("replicas", "count", "line"),
    [
        pytest.param(6, 3, "replicas: 2 on each of node-00, node-01, node-02", id="equal shares"),
        pytest.param(7, 3, "replicas: 3 on node-00; 2 on each of node-01, node-02", id="the largest share first"),
        pytest.param(2, 3, "replicas: 1 on each of node-00, node-01", id="nodes without a share are left out"),
        pytest.param(
            14,
            14,
            f"replicas: 1 on each of {', '.join(f'node-{at:02}' for at in range(12))} and 2 more",
            id="many nodes are cut and counted",
        ),
    ],
)
def test_replicas_are_shown_by_the_size_of_the_share(
    shown: Callable[..., list[str]], replicas: int, count: int, line: str
) -> None:
    assert shown(deployment(replicas), nodes(count))[1:] == [line]


def test_replicas_on_the_only_candidate_are_shown(shown: Callable[..., list[str]]) -> None:
    assert shown(deployment(3, nodeSelector={}), nodes(1)) == ["replicas: 3 on node-00"]


def test_replicas_that_wait_for_nodes_to_come_have_no_share(shown: Callable[..., list[str]]) -> None:
    requests = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "64"}}}]}
    assert shown(deployment(3, **requests), nodes(2), "--elastic") == []
