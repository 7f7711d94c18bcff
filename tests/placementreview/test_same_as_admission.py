"""The answer of a review is the one that admission gives: verdict and text, for pods, workloads, Jobs and HostPools."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from hypothesis import event, given
from msgspec.structs import replace

from tests.answers import refused, response
from tests.builders import review
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placementreview.asked import asked, hostpool, of, streams_job
from tests.scheduling import product_answers
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.pods import POD_BYTES, asking, ordinary
from tests.scheduling.state import Cluster, manifests
from tests.scheduling.workloads import WORKLOAD_BYTES, workload
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_shapes import node_shapes

Json = Mapping[str, Any]
OBJECT_BYTES = max(POD_BYTES, WORKLOAD_BYTES) + 20


class Asked(NamedTuple):
    """An object that is created in a cluster."""

    cluster: Cluster
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        """The cluster and the object in YAML."""
        return f"{self.cluster!r}# created:{manifests([self.manifest])}"


def made(choices: RandomChoices) -> Asked:
    random_cluster = RandomCluster(choices.part(CLUSTER_BYTES))
    names, kind, rest = random_cluster.names, choices.face(6), choices.part(OBJECT_BYTES)
    if kind == 0:
        manifest = asking(rest, names, 9)
    elif kind == 1:
        manifest = ordinary(rest, names, f"{names.mark}-plain")
    elif kind == 2:
        manifest = workload(rest, names)
    else:
        manifest = [hostpool, streams_job, workload][kind - 3](rest, names)
    manifest = {"apiVersion": "v1", "kind": "Pod", **manifest} if kind in {0, 1} else manifest
    manifest["metadata"]["namespace"] = names.spaces[0]
    return Asked(random_cluster.cluster, manifest)


def expected(found: Asked, policy: Policy) -> tuple[bool, str]:
    """Whether admission refuses the object, and its text."""
    manifest, cluster = found.manifest, found.cluster
    if manifest["kind"] == "Pod":
        ruling = product_answers.admitted(manifest, cluster, policy)
        return ruling.pod is None, ruling.message
    group = manifest["apiVersion"].partition("/")[0]
    body = review(manifest, kind=manifest["kind"], group=group, namespace=manifest["metadata"]["namespace"])
    answer = asyncio.run(_completed(validate(body, of(cluster), policy)))
    return (False, "") if response(answer)["allowed"] else (True, refused(answer)[1])


async def _completed(answer: Answer) -> Answer:
    completed = ReviewQueries().completed(answer)
    return completed if isinstance(completed, Answer) else await completed


def answered_as_by_admission(found: Asked, policy: Policy) -> None:
    """Ask, and see that verdict and text are those of admission."""
    # Parts that are one object in Python are two on the wire.
    found = Asked(found.cluster, msgspec.json.decode(msgspec.json.encode(found.manifest)))
    namespace = found.manifest["metadata"]["namespace"]
    result = asked(of(found.cluster), found.manifest, namespace=namespace, policy=policy).results[0]
    event(f"{found.manifest['kind']}: {result.verdict}")
    assert (result.verdict == "Refused", result.message) == expected(found, policy)
    if result.smallest_set:
        assert result.verdict == ("Refused" if result.message else "NotJudged")
        assert result.nearest_fix
    if result.smallest_set and result.message:
        assert f"Nearest fix: {result.nearest_fix}." in result.message


@given(drawn(CLUSTER_BYTES + OBJECT_BYTES + 1, made))
@examples(2000)
def test_the_answer_is_that_of_admission(found: Asked) -> None:
    answered_as_by_admission(found, product_answers.POLICY)


SHAPES = node_shapes("""[
  {"name": "few", "labels": {"case": "c"}, "resources": {"cpu": 8, "memory": "16Gi"}, "nodes": 1},
  {"name": "tainted", "labels": {"case": "c"}, "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}
]""")


@given(drawn(CLUSTER_BYTES + OBJECT_BYTES + 1, made))
@examples(600)
def test_the_answer_is_that_of_admission_where_nodes_are_made(found: Asked) -> None:
    answered_as_by_admission(found, replace(product_answers.POLICY, scale_up="auto", node_shapes=SHAPES))
