"""The benchmark measures what it says: a cluster that never differs, reviews that are admitted, a fair comparison."""

import base64
import json
from pathlib import Path

import pytest
from msgspec.json import Decoder

from bench.generated import bodies, generator
from bench.generated.topology import NAMESPACE, Scale, node_name
from bench.reviews import nodeloop
from webhook.admission.answer import Outcome
from webhook.admission.mutate import Known, mutate
from webhook.admission.review import read_review
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import slots
from webhook.placement.kube.pod import Pod
from webhook.placement.request.memo import Memo
from webhook.placement.request.world import World

SMALL = Scale(nodes=100, pods=1000)
MIXED, FAMILIES = bodies.mixed(), bodies.families()


@pytest.fixture(scope="module")
def cluster() -> Inventory:
    return generator.inventory(SMALL)


def test_the_same_scale_gives_the_same_files() -> None:
    assert list(generator.pages(SMALL)) == list(generator.pages(SMALL))


def test_a_snapshot_is_made_once_and_is_what_the_pages_say(tmp_path: Path) -> None:
    folder = generator.folder(SMALL, tmp_path)
    before = folder.stat().st_mtime_ns
    assert generator.folder(SMALL, tmp_path).stat().st_mtime_ns == before
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == dict(generator.pages(SMALL))


def test_the_product_reads_every_object(cluster: Inventory) -> None:
    assert (len(cluster.nodes.nodes), len(cluster.pools), len(cluster.jobs)) == (100, 20, 2)


@pytest.mark.parametrize("body", (MIXED | FAMILIES).values(), ids=MIXED | FAMILIES)
def test_every_review_is_admitted_with_a_patch(body: bytes, cluster: Inventory) -> None:
    assert mutate(body, cluster, Policy()).outcome is Outcome.PATCHED


@pytest.mark.parametrize("what", ["nodeAffinity", "preferredNodeAffinity", "podAntiAffinity", "labels", "resources"])
@pytest.mark.parametrize("body", FAMILIES.values(), ids=FAMILIES)
def test_demanding_reviews_ask_something_of_most_families(body: bytes, what: str, cluster: Inventory) -> None:
    said = json.loads(mutate(body, cluster, Policy()).body)["response"]["patch"]
    assert f'\\"{what}\\"' in base64.b64decode(said).decode()


@pytest.mark.parametrize(("name", "body"), (MIXED | FAMILIES).items(), ids=MIXED | FAMILIES)
def test_a_pod_has_the_size_that_its_name_says(name: str, body: bytes) -> None:
    assert len(read_review(body).object) == (4096 if name.endswith(" 4 KB") else 10240)


@pytest.mark.parametrize("body", MIXED.values(), ids=MIXED)
def test_the_loop_over_nodes_finds_the_same_candidates(body: bytes, cluster: Inventory) -> None:
    objects = nodeloop.Objects()
    generator.fill(objects, SMALL)
    pod = Decoder(Pod).decode(read_review(body).object)
    verdict = decide(pod, NAMESPACE, World(cluster, Policy())).verdict
    assert verdict is not None
    expected = {cluster.nodes.names[slot] for slot in slots(verdict.candidates)}
    assert expected
    assert set(nodeloop.candidates(pod, NAMESPACE, objects)) == expected


@pytest.mark.parametrize(
    ("reviews", "kept"),
    [
        pytest.param(bodies.operators(36), 10 + 6, id="with operators of their own, which matter for isolation"),
        pytest.param(bodies.strangers(36), 36, id="of jobs of their own"),
        pytest.param(bodies.bound([node_name(at) for at in range(14, 30)], 36), 0, id="bound to nodes"),
    ],
)
def test_answers_are_kept_of_pods(reviews: list[bytes], kept: int, cluster: Inventory) -> None:
    known = Known(Memo())
    for body in reviews:
        assert mutate(body, cluster, Policy(), known).outcome is Outcome.PATCHED
    assert known.memo is not None
    assert len(known.memo) == kept


def test_bare_pods_are_bound_to_the_nodes_that_they_name(cluster: Inventory) -> None:
    body = bodies.bound([node_name(14)], 1)[0]
    said = base64.b64decode(json.loads(mutate(body, cluster, Policy()).body)["response"]["patch"])
    assert f'"path":"/spec/nodeName","value":"{node_name(14)}"' in said.decode()
