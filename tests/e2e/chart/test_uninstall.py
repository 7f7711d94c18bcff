"""The chart is uninstalled while HostPools have hosts: they are given back, or can be given back by a command."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.chart.installation import PORT, QUICK, install, kubelet
from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.pools import (
    condition,
    create_pool,
    exclusive,
    hostpool,
    hosts,
    marked,
    phase,
    pools,
    wait_for,
    wait_until_gone,
)
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

pytestmark = pytest.mark.early

NODES: Final = 6
SPACE: Final = "team"
OPERATIONS: Final = Path(__file__).parents[3] / "docs" / "operations.md"

CLUSTERWIDE: Final = (
    "rbac.authorization.k8s.io/v1/clusterroles",
    "rbac.authorization.k8s.io/v1/clusterrolebindings",
    "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
)
WITHIN: Final = ("apps/v1", "deployments"), ("batch/v1", "jobs"), ("rbac.authorization.k8s.io/v1", "roles")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own: the chart comes and goes."""
    with ControlPlane(tmp_path_factory.mktemp("leaving")) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in range(NODES)])
        namespace(running.admin, SPACE)
        yield running


@pytest.fixture(scope="module")
def running(plane: ControlPlane) -> Iterator[Kubelet]:
    """Where the chart's pods run; nothing is installed."""
    with kubelet(plane) as found:
        yield found


@pytest.fixture
def admin(plane: ControlPlane, running: Kubelet) -> Api:  # noqa: ARG001 -- after it
    return plane.admin


def install_with_pools(plane: ControlPlane, running: Kubelet, **values: Any) -> dict[str, str]:
    """The chart, and three pools that have all nodes; returns their paths."""
    install(plane, running, {**values, "settings": {**QUICK["settings"], **values.get("settings", {})}})
    dry = f"{pools(SPACE)}?dryRun=All"
    until(lambda: plane.admin.send("POST", dry, hostpool("any", SPACE)).code == 201, "reviews are answered", 60)
    wanted = (exclusive("one", SPACE, 2), hostpool("shared", SPACE, size=2), exclusive("two", SPACE, 2))
    found = {}
    for pool in wanted:
        name = pool["metadata"]["name"]
        path = f"{pools(SPACE)}/{name}"
        found[name] = path if plane.admin.find(path) else create_pool(plane.admin, pool)
        wait_for(plane.admin, path, seconds=60)
    return found


def uninstall(plane: ControlPlane, *words: str) -> subprocess.CompletedProcess[str]:
    return plane.helm("uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--timeout", "240s", *words)


def remains(admin: Api) -> list[str]:
    """Objects of the release that are left, but for those that are said to stay."""
    chosen = f"app.kubernetes.io/instance={RELEASE}"
    paths = [f"/apis/{path}" for path in CLUSTERWIDE]
    paths += [f"/apis/{group}/namespaces/{NAMESPACE}/{name}" for group, name in WITHIN]
    paths += [f"/api/v1/namespaces/{NAMESPACE}/{name}" for name in ("pods", "services", "serviceaccounts")]
    return [
        f"{path} {one['metadata']['name']}" for path in paths for one in admin.get(path, labelSelector=chosen)["items"]
    ]


def deleted(admin: Api) -> list[str]:
    """The pools that are deleted and not gone."""
    listed = admin.get(pools(SPACE))["items"]
    return [one["metadata"]["name"] for one in listed if "deletionTimestamp" in one["metadata"]]


def release(plane: ControlPlane, *words: str) -> subprocess.CompletedProcess[str]:
    """The command of the working copy, as a person runs it."""
    environment = {"KUBECONFIG": str(plane.kubeconfig()), "PATH": "/usr/bin:/bin"}
    command = (sys.executable, "-m", "webhook", "release", *words)
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240, env=environment)  # noqa: S603 -- ourselves


def page(heading: str) -> list[list[str]]:
    """The commands of a section of the page, word by word."""
    section = OPERATIONS.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\$ (.+)$", section, re.MULTILINE)
    return [shlex.split(line) for line in lines]


@pytest.mark.parametrize("guard", ["warn", "refuse"])
def test_an_uninstallation_gives_everything_back(admin: Api, plane: ControlPlane, running: Kubelet, guard: str) -> None:
    paths = install_with_pools(plane, running, settings={"guardNodes": guard})
    assert len(marked(admin)) == NODES
    done = uninstall(plane)
    assert done.returncode == 0, f"{done.stderr}\n{running.logs()[-4000:]}"
    assert marked(admin) == {}
    for path in paths.values():
        pool = admin.get(path)
        assert "finalizers" not in pool["metadata"]
        assert (phase(pool), hosts(pool), condition(pool)["reason"]) == ("Pending", [], "HostsReturned")
    until(lambda: remains(admin) == [], f"nothing is left: {remains(admin)} is", 30)


def owned(kind: str, name: str, owner: Object, spec: Object) -> Object:
    """An object of our own group that belongs to another one, as the controller makes it."""
    named = {key: owner["metadata"][key] for key in ("name", "uid")}
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **named}
    reference |= {"controller": True, "blockOwnerDeletion": True}
    metadata = {"name": name, "namespace": SPACE, "ownerReferences": [reference]}
    return {"apiVersion": "streams.ibm.com/v1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_job_can_be_deleted_with_all_that_is_its_while_nothing_is_installed(admin: Api, policy: str) -> None:
    group = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}"
    metadata = {"name": "left", "namespace": SPACE}
    job = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": {}}
    owner = admin.call("POST", f"{group}/streamsjobs", job).body
    pool = owned("HostPool", "left-p", owner, {"size": 1, "job": "left"})
    admin.call("POST", f"{group}/streamshostpools", pool)
    element = owned("ProcessingElement", "left-0", owner, {"job": "left"})
    element = admin.call("POST", f"{group}/streamspes", element).body
    containers = [{"name": "pe", "image": "streams"}]
    pod = owned("Pod", "left-0-1", element, {"containers": containers, "nodeSelector": {"no": "where"}})
    pods = f"/api/v1/namespaces/{SPACE}/pods"
    admin.call("POST", pods, {**pod, "apiVersion": "v1"})
    admin.delete(f"{group}/streamsjobs/left", propagationPolicy=policy)
    for path in ("streamsjobs/left", "streamshostpools/left-p", "streamspes/left-0"):
        wait_until_gone(admin, f"{group}/{path}", 60)
    wait_until_gone(admin, f"{pods}/left-0-1", 60)


def test_no_controller_led_after_the_hosts_were_given_back(admin: Api) -> None:
    lease = admin.get(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{RELEASE}-controller")
    assert not lease["spec"]["holderIdentity"]
    assert marked(admin) == {}


def test_what_is_installed_again_gives_pools_that_are_there_their_hosts(
    admin: Api, plane: ControlPlane, running: Kubelet
) -> None:
    paths = install_with_pools(plane, running)
    taken = [host for path in paths.values() for host in hosts(admin.get(path))]
    assert sorted(taken) == sorted(marked(admin)) == [f"node-{number}" for number in range(NODES)]


def test_a_person_cannot_give_hosts_back_while_a_controller_would_give_them_again(
    admin: Api, plane: ControlPlane
) -> None:
    before = marked(admin)
    done = release(plane, "--all")
    assert done.returncode == 3
    said = re.fullmatch(
        r"streams-placement: controllers run, and would assign hosts again: "
        rf"({NAMESPACE}/{RELEASE}-controller-\S+, \S+); stop them first: (kubectl .+)\n",
        done.stderr,
    )
    assert said, done.stderr
    named = release(plane, "--all", "--lease-namespace", NAMESPACE, "--wait", "4")
    assert (named.returncode, marked(admin)) == (3, before)
    assert re.fullmatch(
        rf"streams-placement: the Lease {NAMESPACE}/{RELEASE}-controller is held by \S+, a controller that would "
        r"assign hosts again, and was not released within 4 s; stop it first: "
        rf"kubectl --namespace {NAMESPACE} scale deployment {RELEASE}-controller --replicas 0\n",
        named.stderr,
    )
    advice = shlex.split(said[2])
    assert plane.kubectl(*advice[1:]).returncode == 0
    until(lambda: release(plane, f"{SPACE}/shared").returncode == 0, "the advice helps", 60)
    assert sorted(hosts(admin.get(f"{pools(SPACE)}/shared"))) == []
    plane.kubectl("--namespace", NAMESPACE, "scale", "deployment", f"{RELEASE}-controller", "--replicas", "2")
    wait_for(admin, f"{pools(SPACE)}/shared", seconds=60)


def test_a_hook_that_cannot_run_blocks_nothing_for_ever_and_the_rest_is_a_command(
    admin: Api, plane: ControlPlane, running: Kubelet
) -> None:
    """As with an image that nobody can pull: its pod waits."""
    install(plane, running, {**QUICK, "uninstall": {"releaseHosts": True}, "podAnnotations": {"again": "1"}})
    plane.helm(
        "upgrade", RELEASE, str(CHART), "--namespace", NAMESPACE, "--reuse-values", "--set", "nodeSelector.no=where"
    )
    stuck = uninstall(plane, "--timeout", "8s")
    assert stuck.returncode != 0
    assert f"{RELEASE}-release" in stuck.stderr
    done = uninstall(plane, "--no-hooks")
    assert done.returncode == 0, done.stderr
    assert len(marked(admin)) == NODES
    plane.kubectl("delete", "namespace", SPACE, "--wait=false")
    until(lambda: len(deleted(admin)) == 3, f"it hangs: {deleted(admin)} are deleted")
    until(
        lambda: (
            not admin.get(
                f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector="app.kubernetes.io/component=controller"
            )["items"]
        ),
        "no controller is left",
        60,
    )
    commands = page("Uninstall")
    (given,) = [words for words in commands if words == ["streams-placement", "release", "--all"]]
    dry = release(plane, *given[2:], "--dry-run")
    assert dry.returncode == 0
    assert len(marked(admin)) == NODES
    freed = release(plane, *given[2:])
    assert freed.returncode == 0, freed.stderr
    assert dry.stdout.replace("would release", "released").replace("would remove", "removed") == freed.stdout
    assert marked(admin) == {}
    wait_until_gone(admin, f"/api/v1/namespaces/{SPACE}", 60)
    again = release(plane, *given[2:])
    assert (again.returncode, again.stdout) == (0, "HostPools: nothing to release\n")
    for words in commands:
        if words[0] == "kubectl" and "delete" in words and "--selector" in words:
            done = plane.kubectl(*words[1:])
            assert done.returncode == 0, done.stderr
    until(lambda: not [one for one in remains(admin) if "/namespaces/" not in one], "nothing is left in the cluster")


def test_a_move_to_another_name_keeps_every_host(admin: Api, plane: ControlPlane, running: Kubelet) -> None:
    """The section of the page, as it stands: the hosts are exclusive all the time."""
    namespace(plane.admin, SPACE)
    paths = install_with_pools(plane, running)
    before, given = marked(admin), {name: hosts(admin.get(path)) for name, path in paths.items()}
    leave, come = [words for words in page("Move to another release name") if words[0] == "helm"]
    assert plane.helm(*leave[1:]).returncode == 0
    assert marked(admin) == before
    done = plane.helm(*come[1:3], str(CHART), *come[4:], "--set", f"service.port={PORT}", "--timeout", "240s")
    assert done.returncode == 0, f"{done.stderr}\n{running.logs()[-4000:]}"
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{come[2]}-{RELEASE}-controller"
    until(lambda: (admin.find(lease) or {"spec": {}})["spec"].get("holderIdentity"), "the new one leads", 60)
    assert (marked(admin), {name: hosts(admin.get(path)) for name, path in paths.items()}) == (before, given)
    admin.delete(paths["one"])
    wait_until_gone(admin, paths["one"], 60)
    assert sorted(marked(admin)) == sorted(set(before) - set(given["one"]))


def test_the_namespaces_go_when_the_product_has_gone(admin: Api, plane: ControlPlane) -> None:
    names = plane.helm("list", "--namespace", NAMESPACE, "--short").stdout.split()
    for name in names:
        done = plane.helm("uninstall", name, "--namespace", NAMESPACE, "--wait", "--timeout", "240s")
        assert done.returncode == 0, done.stderr
    plane.kubectl("delete", "namespace", SPACE, NAMESPACE, "--wait=false")
    for name in (SPACE, NAMESPACE):
        wait_until_gone(admin, f"/api/v1/namespaces/{name}", 60)
    assert marked(admin) == {}
