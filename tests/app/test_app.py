"""The composition root."""

import gc
import logging
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from kubeapi.client.errors import ApiError, Cause, NotServedError
from tests.golden.examples import EXAMPLES
from webhook import app
from webhook.app.cluster_source import ReadingLog, cluster_of, tell_reading
from webhook.app.serve import warn_of_elastic
from webhook.cluster.objects.report import Finding
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.kube.pod import Requirement
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings, policy_of, read


def test_the_default_settings_are_the_default_policy() -> None:
    policy = policy_of(Settings())
    assert policy.poolable.match_expressions == (Requirement("node-role.kubernetes.io/control-plane", "DoesNotExist"),)
    assert (policy.host_binding, policy.unknown_annotations, policy.exclusive_effect) == (
        "auto",
        "refuse",
        "NoSchedule",
    )
    assert (policy.elastic, policy.audit, policy.verify_pods) == (False, False, True)


def test_every_choice_reaches_the_policy() -> None:
    policy = policy_of(
        read(
            {
                "host_binding": "nodeName",
                "unknown_annotations": "warn",
                "elastic": True,
                "mode": "audit",
                "verify_pods": False,
                "exclusive_effect": "NoExecute",
                "exclusive_strangers": "all",
                "excluded_namespaces": "kube-system, team-a",
                "poolable_nodes": "pool",
                "exclusive_quota": "20,team-a=40",
                "pool_quota": "50",
                "guard_nodes": "refuse",
                "guard_bindings": True,
            }
        )
    )
    assert (policy.host_binding, policy.unknown_annotations, policy.exclusive_effect) == (
        "nodeName",
        "warn",
        "NoExecute",
    )
    assert (policy.elastic, policy.audit, policy.verify_pods) == (True, True, False)
    assert policy.poolable.match_expressions == (Requirement("pool", "Exists"),)
    assert policy.quota == Quota(20, {"team-a": 40})
    assert policy.pool_quota == Quota(50)
    assert policy.spared == {"kube-system", "team-a"}
    assert (policy.guard_nodes, policy.guard_bindings) == ("refuse", True)


def test_strict_is_everything_that_keeps_others_off_exclusive_hosts() -> None:
    policy = policy_of(read({"strict": True}))
    assert (policy.strict, policy.guard_bindings, policy.spared) == (True, True, {"kube-system"})


@pytest.mark.parametrize(("chosen", "expected"), [("streams", None), ("all", {"kube-system"})])
def test_what_is_kept_of_a_cluster_depends_on_who_is_a_stranger(chosen: str, expected: set[str] | None) -> None:
    settings = read({"snapshot": str(EXAMPLES / "cluster"), "exclusive_strangers": chosen})
    serving, explained = cluster_of(settings).inventory, app.explain.explaining(settings, [], print).inventory
    assert (serving.foreign_pods.spared, explained.foreign_pods.spared) == (expected, expected)


async def test_without_any_cluster_there_is_nothing_to_serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    with pytest.raises(
        FatalError, match="^there is no cluster to connect to: .*; or give --snapshot with a folder of what"
    ):
        await app.serve.serve(Settings(), lambda *_: None)


def test_objects_are_named_that_could_not_be_used(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(
        '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node"}]}'
    )
    (tmp_path / "node.json").write_text('{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}')
    with caplog.at_level(logging.INFO):
        tell_reading(read_snapshot(tmp_path, Inventory()))
        tell_reading(OSError("gone"))
    gc.unfreeze()
    assert caplog.messages == [
        (
            "snapshot: 1 Node, 0 Pod, 0 HostPool, 0 Job, 0 HPAIntent, 0 Namespace, 0 DeviceClass; 0 finished, "
            "1 skipped, 0 ignored"
        ),
        "snapshot: nodes.json: Node number 1: metadata.name: missing",
        "the snapshot could not be reread; keeping the last one: gone",
    ]


def test_the_examples_are_a_cluster() -> None:
    world = app.explain.explaining(read({"snapshot": str(EXAMPLES / "cluster")}), [], print)
    assert world.everything.bit_count() == 13
    assert world.device_budget.nodes == 6400  # a command waits for nothing else


def test_nothing_else_is_offered() -> None:
    with pytest.raises(AttributeError, match="^module 'webhook.app' has no attribute 'tour'$"):
        app.tour  # type: ignore[attr-defined]  # noqa: B018 -- that it is not there is the point


def test_whoever_serves_does_not_wait_for_a_controller() -> None:
    program = "import sys; from webhook.app import serve; print(*(m for m in sys.modules if '.controller' in m))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 -- our own program
    assert done.stdout == "\n"


def test_of_what_the_watches_tell_failures_are_counted_by_their_causes() -> None:
    failed: list[Cause] = []
    tell = ReadingLog(failed.append)
    tell(ApiError(Cause.FORBIDDEN, "nodes: no"))
    tell(Finding("", "Node node-a", "metadata.name: missing"))
    assert failed == [Cause.FORBIDDEN]


def test_a_kind_that_is_not_served_and_not_needed_is_information(caplog: pytest.LogCaptureFixture) -> None:
    failed: list[Cause] = []
    with caplog.at_level(logging.INFO, "webhook.app"):
        tell = ReadingLog(failed.append)
        tell(NotServedError(Cause.MISSING, "devicetaintrules: the API server answers 404: Not Found"))
        tell(ApiError(Cause.MISSING, "streamsjobs: the API server answers 404: Not Found"))
    assert [(found.levelname, found.getMessage()) for found in caplog.records] == [
        ("INFO", "cluster: devicetaintrules: the API server answers 404: Not Found; decisions are made without them"),
        ("WARNING", "cluster: streamsjobs: the API server answers 404: Not Found"),
    ]
    assert failed == [Cause.MISSING]


@pytest.mark.parametrize("scale_up", ["auto", "off"])
@pytest.mark.parametrize("elastic", [True, False])
def test_elastic_beside_node_groups_is_warned_of(
    caplog: pytest.LogCaptureFixture, *, elastic: bool, scale_up: Literal["auto", "off"]
) -> None:
    warn_of_elastic(Policy(elastic=elastic, scale_up=scale_up))
    said = (
        "elastic admits every pod that lacks nodes, so scaleUp: auto refuses none: turn elastic off to have pods "
        "refused for which no node group can make a node"
    )
    assert caplog.messages == ([said] if elastic and scale_up == "auto" else [])
