"""Another mutating webhook changes the same pods, before or after ours: a pod keeps what it needs, and has it once."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.counters import counted
from tests.e2e.chart.exclusive import POOL, exclusive_pool, toleration
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.reviews.other_webhook_changes import (
    adding,
    marks,
    neighbours,
    node_terms,
    once,
    sayings,
    sorting,
    taking_labels,
    taking_node_affinity,
    taking_tolerations,
)
from tests.e2e.chart.reviews.second_webhook import Change, SecondWebhook, registered, serving
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.workloads import namespace, pod_spec
from webhook.placement.text import keys

pytestmark = pytest.mark.usefixtures("installed", "order")

SPACE: Final = "others"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
MEMBER: Final = keys.membership(SPACE, POOL)

# Configurations run in the order of their names; ours begins with "zz-".
BEFORE: Final = pytest.param("aa-second", id="before us")
AFTER: Final = pytest.param("zzz-second", id="after us")

ARCH: Final = {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}
DISK: Final = {"matchExpressions": [{"key": "disktype", "operator": "DoesNotExist"}]}


@pytest.fixture(scope="module")
def server(installed: object, plane: ControlPlane) -> Iterator[SecondWebhook]:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)
    with exclusive_pool(plane.admin, SPACE), serving() as running:
        yield running


@pytest.fixture
def order(server: SecondWebhook, admin: Api, request: pytest.FixtureRequest) -> Iterator[None]:
    """The second webhook is asked about pods, and lets them be."""
    with registered(admin, server, request.param, SPACE):
        yield


@pytest.fixture
def alone(admin: Api, order: None) -> Object:  # noqa: ARG001 -- what it is to be compared with went the same way
    """The pod as it is if nobody else changes anything."""
    return admin.create(wanting(), dryRun="All")


def wanting() -> Object:
    """A pod that is given terms of every kind, a label and a toleration, and has terms and tolerations of its own."""
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [ARCH, DISK]}}}
    tolerations = [{"key": key, "operator": "Exists"} for key in ("z.example.com/last", "a.example.com/first")]
    clauses = f'host({POOL}), hostExlocation("apart"), hostColocation("near")'
    spec = pod_spec(affinity=affinity, tolerations=tolerations)
    return asking("p", SPACE, clauses, spec, labels={"streams.ibm.com/job": "j"})


def created(admin: Api, server: SecondWebhook, change: Change) -> Object:
    """The pod as it would be stored if the second webhook does this."""
    server.change = change
    server.asked.clear()
    return admin.create(wanting(), dryRun="All")


@pytest.mark.parametrize("order", [BEFORE, AFTER], indirect=True)
def test_without_a_second_opinion_everything_stands_there_once(alone: Object) -> None:
    """What the tests below compare with."""
    keys_of_terms = [[need["key"] for need in term["matchExpressions"]] for term in node_terms(alone)]
    # The host names are that of the pool's selector, and one that nodes need for terms about other pods.
    ours = ["kubernetes.io/hostname", "kubernetes.io/hostname", MEMBER]
    assert keys_of_terms == [["kubernetes.io/arch", *ours], ["disktype", *ours]]
    assert [one for one in alone["spec"]["tolerations"] if one["key"] == keys.EXCLUSIVE] == [toleration(SPACE)]
    assert len(neighbours(alone)) == 2


@pytest.mark.parametrize("order", [BEFORE, AFTER], indirect=True)
def test_what_it_adds_stays_beside_what_we_add(admin: Api, server: SecondWebhook, alone: Object) -> None:
    stored = created(admin, server, adding)
    assert sayings(stored) == sayings(alone)
    assert [one["name"] for one in stored["spec"]["containers"]] == ["main", "sidecar"]
    assert stored["metadata"]["labels"]["example.com/mesh"] == "on"


@pytest.mark.parametrize("order", [AFTER], indirect=True)
def test_asked_again_we_change_nothing(admin: Api, server: SecondWebhook) -> None:
    before = counted(admin, "reviews_total", "path", "outcome")
    created(admin, server, adding)
    answered = counted(admin, "reviews_total", "path", "outcome") - before
    assert answered == {("/mutate", "patched"): 1, ("/mutate", "allowed"): 1, ("/validate", "allowed"): 1}


TAKING: Final[dict[str, tuple[Change, str]]] = {
    "our node terms": (taking_node_affinity, "spec: lacks nodeAffinity"),
    "our label": (taking_labels, "metadata: lacks labels"),
    "our toleration": (taking_tolerations, "spec: lacks tolerations"),
}


@pytest.mark.parametrize("order", [AFTER], indirect=True)
@pytest.mark.parametrize(("take", "lacks"), TAKING.values(), ids=TAKING.keys())
def test_a_pod_is_refused_if_it_takes_away_whatever_we_add(
    admin: Api, server: SecondWebhook, take: Change, lacks: str
) -> None:
    server.change = take
    answer = admin.send("POST", PODS, wanting())
    said = f"{lacks} that its clauses require: something removed what the placement webhook had added"
    assert answer.message == f'admission webhook "pods.placement.streams.ibm.com" denied the request: {said}'
    assert answer.code == 403


@pytest.mark.parametrize("order", [BEFORE], indirect=True)
@pytest.mark.parametrize("take", [take for take, _ in TAKING.values()], ids=TAKING.keys())
def test_we_have_the_last_word_if_we_come_last(admin: Api, server: SecondWebhook, alone: Object, take: Change) -> None:
    stored = created(admin, server, take)
    assert server.asked["p"] == 2
    assert needs_of(stored) == needs_of(alone)


@pytest.mark.parametrize("order", [AFTER], indirect=True)
@pytest.mark.parametrize("take", [take for take, _ in TAKING.values()], ids=TAKING.keys())
def test_we_put_back_what_it_takes_away_once(admin: Api, server: SecondWebhook, alone: Object, take: Change) -> None:
    stored = created(admin, server, once(take))
    assert server.asked["p"] == 2
    assert needs_of(stored) == needs_of(alone)


def needs_of(one: Object) -> Object:
    """What our clauses need of it; its own terms and tolerations may be gone."""
    needed = {need["key"] for term in node_terms(one) for need in term["matchExpressions"]} - {
        "kubernetes.io/arch",
        "disktype",
    }
    tolerated = [own for own in one["spec"]["tolerations"] if own["key"] == keys.EXCLUSIVE]
    return {"nodes": needed, "tolerations": tolerated, "neighbours": neighbours(one), "marks": marks(one)}


@pytest.mark.parametrize("order", [BEFORE, AFTER], indirect=True)
def test_its_order_of_things_is_as_good_as_ours(admin: Api, server: SecondWebhook, alone: Object) -> None:
    stored = created(admin, server, sorting)
    tolerated = [one["key"] for one in stored["spec"]["tolerations"]]
    assert tolerated == sorted(tolerated)
    assert sayings(stored) == sayings(alone)
