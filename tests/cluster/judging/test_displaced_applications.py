"""Room of applications is kept elsewhere where pods come on other nodes than planned: by the worker, on its own."""

import itertools
from collections.abc import Coroutine, Sequence
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from tests.answers import warnings
from tests.builders import GIB, NAMESPACE, bound_pod, cluster, node, nodes, pool
from tests.cluster.judging.application_reviews import POLICY, application_review, ray_spec
from tests.cluster.judging.test_promises import Promising
from tests.work import kept, own_calls
from webhook.admission.answer import RightsQuestion
from webhook.admission.checks import applications
from webhook.cluster.judging import promised_applications
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.kept_room import SECONDS
from webhook.cluster.judging.messages import ApiReply, Asking, FromWorker
from webhook.cluster.objects.kinds import KINDS, NODES, PODS, POOLS
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import PodsToJudge
from webhook.placement.kube.selection.tolerations import CORDONED, Taint
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.node import Node
from webhook.placement.text import keys


def alone(name: str, cpu: str = "8") -> bytes:
    """An application of one pod, which fills a node unless it requests less."""
    return application_review(name, spec=ray_spec(name, 0, cpu))


def tolerant(name: str) -> bytes:
    """An application of one pod, which fills a node and tolerates the taint ``own=yes``."""
    spec = ray_spec(name, 0, "8")
    spec["headGroupSpec"]["template"]["spec"]["tolerations"] = [{"key": "own", "value": "yes"}]
    return application_review(name, spec=spec)


def pooled(name: str) -> bytes:
    """An application of one pod, which fills a node and runs on a host of the pool."""
    spec = ray_spec(name, 0, "8")
    spec["headGroupSpec"]["template"]["metadata"]["annotations"] = {keys.PLACEMENT: "host(MyPool)"}
    return application_review(name, spec=spec)


class Displaced(Promising):
    """A worker, with what became of the room of each application."""

    def ask(self, body: bytes, number: int = 1) -> FromWorker | None:
        """What the worker says once it knows that the user may use the pools."""
        said = super().ask(body, number)
        rights = isinstance(said, Asking) and isinstance(said.question, RightsQuestion)
        return self.judge.take(ApiReply(number, [])) if rights else said

    def node_of(self, job: str) -> str:
        (pod,) = self.stand_ins(job)
        return pod.node

    def come(self, job: str, node: str) -> None:
        """A pod of the application gets that node."""
        (pod,) = self.stand_ins(job)
        self.pod(replace(pod, uid=f"real-{job}", node=node))

    def node(self, changed: Node) -> None:
        """The watch brings a node."""
        self.judge.take(InventoryChange(KINDS.index(NODES), changed))

    def pool(self, *hosts: str, mode: Literal["Shared", "Exclusive"] = "Shared") -> None:
        """The watch brings the pool with these hosts."""
        changed = pool(assigned=hosts, size=max(len(hosts), 1), mode=mode)
        self.judge.take(InventoryChange(KINDS.index(POOLS), changed))

    def gone(self, uid: str) -> None:
        self.judge.take(InventoryChange(KINDS.index(PODS), uid, gone=True))


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pods that nodes were looked for anew, by search."""
    judge, found = applications.judge_at_once, list[int]()

    def counting(pods: Sequence[PodsToJudge], *others: Any) -> Coroutine[Any, Any, JobVerdict]:
        found.append(sum(one.component.count for one in pods))
        return judge(pods, *others)

    monkeypatch.setattr(applications, "judge_at_once", counting)
    return found


def test_a_node_that_was_kept_for_a_pod_which_came_elsewhere_is_not_promised_twice(searches: list[int]) -> None:
    displaced = Displaced()
    assert displaced.allows(alone("one"))
    assert displaced.allows(alone("two"))
    first, second = displaced.node_of("one"), displaced.node_of("two")
    assert searches == []
    displaced.come("one", second)
    assert not displaced.allows(alone("three"))
    assert (displaced.node_of("one"), displaced.node_of("two"), searches) == (second, first, [1])
    assert displaced.inventory.promised == 1
    assert not displaced.allows(alone("four"))
    assert searches == [1]


def test_room_that_is_moved_is_kept_for_no_longer_and_what_came_before_counts() -> None:
    displaced = Displaced(cluster(nodes(3)))
    displaced.allows(application_review("one", spec=ray_spec("one", 3, "2")))
    for number, pod in enumerate(displaced.stand_ins()[:3]):
        displaced.pod(replace(pod, uid=f"real-{number}"))
    (left,) = [pod for pod in displaced.stand_ins() if not pod.uid.startswith("real")]
    displaced.clock.now += SECONDS - 1
    displaced.pod(bound_pod(left.node, job="", uid="other", requests={"cpu": 8000}))
    assert not displaced.allows(application_review("two", spec=ray_spec("two", 2, "8")))
    (moved,) = [pod for pod in displaced.stand_ins() if not pod.uid.startswith("real")]
    assert moved.node != left.node
    displaced.clock.now += 1
    assert displaced.allows(application_review("two", spec=ray_spec("two", 0, "1")))
    assert len(displaced.stand_ins("two")) == displaced.inventory.promised == 1  # most pods of the namespace have come


@pytest.mark.parametrize("promised", [True, False])
def test_room_on_a_node_that_is_gone_is_kept_on_another_one(searches: list[int], *, promised: bool) -> None:
    displaced = Displaced()
    assert not promised or displaced.allows(alone("one"))
    gone = displaced.node_of("one") if promised else "node-0"
    displaced.judge.take(InventoryChange(KINDS.index(NODES), gone, gone=True))
    assert displaced.allows(alone("two")) is not promised
    assert searches == [1] * promised
    assert not promised or displaced.node_of("one") != gone


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_room_on_a_node_that_gets_a_taint_is_kept_on_another_one(searches: list[int], effect: str) -> None:
    displaced = Displaced()
    assert displaced.allows(alone("one"))
    first = displaced.node_of("one")
    displaced.node(node(first, taints=[Taint(CORDONED, effect=effect)]))
    assert not displaced.allows(alone("two"))
    assert (displaced.node_of("one") != first, searches) == (True, [1])


def test_a_taint_that_pods_tolerate_disturbs_only_others(searches: list[int]) -> None:
    displaced = Displaced(cluster(nodes(3)))
    assert displaced.allows(tolerant("one"))
    assert displaced.allows(alone("two"))
    first, second = displaced.node_of("one"), displaced.node_of("two")
    for name in (first, second):
        displaced.node(node(name, taints=[Taint("own", "yes", "NoSchedule"), Taint("soft", "", "PreferNoSchedule")]))
    assert not displaced.allows(alone("three"))
    assert (displaced.node_of("one"), searches) == (first, [1])
    assert displaced.node_of("two") not in {first, second}


def test_a_node_that_changes_but_gets_no_taint_disturbs_nothing(searches: list[int]) -> None:
    """It was tainted before, has a taint that keeps no pods away, has lost one, or is new; or there is no promise."""
    hard, soft = Taint(CORDONED, effect="NoSchedule"), Taint("soft", effect="PreferNoSchedule")
    displaced = Displaced(cluster(nodes(2)))
    displaced.node(node("node-a", taints=[hard]))
    assert displaced.allows(alone("one", "2"))
    displaced.node(node("node-b", taints=[soft], labels={"new": "label"}))
    for taints in ([hard, soft], [hard], []):
        displaced.node(node("node-a", taints=taints, labels={"count": str(len(taints))}))
    displaced.node(node("node-c", taints=[hard]))
    assert displaced.allows(alone("two", "2"))
    assert searches == []


def test_a_taint_that_is_gone_again_or_goes_with_its_node_is_not_searched_for(searches: list[int]) -> None:
    displaced = Displaced(cluster(nodes(3)))
    assert displaced.allows(alone("one"))
    first = displaced.node_of("one")
    cordoned = node(first, taints=[Taint(CORDONED, effect="NoSchedule")])
    displaced.node(cordoned)
    displaced.node(node(first))
    assert displaced.allows(alone("two"))
    assert (displaced.node_of("one"), searches) == (first, [])
    displaced.node(cordoned)
    displaced.judge.take(InventoryChange(KINDS.index(NODES), first, gone=True))
    assert not displaced.allows(alone("three"))
    assert (displaced.node_of("one") != first, searches) == (True, [1])


def test_changes_of_tainted_nodes_cost_the_same_however_much_is_promised() -> None:
    taints = [Taint("own", "yes", "NoSchedule")]
    displaced = Displaced(cluster(nodes(20, taints=taints, labels={"last": "change"})))

    def cost(change: str) -> int:
        changed = nodes(20, taints=taints, labels={"last": change})

        def come() -> None:
            for one in changed:
                displaced.node(one)

        return own_calls(come)

    without = cost("first")
    for at in range(20):
        assert displaced.allows(tolerant(f"job-{at}"))
    assert cost("second") == without


def test_a_pod_that_leaves_room_disturbs_nothing(searches: list[int]) -> None:
    displaced = Displaced(cluster(nodes(1)))
    displaced.allows(alone("one", "2"))
    displaced.pod(bound_pod(job="", uid="other", requests={"cpu": 1000}))
    assert displaced.allows(alone("two", "2"))
    assert searches == []


def test_where_there_is_no_room_beside_others_all_are_placed_anew(searches: list[int]) -> None:
    displaced = Displaced()
    displaced.allows(alone("small", "4"))
    displaced.allows(alone("large"))
    first, second = displaced.node_of("small"), displaced.node_of("large")
    assert first != second
    displaced.pod(bound_pod(second, job="", uid="other", requests={"cpu": 4000}))
    assert not displaced.allows(alone("three", "1"))
    assert (displaced.node_of("small"), displaced.node_of("large")) == (second, first)
    assert searches == [1, 1, 1]


def test_what_is_found_nowhere_gets_what_comes_free_before_others(searches: list[int]) -> None:
    displaced = Displaced()
    displaced.pod(bound_pod("node-a", job="", uid="first", requests={"cpu": 8000}))
    displaced.allows(alone("one"))
    assert displaced.node_of("one") == "node-b"
    displaced.pod(bound_pod("node-b", job="", uid="second", requests={"cpu": 8000}))
    for name in ("two", "three"):
        assert not displaced.allows(alone(name))
    assert (displaced.node_of("one"), searches) == ("node-b", [1, 1])  # by itself, and with all others: there are none
    displaced.gone("first")
    assert not displaced.allows(alone("four"))
    assert (displaced.node_of("one"), searches) == ("node-a", [1, 1, 1])


def test_no_more_is_looked_for_before_a_review_than_it_can_wait_for(
    searches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next review goes on with the others, and who found nothing comes last when there is more room."""
    monkeypatch.setattr(promised_applications, "TOGETHER", 2)
    displaced = Displaced(cluster(nodes(4)))
    names = "one", "two", "three"
    assert all(displaced.allows(alone(name)) for name in names)
    before = [displaced.node_of(name) for name in names]
    for place in ("node-a", "node-b", "node-c", "node-d"):
        displaced.pod(bound_pod(place, job="", uid=f"on-{place}", requests={"cpu": 8000}))
    looks = [3, 5, 5]  # two by themselves and both together, the third one twice, none
    for name, many in zip(("four", "five", "six"), looks, strict=True):
        assert not displaced.allows(alone(name))
        assert (len(searches), [displaced.node_of(one) for one in names]) == (many, before)
    for place, name in (("node-d", "one"), (before[0], "three")):
        displaced.gone(f"on-{place}")
        assert not displaced.allows(alone("more"))
        assert displaced.node_of(name) == place
    assert displaced.node_of("two") == before[1]


@pytest.mark.parametrize("comes", ["node-b", "node-c"])
def test_what_is_found_nowhere_gets_a_node_that_comes_or_is_uncordoned(searches: list[int], comes: str) -> None:
    cordoned = [Taint(CORDONED, effect="NoSchedule")]
    displaced = Displaced(cluster([node("node-a"), node("node-b", taints=cordoned)]))
    assert displaced.allows(alone("one"))
    displaced.node(node("node-a", taints=cordoned))
    assert not displaced.allows(alone("two"))
    assert displaced.node_of("one") == "node-a"
    displaced.node(node("node-b", taints=cordoned))  # as it was
    assert not displaced.allows(alone("three"))
    assert searches == [1, 1]  # by itself, and with all others: there are none
    displaced.node(node(comes))
    assert not displaced.allows(alone("four"))
    assert (displaced.node_of("one"), searches) == (comes, [1, 1, 1])


def test_what_is_found_nowhere_gets_a_new_host_of_its_pool(searches: list[int]) -> None:
    displaced = Displaced()
    displaced.pool("node-a")
    assert displaced.allows(pooled("one"))
    displaced.node(node("node-a", taints=[Taint(CORDONED, effect="NoSchedule")]))
    displaced.pool("node-a")  # as it was
    assert displaced.allows(pooled("two")) is False
    assert (displaced.node_of("one"), searches) == ("node-a", [1, 1])
    displaced.pool("node-a", "node-b")
    assert not displaced.allows(alone("three"))
    assert (displaced.node_of("one"), searches) == ("node-b", [1, 1, 1])


def test_room_on_a_node_that_its_pool_leaves_is_kept_on_another_host(searches: list[int]) -> None:
    displaced = Displaced(cluster(nodes(3)))
    displaced.pool("node-a")
    assert displaced.allows(pooled("one"))
    displaced.pool("node-b", "node-c")
    assert not displaced.allows(application_review("two", spec=ray_spec("two", 2, "8")))
    assert (displaced.node_of("one") in {"node-b", "node-c"}, searches) == (True, [1])


def test_room_on_a_node_that_a_pool_keeps_others_from_is_kept_on_another_one(searches: list[int]) -> None:
    displaced = Displaced()
    displaced.pool("node-a", "node-b")
    assert displaced.allows(alone("one"))
    first = displaced.node_of("one")
    displaced.pool(first, mode="Exclusive")
    assert not displaced.allows(alone("two"))
    assert (displaced.node_of("one") != first, searches) == (True, [1])


def test_what_a_pool_that_is_gone_kept_others_from_is_for_what_was_found_nowhere(searches: list[int]) -> None:
    displaced = Displaced()
    assert displaced.allows(alone("one"))
    first = displaced.node_of("one")
    second = {"node-a": "node-b", "node-b": "node-a"}[first]
    displaced.pool(second, mode="Exclusive")
    displaced.node(node(first, taints=[Taint(CORDONED, effect="NoSchedule")]))
    assert not displaced.allows(alone("two"))
    assert (displaced.node_of("one"), searches) == (first, [1, 1])
    displaced.judge.take(InventoryChange(KINDS.index(POOLS), f"{NAMESPACE}/mypool", gone=True))
    assert not displaced.allows(alone("three"))
    assert (displaced.node_of("one"), searches) == (second, [1, 1, 1])


def test_a_list_of_pools_disturbs_none(searches: list[int]) -> None:
    displaced = Displaced()
    displaced.pool("node-a")
    assert displaced.allows(pooled("one"))
    displaced.judge.take(InventoryChange(KINDS.index(POOLS), value=True, listed=True))
    assert not displaced.allows(pooled("two"))
    assert searches == []


def test_what_was_given_up_leaves_room_as_well() -> None:
    displaced = Displaced()
    displaced.allows(alone("old"))
    displaced.clock.now += SECONDS / 2
    displaced.allows(alone("one"))
    first, second = displaced.node_of("old"), displaced.node_of("one")
    displaced.pod(bound_pod(second, job="", uid="other", requests={"cpu": 8000}))
    assert not displaced.allows(alone("two", "1"))
    assert displaced.node_of("one") == second
    displaced.clock.now += SECONDS / 2
    assert not displaced.allows(alone("three"))
    assert (displaced.node_of("one"), displaced.stand_ins("old")) == (first, [])


def test_pods_that_only_new_nodes_can_run_give_up_their_room() -> None:
    inventory = cluster(nodes(2))
    inventory.node_groups.put(NodeGroup("NodePool", "p", offers={"cpu": 8000, "memory": 32 * GIB}, count=2))
    displaced = Displaced(inventory, replace(POLICY, scale_up="auto"))
    displaced.allows(application_review("one", spec=ray_spec("one", 1, "8")))
    displaced.pod(bound_pod("node-b", job="", uid="other", requests={"cpu": 8000}))
    made = "no room yet for 1 of 1 pod (head): node groups can make 1 node of NodePool p"
    assert warnings(displaced.certain(alone("two")).answer)[0] == made
    assert displaced.node_of("one") == "node-a"


def test_a_pod_that_the_inventory_did_not_take_disturbs_nothing(
    searches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a mistake in the program, which the server has said."""

    def broken(*_: object) -> None:
        raise ValueError("unforeseen")

    displaced = Displaced()
    displaced.allows(alone("one"))
    with monkeypatch.context() as changed:
        changed.setattr(ChangeLog, "apply", broken)
        displaced.come("one", "nowhere")
    assert displaced.allows(alone("two"))
    assert (displaced.inventory.promised, searches) == (2, [])


def _large(name: str) -> bytes:
    """An application of one pod, whose object and whose template take a megabyte each."""
    spec = ray_spec(name, 0, "1")
    spec["headGroupSpec"]["template"]["spec"]["containers"][0]["args"] = [f"{name}{at:0100}" for at in range(10_000)]
    return application_review(name, spec={**spec, "unread": name + "x" * 1_000_000})


def test_of_an_application_only_what_is_judged_later_is_kept() -> None:
    """Neither its object, nor what was found out about all nodes: a thousand applications would take gigabytes."""
    displaced = Displaced(cluster(nodes(1000)))
    assert displaced.allows(_large("first"))  # what is kept once
    numbers = itertools.count()

    def another() -> None:
        assert displaced.allows(_large(f"next-{next(numbers)}"))

    # A table of the interpreter may grow meanwhile, for one of them.
    assert min(kept(another) for _ in range(4)) < 30_000
    assert displaced.inventory.promised == 5
