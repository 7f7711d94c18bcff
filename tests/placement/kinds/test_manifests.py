"""Manifests of the projects themselves: each is accepted, and becomes exactly the pods that its operator makes.

A file of ``manifests`` names the project, the commit or release, and the code of the operator that says which pods
there are; a manifest of another project or commit names its own. The manifests are reduced to what makes pods.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.builders import GIB, cluster, node
from tests.placement.kinds.expansion import application_document, assert_expanded
from tests.placement.planning.at_once import AtOnce
from tests.yaml_values import loaded
from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import judge_application, read_pods
from webhook.placement.kinds.application import OperatorApplication, expanded
from webhook.placement.kinds.kind import OperatorKind
from webhook.placement.planning.search.solver import finished

KINDS: Final = {chart_name(kind): kind for kind in application_kinds().values()}
FILES: Final = {path.stem: loaded(path.read_text()) for path in (Path(__file__).parent / "manifests").iterdir()}
MANIFESTS: Final = [
    pytest.param(KINDS[name], manifest, id=f"{name}: {manifest['path']}")
    for name, file in sorted(FILES.items())
    for manifest in file["manifests"]
]
FEWEST: Final = 5
"""Manifests of each kind."""


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_manifests_of_its_project(name: str) -> None:
    file = FILES[name]
    assert file["project"].count("/") == 1
    assert file["commit"]
    assert file["expansion"]
    assert len({(one.get("project"), one["path"]) for one in file["manifests"]}) >= FEWEST


@pytest.mark.parametrize(("kind", "manifest"), MANIFESTS)
def test_a_manifest_becomes_the_pods_that_its_operator_makes(kind: OperatorKind, manifest: dict[str, Any]) -> None:
    assert_expanded(expanded(kind, application_document(kind, manifest), manifest.get("runtime")), manifest)


@pytest.mark.parametrize(("kind", "manifest"), MANIFESTS)
def test_a_manifest_is_accepted_where_each_pod_has_a_host_and_nowhere_else(
    kind: OperatorKind, manifest: dict[str, Any]
) -> None:
    document = application_document(kind, manifest)
    document["metadata"]["annotations"] = {"streams.ibm.com/placement": 'hostExlocation("each")'}
    application = expanded(kind, document, manifest.get("runtime"))
    together = sum(one.count for one in application.components if not one.apart)
    hosts = max([together, *(one.count for one in application.components if one.apart)])
    verdict = _verdict(application, hosts)
    assert not verdict.refused, verdict.text
    assert not verdict.undecided
    if hosts > 0:
        said = f"{hosts - 1} of {hosts} pods fit" if hosts > 1 else "0 of 0 nodes can run this pod"
        assert said in _verdict(application, hosts - 1).text


def _verdict(application: OperatorApplication, hosts: int) -> JobVerdict:
    """The verdict on a cluster of that many large nodes, which have all labels that the pods select."""
    for one in application.components:
        one.pod["metadata"]["labels"] = {**one.pod["metadata"].get("labels", {}), "streams.ibm.com/job": "app"}
    specs = [one.pod["spec"] for one in application.components]
    labels = {name: value for spec in specs for name, value in spec.get("nodeSelector", {}).items()}
    offers = {"cpu": 200_000, "memory": 2000 * GIB, "ephemeral-storage": 2000 * GIB}
    devices = {"nvidia.com/gpu": 8, "google.com/tpu": 8}
    nodes = [node(f"node-{at}", labels=labels, **offers, **devices) for at in range(hosts)]
    pods = read_pods(application)
    assert isinstance(pods, list)
    return finished(judge_application(pods, "apps", cluster(nodes), Policy(), AtOnce()))
