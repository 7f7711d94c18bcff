"""Applications that are admitted are promised their room until their pods run: by the worker, without a process."""

import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.answers import refused, response, warnings
from tests.builders import GIB, NAMESPACE, bound_pod, cluster, nodes, review
from tests.cluster.judging.application_reviews import POLICY, application_review, ray_spec
from tests.cluster.judging.job_reviews import elements, job_review
from tests.fake_clock import FakeClock
from tests.workload_templates import workload
from webhook.admission.answer import PromisedQuestion, WorkloadsQuestion
from webhook.cluster.judging import worker_judge
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.kept_room import SECONDS, VAIN
from webhook.cluster.judging.messages import ApiReply, Asking, FromWorker, Judge, JudgedReview
from webhook.cluster.judging.worker_judge import ASKED, LATE, MOST, STORED, WorkerJudge
from webhook.cluster.objects.kinds import KINDS, PODS
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pod import PodInfo

ONE = application_review("one")
TWO = application_review("two")
JOB = job_review(elements("") | {"resources": {"requests": {"cpu": "4"}}})
TAKEN = "room for 4 pods, promised to applications within the last minute, counts as used"


class Promising:
    """A worker over two nodes, which one application fills."""

    def __init__(self, inventory: Inventory | None = None, policy: Policy = POLICY) -> None:
        self.inventory = inventory or cluster(nodes(2))
        self.clock = FakeClock(1000.0)
        self.judge = WorkerJudge(self.inventory, policy, ChangeLog(), self.clock)

    def ask(self, body: bytes, number: int = 1) -> FromWorker | None:
        return self.judge.take(Judge(number, body, time.monotonic() + 60))

    def certain(self, body: bytes) -> JudgedReview:
        """The answer; what was promised is for objects that are stored."""
        found = self.ask(body)
        if isinstance(found, Asking):
            found = self.reply(found)
        assert isinstance(found, JudgedReview)
        assert found.answer.promise is None
        return found

    def reply(self, asking: FromWorker | None, *missing: str) -> JudgedReview:
        """The answer once the API server has said that all objects in question are stored but these."""
        assert isinstance(asking, Asking)
        assert isinstance(asking.question, PromisedQuestion)
        stored = frozenset(one.uid for one in asking.question.objects) - {*missing}
        found = self.judge.take(ApiReply(asking.number, stored))
        assert isinstance(found, JudgedReview)
        return found

    def allows(self, body: bytes) -> bool:
        """Whether the review is admitted."""
        allowed: bool = response(self.certain(body).answer)["allowed"]
        return allowed

    def stand_ins(self, job: str = "one", namespace: str = NAMESPACE) -> list[PodInfo]:
        return [pod for _, pod in self.inventory.job_pods(namespace, job).pods.values()]

    def pod(self, pod: PodInfo) -> None:
        """The watch brings a pod."""
        self.judge.take(InventoryChange(KINDS.index(PODS), pod))


@pytest.fixture
def promising() -> Promising:
    return Promising()


def test_two_applications_are_not_promised_the_same_room(promising: Promising) -> None:
    assert promising.allows(ONE)
    assert len(promising.stand_ins()) == promising.inventory.promised == 4
    found = promising.certain(application_review("two", namespace="elsewhere"))
    assert refused(found.answer)[1].startswith("The pods cannot all run: 0 of 3 pods fit (worker small).")
    assert warnings(found.answer) == [TAKEN]


def test_neither_is_a_job(promising: Promising) -> None:
    assert promising.allows(JOB)
    assert promising.allows(ONE)
    found = promising.certain(JOB)
    assert refused(found.answer)[0] == 403
    assert warnings(found.answer) == [TAKEN]


def test_in_audit_mode_the_warning_says_so_too() -> None:
    promising = Promising(policy=replace(POLICY, audit=True))
    for body in (ONE, TWO, JOB):
        assert promising.allows(body)
    found = promising.ask(JOB)
    assert isinstance(found, JudgedReview)
    first, second = warnings(found.answer)
    assert (first[:30], second) == ("audit: this would be refused: ", TAKEN)


def test_one_that_waits_for_new_nodes_is_promised_the_nodes_there_are() -> None:
    """New nodes are promised to none: a second one may count on the same, and waits if they do not do."""
    inventory = cluster(nodes(2))
    inventory.node_groups.put(NodeGroup("NodePool", "p", offers={"cpu": 8000, "memory": 32 * GIB}, count=2))
    promising = Promising(inventory, replace(POLICY, scale_up="auto"))
    large = application_review("one", spec=ray_spec("one", 4))
    assert warnings(promising.certain(large).answer) == [
        "no room yet for 1 of 5 pods (head): node groups can make 1 node of NodePool p"
    ]
    assert sorted(pod.node for pod in promising.stand_ins()) == ["node-a", "node-a", "node-b", "node-b"]
    made = "no room yet for 4 of 4 pods (head, worker small): node groups can make 2 nodes of NodePool p"
    for body in (TWO, application_review("three")):
        assert warnings(promising.certain(body).answer) == [made, TAKEN]
    assert inventory.promised == 4
    assert warnings(promising.certain(JOB).answer)[1:] == [TAKEN]


def test_a_workload_is_not_kept_from_the_room(promising: Promising) -> None:
    """It may be what the operator makes of the application, and by other ways than its owners tell."""
    apart = workload("Deployment", 'hostExlocation("x")', count=2, name="sink", job="one", requests={"cpu": "4"})
    other = workload("Deployment", 'hostExlocation("y")', count=1, name="source", job="one")
    body = review(apart, kind="Deployment", group="apps")
    assert promising.allows(ONE)
    found = promising.ask(body)
    assert isinstance(found, Asking)
    assert isinstance(found.question, WorkloadsQuestion)
    found = promising.judge.take(ApiReply(1, [other]))
    assert isinstance(found, JudgedReview)
    assert response(found.answer)["allowed"]
    assert len(promising.stand_ins()) == 4


def test_the_room_is_given_back_after_a_minute(promising: Promising) -> None:
    assert promising.allows(ONE)
    promising.clock.now += 59
    assert not promising.allows(TWO)
    promising.clock.now += 1
    assert promising.allows(application_review("two", namespace="elsewhere"))
    assert promising.inventory.promised == 4


def test_a_pod_that_gets_its_node_takes_the_place_of_a_stand_in(promising: Promising) -> None:
    promising.allows(ONE)
    for number, pod in enumerate(promising.stand_ins()):
        real = replace(pod, uid=f"real-{number}")
        promising.pod(replace(real, node=""))
        assert promising.inventory.promised == 4 - number
        promising.pod(real)
        promising.pod(real)  # as after a change of its status
        assert promising.inventory.promised == 3 - number
    assert not promising.allows(TWO)
    assert sorted(pod.uid for pod in promising.stand_ins()) == [f"real-{number}" for number in range(4)]


def test_another_pod_takes_the_place_of_none(promising: Promising) -> None:
    promising.allows(ONE)
    (first, *_) = promising.stand_ins()
    for number, other in enumerate(({"namespace": "elsewhere"}, {"job": "other"}, {"requests": {"cpu": 1}})):
        promising.pod(replace(first, uid=f"real-{number}", **other))
        assert promising.inventory.promised == 4


def test_a_pod_with_more_requests_takes_the_place_of_the_largest_that_it_holds(promising: Promising) -> None:
    """As with a sidecar, or defaults of a LimitRange: nothing counts twice."""
    spec = ray_spec("one", 1)
    spec["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "2"}
    promising.allows(application_review("one", spec=spec))
    large, small = sorted(promising.stand_ins(), key=lambda pod: -pod.requests["cpu"])
    for left, pod in ((1, large), (0, small)):
        requests = {**pod.requests, "cpu": pod.requests["cpu"] + 100, "memory": 1 << 30}
        promising.pod(replace(pod, uid=f"real-{left}", requests=requests))
        assert promising.inventory.promised == left
    assert sorted(pod.uid for pod in promising.stand_ins()) == ["real-0", "real-1"]


def test_a_stand_in_on_another_node_is_as_good(promising: Promising) -> None:
    promising.allows(application_review("one", spec=ray_spec("one", 0)))
    (pod,) = promising.stand_ins()
    promising.pod(replace(pod, uid="real", node="node-b" if pod.node == "node-a" else "node-a"))
    assert (promising.inventory.promised, [one.uid for one in promising.stand_ins()]) == (0, ["real"])


# What is promised nothing

NONE: dict[str, dict[str, Any]] = {
    "a dry run": {"dryRun": True},
    "a suspended one": {"spec": {**ray_spec("one"), "suspend": True}},
    "one without a uid": {"metadata": {"uid": ""}},
    "one whose name is none": {"metadata": {"name": "../x"}},
    "in a namespace that can be none": {"namespace": "a/b"},
    "a change": {"operation": "UPDATE", "old": {"spec": ray_spec("one", 1)}},
    "one that runs at certain times": {
        "kind": "ScheduledSparkApplication",
        "group": "sparkoperator.k8s.io",
        "spec": {
            "schedule": "@daily",
            "template": {
                "type": "Scala",
                "mode": "cluster",
                "driver": {"labels": {"streams.ibm.com/job": "one"}},
                "executor": {},
            },
        },
    },
    "steps, of which each runs when there is room": {
        "kind": "Workflow",
        "group": "argoproj.io",
        "spec": {
            "entrypoint": "main",
            "podMetadata": {"labels": {"streams.ibm.com/job": "one"}},
            "templates": [{"name": "main", "container": {"image": "i"}}],
        },
    },
}


@pytest.mark.parametrize("changed", NONE.values(), ids=NONE.keys())
def test_nothing_is_promised_to(promising: Promising, changed: dict[str, Any]) -> None:
    assert promising.allows(application_review("one", **changed))
    assert promising.inventory.promised == 0


def test_nothing_is_promised_to_one_that_is_not_decided_in_time(promising: Promising) -> None:
    found = promising.judge.take(Judge(1, ONE, time.monotonic() - 1))
    assert isinstance(found, JudgedReview)
    assert (response(found.answer)["allowed"], promising.inventory.promised) == (True, 0)


def test_nothing_is_promised_to_one_that_is_refused(promising: Promising) -> None:
    assert not promising.allows(application_review("one", spec=ray_spec("one", 4)))
    assert promising.inventory.promised == 0


def test_the_same_object_twice_is_promised_its_room_once(promising: Promising) -> None:
    """As where the API server did not hear the first answer."""
    assert promising.allows(ONE)
    assert promising.allows(ONE)
    assert (promising.inventory.promised, len(promising.stand_ins())) == (4, 4)


def test_a_namespace_whose_pods_did_not_come_is_promised_nothing_for_a_while(promising: Promising) -> None:
    """As where a quota refuses them: others would be kept out for ever, by a new object each minute."""
    assert promising.allows(ONE)
    promising.clock.now += SECONDS
    assert promising.allows(TWO)
    assert promising.inventory.promised == 0
    promising.clock.now += VAIN - 1
    assert promising.allows(TWO)
    assert promising.inventory.promised == 0
    promising.clock.now += 1
    assert promising.allows(TWO)
    assert promising.inventory.promised == 4


def test_it_is_if_half_of_them_came(promising: Promising) -> None:
    assert promising.allows(ONE)
    for number, pod in enumerate(promising.stand_ins()[:2]):
        promising.pod(replace(pod, uid=f"real-{number}"))
    promising.clock.now += SECONDS
    assert promising.allows(application_review("two", spec=ray_spec("two", 1)))
    assert promising.inventory.promised == 2


@pytest.mark.parametrize(("age", "promised"), [(LATE, 4), (LATE + 1, 0)])
def test_one_that_was_deleted_counts_as_kept_in_vain(promising: Promising, age: float, promised: int) -> None:
    promising.allows(ONE)
    promising.clock.now += age
    assert response(promising.reply(promising.ask(TWO), "uid-one").answer)["allowed"]
    assert promising.inventory.promised == promised


def test_one_that_was_given_up_while_a_refusal_asks_is_given_up_once(promising: Promising) -> None:
    promising.allows(ONE)
    promising.clock.now += SECONDS - 1
    found = promising.ask(TWO)
    promising.clock.now += 1
    promising.ask(application_review("small", spec=ray_spec("small", 0)), number=2)
    assert response(promising.reply(found, "uid-one").answer)["allowed"]


# What is made of an object


def test_an_object_that_is_made_of_another_one_takes_over_its_room(promising: Promising) -> None:
    job = {"entrypoint": "x", "submissionMode": "HTTPMode", "rayClusterSpec": ray_spec("one")}
    assert promising.allows(application_review("one", kind="RayJob", spec=job))
    assert promising.inventory.promised == 4
    assert promising.allows(application_review("made", owner="uid-one", spec=ray_spec("one")))
    assert promising.inventory.promised == 4
    assert not promising.allows(TWO)


def test_it_keeps_the_room_for_no_longer(promising: Promising) -> None:
    """Or objects that name one another would keep it for ever."""
    assert promising.allows(ONE)
    promising.clock.now += SECONDS / 2
    assert promising.allows(application_review("made", owner="uid-one", spec=ray_spec("one")))
    promising.clock.now += SECONDS / 4
    assert promising.allows(application_review("next", owner="uid-made", spec=ray_spec("one")))
    assert promising.inventory.promised == 4
    promising.clock.now += SECONDS / 4
    assert promising.allows(application_review("two", namespace="elsewhere"))
    assert promising.stand_ins() == []


def test_owners_that_cannot_be_read_are_none(promising: Promising) -> None:
    promising.allows(ONE)
    assert not promising.allows(application_review("two", metadata={"ownerReferences": 7}))


def test_an_owner_in_another_namespace_is_none(promising: Promising) -> None:
    promising.allows(ONE)
    assert not promising.allows(application_review("two", owner="uid-one", namespace="elsewhere"))


def test_an_object_that_claims_an_owner_and_is_refused_takes_nothing(promising: Promising) -> None:
    promising.allows(ONE)
    assert not promising.allows(application_review("two", owner="uid-one", spec=ray_spec("two", 9)))
    assert len(promising.stand_ins()) == 4
    assert not promising.allows(TWO)


# Objects that were never stored, or are gone


def test_a_refusal_asks_whether_what_was_promised_is_needed(promising: Promising) -> None:
    assert promising.allows(ONE)
    promising.clock.now += STORED
    found = promising.ask(TWO)
    assert isinstance(found, Asking)
    assert isinstance(found.question, PromisedQuestion)
    (one,) = found.question.objects
    assert found.question.patience == 0.0
    assert (one.path, one.uid) == (f"/apis/ray.io/v1/namespaces/{NAMESPACE}/rayclusters/one", "uid-one")
    found = promising.reply(found, "uid-one")
    assert response(found.answer)["allowed"]
    assert (promising.stand_ins(), len(promising.stand_ins("two"))) == ([], 4)


@pytest.mark.parametrize(("age", "patience"), [(0.0, STORED), (STORED / 2, STORED / 2), (STORED + 1, 0.0)])
def test_one_that_was_admitted_a_moment_ago_may_not_be_stored_yet(
    promising: Promising, age: float, patience: float
) -> None:
    promising.allows(ONE)
    promising.clock.now += age
    found = promising.ask(TWO)
    assert isinstance(found, Asking)
    assert isinstance(found.question, PromisedQuestion)
    assert found.question.patience == patience


def test_one_that_fits_in_no_case_is_refused_all_the_same(promising: Promising) -> None:
    promising.allows(ONE)
    promising.clock.now += STORED
    found = promising.reply(promising.ask(application_review("two", spec=ray_spec("two", 9))), "uid-one")
    assert (refused(found.answer)[0], warnings(found.answer), promising.inventory.promised) == (403, [], 0)


def test_a_mistake_asks_nothing(promising: Promising) -> None:
    promising.allows(ONE)
    promising.clock.now += STORED
    wrong = ray_spec("two")
    wrong["headGroupSpec"]["template"]["metadata"]["annotations"] = {"streams.ibm.com/placement": "host("}
    found = promising.ask(application_review("two", spec=wrong))
    assert isinstance(found, JudgedReview)
    assert refused(found.answer)[0] == 422


def test_few_objects_are_asked_about_for_one_refusal_and_no_others_keep_their_room_from_it() -> None:
    """However many objects one namespace submits that are never stored."""
    promising = Promising(cluster(nodes(ASKED + 2)))
    for number in range(ASKED + 1):
        assert promising.allows(application_review(f"app-{number}", spec=ray_spec(f"app-{number}", 1)))
    assert promising.allows(application_review("last", spec=ray_spec("last", 1), namespace="elsewhere"))
    promising.clock.now += STORED
    found = promising.ask(TWO)
    assert isinstance(found, Asking)
    assert isinstance(found.question, PromisedQuestion)
    asked = [f"uid-app-{number}" for number in range(ASKED - 1)]
    assert [one.uid for one in found.question.objects] == ["uid-app-0", "uid-last", *asked[1:]]
    larger = promising.ask(application_review("larger", spec=ray_spec("larger", 4)), number=2)
    assert not response(promising.reply(larger).answer)["allowed"]
    assert response(promising.reply(found).answer)["allowed"]
    assert promising.inventory.promised == 2 * (ASKED + 2) + 4
    assert len(promising.stand_ins(f"app-{ASKED}")) == 2


def test_what_is_promised_while_a_refusal_asks_is_not_known_to_be_stored(promising: Promising) -> None:
    """One that submits again and again what is never stored keeps no room from others."""
    promising.allows(ONE)
    found = promising.ask(TWO)
    assert response(promising.reply(promising.ask(application_review("next"), number=2), "uid-one").answer)["allowed"]
    assert response(promising.reply(found, "uid-one").answer)["allowed"]
    assert promising.inventory.promised == 8


def test_a_refusal_stands_if_all_that_were_promised_room_are_stored(promising: Promising) -> None:
    promising.allows(ONE)
    found = promising.ask(TWO)
    assert not response(promising.reply(found).answer)["allowed"]
    assert promising.inventory.promised == 4


# Bounds


def test_the_namespace_that_was_promised_most_gives_up_its_oldest_room() -> None:
    promising = Promising(cluster(nodes(MOST // 8, cpu=64_000)))

    def promised(name: str, pods: int, namespace: str = NAMESPACE) -> None:
        body = application_review(name, spec=ray_spec(name, pods - 1, "1"), namespace=namespace)
        assert promising.allows(body)

    promised("bystander", 1, "elsewhere")
    promised("one", MOST // 2)
    promised("two", MOST // 2 - 1)
    assert promising.inventory.promised == MOST
    promised("three", 2)
    counts = [len(promising.stand_ins(name)) for name in ("one", "two", "three")]
    assert counts == [0, MOST // 2 - 1, 2]
    assert len(promising.stand_ins("bystander", "elsewhere")) == 1


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Promising:
    """The room of the second of two applications is kept, and that of the first is given up for it."""
    monkeypatch.setattr(worker_judge, "MOST", 8)
    promising = Promising(cluster(nodes(4, cpu=64_000)))
    for name in ("one", "two"):
        assert promising.allows(application_review(name, spec=ray_spec(name, 4, "1")))
    assert [len(promising.stand_ins(name)) for name in ("one", "two")] == [0, 5]
    return promising


def come(crowded: Promising, many: int, **more: int) -> None:
    """So many pods of both get their nodes."""
    requests = {**crowded.stand_ins("two")[-1].requests, **more}
    for job in ("one", "two"):
        for number in range(many):
            crowded.pod(bound_pod("node-d", job=job, uid=f"{job}-{number}", requests=requests))


def test_more_than_may_be_kept_is_no_reason_to_promise_nothing_for_a_while(crowded: Promising) -> None:
    """The pods of both come a moment later."""
    assert crowded.allows(application_review("three", spec=ray_spec("three", 1, "1")))
    assert crowded.inventory.promised == 5 + 2


@pytest.mark.parametrize(("came", "promised"), [(3, 2), (2, 0)])
def test_room_that_was_given_up_for_more_is_in_vain_if_most_pods_do_not_come(
    crowded: Promising, came: int, promised: int
) -> None:
    """A namespace that has new room kept all the time gives up its oldest before a minute has passed."""
    come(crowded, came)
    for pod in crowded.stand_ins("two"):
        crowded.pod(replace(pod, uid=f"late-{pod.uid}"))  # of the second all come
    crowded.clock.now += SECONDS
    assert crowded.allows(application_review("three", spec=ray_spec("three", 1, "1")))
    assert crowded.inventory.promised == promised


def test_pods_with_more_requests_come_in_the_place_of_what_was_given_up_for_more(crowded: Promising) -> None:
    come(crowded, 5, cpu=1100)
    crowded.clock.now += SECONDS
    assert crowded.allows(application_review("three", spec=ray_spec("three", 1, "1")))
    assert crowded.inventory.promised == 2


def test_what_has_more_pods_than_may_be_kept_is_promised_nothing() -> None:
    promising = Promising(cluster(nodes(MOST // 8, cpu=64_000)))
    assert promising.allows(application_review("one", spec=ray_spec("one", 1, "1")))
    assert promising.allows(application_review("two", spec=ray_spec("two", MOST, "1")))
    assert promising.inventory.promised == 2


def test_the_server_hears_for_how_long_room_is_kept(promising: Promising) -> None:
    found = promising.ask(ONE)
    assert isinstance(found, JudgedReview)
    assert found.keeping == 60.0
    promising.clock.now += 20
    found = promising.reply(promising.ask(TWO))
    assert found.keeping == 40.0


def test_a_pod_of_no_job_is_matched_as_well(promising: Promising) -> None:
    assert promising.allows(ONE)
    promising.pod(bound_pod("node-a", job="", uid="free"))
    assert promising.inventory.promised == 4
