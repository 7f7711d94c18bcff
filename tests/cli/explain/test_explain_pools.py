"""``streams-placement explain`` of host pools: whether they could have their hosts, and why not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.examples import EXAMPLES
from webhook.cli import main

CLUSTER = str(EXAMPLES / "cluster")

Explain = Callable[..., tuple[int, str]]


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Explain:
    def run(spec: str, *words: str) -> tuple[int, str]:
        manifest = tmp_path / "pool.yaml"
        head = "apiVersion: streams.ibm.com/v1\nkind: HostPool\nmetadata: {name: mine}\n"
        manifest.write_text(f"{head}spec: {spec}\n")
        code = main(["explain", "-f", str(manifest), "--snapshot", CLUSTER, *words])
        return code, capsys.readouterr().out.replace(str(manifest), "pool.yaml")

    return run


def as_json(explain: Explain, spec: str) -> dict[str, Any]:
    [found] = json.loads(explain(spec, "-o", "json")[1])
    assert isinstance(found, dict)
    return found


def test_a_pool_that_can_be_completed_is_shown_with_the_hosts_it_would_get(explain: Explain) -> None:
    assert explain("{size: 2, mode: Exclusive}") == (
        0,
        (
            "pool.yaml: HostPool mine in namespace default\n"
            "  admitted, 4 of 13 nodes could be its hosts\n"
            "  hosts: foo.watson.ibm.com, bar\n"
            "  candidates: bar, foo, foo.watson.ibm.com, worker-11\n"
            "  out: worker-1, worker-2, worker-8 (runs a processing element of another pool or job)\n"
            "  out: worker-10, worker-9 (is exclusive to another HostPool)\n"
            "  out: control-plane-1 (may not be used by HostPools (poolable nodes))\n"
            "  out: worker-3 (has the taint dedicated=infra:NoSchedule)\n"
            "  out: worker-13 (is not ready)\n"
            "  out: worker-12 (is cordoned)\n"
        ),
    )


def test_where_all_pods_are_strangers_fewer_nodes_will_do(explain: Explain) -> None:
    _, out = explain("{size: 2, mode: Exclusive}", "--exclusive-strangers", "all", "--excluded-namespaces", "default")
    assert "  out: foo.watson.ibm.com, worker-1, worker-2, worker-8 (runs an unrelated pod)\n" in out


def test_a_pool_that_cannot_is_shown_with_the_refusal_and_exit_code_1(explain: Explain) -> None:
    code, out = explain("{name: Mine, size: 20}")
    assert code == 1
    assert out.startswith(
        "pool.yaml: HostPool mine in namespace default\n"
        "  refused, 8 of 13 nodes could be its hosts\n"
        "  HostPool Mine cannot be completed: it needs 20 hosts and 8 nodes are eligible.\n"
        "    2 nodes are exclusive to another HostPool\n"
    )


def test_a_list_of_hosts_is_shown_with_what_is_wrong_with_it(explain: Explain) -> None:
    assert explain("{hosts: [foo, nowhere]}") == (
        1,
        (
            "pool.yaml: HostPool mine in namespace default\n"
            "  refused\n"
            "  HostPool mine cannot be completed: it lists 2 hosts and finds 1 node.\n"
            '    hosts[1]: "nowhere" is not a node\n'
            "  Nearest fix: list each host once, by the name or an address of a node.\n"
        ),
    )


def test_a_pool_without_a_size_is_shown_with_the_nodes_that_serve_it_now(explain: Explain) -> None:
    code, out = explain("{tags: [source]}")
    assert code == 0
    assert "  admitted, 3 of 13 nodes could be its hosts\n  candidates: worker-1, worker-2, worker-3\n" in out


def test_a_pool_without_any_node_is_warned_about(explain: Explain) -> None:
    code, out = explain("{tags: [nowhere]}")
    assert code == 0
    assert (
        "  warning: HostPool mine has no host now: no node has the tag nowhere; "
        "label one node streams.ibm.com/hostpool=nowhere\n"
    ) in out


def test_the_quota_counts(explain: Explain) -> None:
    code, out = explain("{size: 2, mode: Exclusive}", "--exclusive-quota", "1")
    assert (code, "namespace default may have 1 exclusive host, its HostPools have " in out) == (1, True)


def test_json_says_the_same(explain: Explain) -> None:
    found = as_json(explain, "{size: 2, mode: Exclusive}")
    hosts = ["foo.watson.ibm.com", "bar"]
    assert (found["verdict"], found["code"], found["hosts"], found["patch"]) == ("admitted", 200, hosts, [])
    assert found["before"] == found["after"]
    refused = as_json(explain, "{size: 20}")
    assert (refused["verdict"], refused["code"], refused["after"]) == ("refused", 403, None)
    assert refused["removed"][1] == {
        "clause": "",
        "reason": "may not be used by HostPools (poolable nodes)",
        "nodes": ["control-plane-1"],
    }
