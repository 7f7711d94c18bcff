"""Pods that controllers of Kubernetes make of workloads: they wait where others are refused."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.answers import patched, refused, response, steps, warnings
from tests.builders import GIB, OUTRIGHT, Json, bound_pod, cluster, node, nodes, pod, pool, review
from webhook.admission.answer import Answer, Outcome
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pool import Phase
from webhook.placement.request.memo import Memo
from webhook.placement.text import keys

REPLICASET = {"username": "system:serviceaccount:kube-system:replicaset-controller"}
MANAGER = {"username": "system:kube-controller-manager"}
CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
UNREADY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
HOSTS = nodes(2, labels={keys.TAG: "ib"}, taints=[CORDONED])
CLUSTER = cluster(HOSTS, [pool(tags=["ib"])])
NO_NODE = (
    "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
    "  2 nodes are cordoned\n"
    "Nearest fix: uncordon one node."
)


def asked(found: Json, user: object = REPLICASET, inventory: Inventory = CLUSTER, **known: Any) -> Answer:
    """What is said of a new pod."""
    policy = known.pop("policy", Policy())
    return mutate(review(found, userInfo=user), inventory, policy, Known(**known))


def replica(placement: str | None = "host(MyPool)", *, owner: str | None = "ReplicaSet", **tweaks: Any) -> Json:
    return pod(placement, owner=owner, **tweaks)


class TestAPodOfAController:
    @pytest.mark.parametrize(
        ("owner", "user"),
        [
            *(
                (kind, {"username": f"system:serviceaccount:kube-system:{name}"})
                for kind, name in {
                    "ReplicaSet": "replicaset-controller",
                    "StatefulSet": "statefulset-controller",
                    "DaemonSet": "daemon-set-controller",
                    "Job": "job-controller",
                    "ReplicationController": "replication-controller",
                }.items()
            ),
            ("ReplicaSet", MANAGER),
        ],
    )
    def test_waits_with_what_its_clauses_need(self, owner: str, user: Json) -> None:
        answer = asked(replica(owner=owner), user)
        assert (answer.outcome, answer.waits) == (Outcome.PATCHED, "controlled")
        assert warnings(answer) == ["no node yet: No node is open to this pod: 0 of 2 nodes can run this pod."]
        assert response(answer)["auditAnnotations"] == {"verdict": "waits", "rule": "", "candidates": "0"}
        made = patched(replica(owner=owner), answer)
        assert made["metadata"]["annotations"][keys.WAITS] == f"no node yet: {NO_NODE}"
        open_again = cluster(nodes(2, labels={keys.TAG: "ib"}), [pool(tags=["ib"])])
        ready = patched(replica(owner=owner), asked(replica(owner=owner), user, open_again))
        assert made["spec"] == ready["spec"]

    def test_is_not_bound_to_the_node_that_it_names(self) -> None:
        there, gone = cluster(nodes(1)), cluster(nodes(1, taints=[CORDONED]))
        named = replica('host("node-a")', annotations=OUTRIGHT, job=None, pe=None)
        assert patched(named, asked(named, inventory=there))["spec"]["nodeName"] == "node-a"
        assert "nodeName" not in patched(named, asked(named, inventory=gone))["spec"]

    def test_waits_for_a_host_that_is_not_there(self) -> None:
        found = replica('host("node-z")')
        made = patched(found, asked(found))
        terms = made["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert terms["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["node-z"]

    def test_waits_for_the_hosts_of_a_pool_that_has_failed(self) -> None:
        failed = pool(size=3, phase=Phase.FAILED, reason="it needs 3 hosts and 0 nodes are eligible")
        inventory = cluster(HOSTS, [failed])
        answer = asked(replica(), inventory=inventory)
        assert answer.waits == "controlled"
        assert warnings(answer) == ["no node yet: No node is open to this pod: 0 of 2 nodes can run this pod."]
        affinity = patched(replica(), answer)["spec"]["affinity"]["nodeAffinity"]
        terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert terms == [
            {"matchExpressions": [{"key": keys.membership("default", "mypool"), "operator": "Exists"}]},
        ]
        assert refused(asked(replica(), {"username": "alice"}, inventory))[0] == 403

    def test_waits_for_an_exclusive_pool_that_has_failed_though_it_tolerates_its_taint_by_now(self) -> None:
        inventory = cluster(HOSTS, [pool(size=3, mode="Exclusive", phase=Phase.FAILED)])
        made = patched(replica(), asked(replica(), inventory=inventory))
        assert made["spec"]["tolerations"][0]["key"] == keys.EXCLUSIVE
        again = asked(made, inventory=inventory)
        assert (again.waits, steps(again)) == ("controlled", [])

    def test_waits_in_the_same_words_when_it_is_reviewed_again(self) -> None:
        """Its own node affinity is now a reason, which it was not before the patch."""
        inventory = cluster(nodes(2), [pool(tags=["ib"])])
        made = patched(replica(), asked(replica(), inventory=inventory))
        assert steps(asked(made, inventory=inventory)) == []

    @pytest.mark.parametrize(
        ("forged", "elsewhere"),
        [
            pytest.param("no node now: it waits", {}, id="of another kind"),
            pytest.param("anything", {}, id="in words that are not ours"),
            pytest.param("no node yet: it waits", {keys.INJECTED: "{}"}, id="in a pod that is not as it is left"),
        ],
    )
    def test_does_not_say_in_the_words_of_others_what_it_waits_for(self, forged: str, elsewhere: Json) -> None:
        made = patched(replica(), asked(replica()))
        known = made["metadata"]["annotations"][keys.WAITS]
        made["metadata"]["annotations"] |= {keys.WAITS: forged, **elsewhere}
        assert patched(made, asked(made))["metadata"]["annotations"][keys.WAITS] == known

    def test_is_sealed_before_its_words_are_kept(self) -> None:
        made = patched(replica(), asked(replica()))
        del made["metadata"]["labels"][keys.SEAL]
        made["metadata"]["annotations"][keys.WAITS] = "no node yet: it waits"
        assert [step["op"] for step in steps(asked(made))] == ["replace", "add"]

    def test_is_admitted_if_a_pool_that_has_failed_is_about_to_get_its_hosts(self) -> None:
        inventory = cluster(nodes(3), [pool(size=3, phase=Phase.FAILED)])
        answer = asked(replica(), inventory=inventory)
        assert (answer.outcome, answer.waits) == (Outcome.PATCHED, "")

    def test_is_refused_by_a_setting(self) -> None:
        assert refused(asked(replica(), policy=Policy(unsatisfiable_pods="refuse")))[1] == NO_NODE

    def test_in_audit_mode_would_be_given_something(self) -> None:
        answer = asked(replica(), policy=Policy(audit=True))
        assert warnings(answer)[0] == "audit: this pod would get: affinity, annotations, labels"
        assert steps(answer) == []

    def test_in_audit_mode_would_be_refused_by_that_setting(self) -> None:
        answer = asked(replica(), policy=Policy(audit=True, unsatisfiable_pods="refuse"))
        assert warnings(answer)[0].startswith("audit: this pod would be refused: ")


OTHERS = {
    "a bare pod of a person": (replica(owner=None), {"username": "alice"}),
    "a bare pod of a controller's account": (replica(owner=None), REPLICASET),
    "a pod with a forged owner": (replica(), {"username": "system:serviceaccount:team-a:replicaset-controller"}),
    "a pod of an account that only looks like one": (replica(), {"username": "system:serviceaccount:kube-system:argo"}),
    "a pod of an operator's own kind": (replica(owner="ProcessingElement"), REPLICASET),
    "a pod that says nobody made it": (replica(), {}),
    "a pod whose user is not readable": (replica(), "alice"),
}


@pytest.mark.parametrize(("found", "user"), OTHERS.values(), ids=OTHERS)
def test_is_refused(found: Json, user: object) -> None:
    assert refused(asked(found, user)) == (403, NO_NODE)


def test_an_owner_that_is_not_a_controller_does_not_count() -> None:
    found = replica()
    found["metadata"]["ownerReferences"][0]["controller"] = False
    assert refused(asked(found))[0] == 403


BEYOND = {
    "a pool that there is not, whose label nobody knows": (
        replica("host(Unknown)"),
        CLUSTER,
        403,
        'this namespace has no HostPool "Unknown"',
    ),
    "a pool that is being deleted": (
        replica(),
        cluster(HOSTS, [pool(tags=["ib"], phase=Phase.RELEASING)]),
        403,
        "HostPool MyPool is being deleted",
    ),
    "an index that the pool does not have": (
        replica("host(MyPool[7])"),
        cluster(HOSTS, [pool(size=2)]),
        403,
        "HostPool MyPool has 2 hosts, index 0 to 1",
    ),
    "an address that no node has": (
        replica('host("10.0.0.9")'),
        CLUSTER,
        403,
        "2 nodes do not have the address 10.0.0.9",
    ),
    "a node of its own": (
        replica(None, nodeName="node-a"),
        CLUSTER,
        403,
        "1 node is not the pod's own spec.nodeName node-a",
    ),
    "two hosts at a time": (replica('a: host("node-a"); b: host("node-b")'), CLUSTER, 422, "cannot both hold"),
    "a text that is none": (replica("host("), CLUSTER, 422, "expected a string or a host pool name"),
    "a toleration that would open hosts that become exclusive": (
        replica(None, tolerations=[{"operator": "Exists"}], nodeSelector={"disk": "ssd"}),
        CLUSTER,
        403,
        "nodeSelector disk=ssd cannot hold",
    ),
    "a toleration that opens hosts of others": (
        replica('hostExlocation("t")', tolerations=[{"operator": "Exists", "effect": "NoSchedule"}]),
        cluster([node("node-a")], [pool("Other", size=1, mode="Exclusive", assigned=["node-a"], namespace="secret")]),
        403,
        "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool",
    ),
    "a toleration of the taint of pools": (
        replica(None, tolerations=[{"key": keys.EXCLUSIVE, "operator": "Exists"}]),
        CLUSTER,
        422,
        "only the webhook tolerates",
    ),
    "a label that only the webhook writes": (
        replica(labels={keys.WORKER: "true"}),
        CLUSTER,
        422,
        "only the webhook writes this label",
    ),
}


@pytest.mark.parametrize(("found", "inventory", "code", "message"), BEYOND.values(), ids=BEYOND)
def test_a_replica_is_refused_for(found: Json, inventory: Inventory, code: int, message: str) -> None:
    answer = asked(found, inventory=inventory)
    assert refused(answer)[0] == code
    assert message in refused(answer)[1]
    assert refused(asked(found, {"username": "alice"}, inventory)) == refused(answer)


class TestWhatIsKept:
    def test_is_another_ruling_for_whoever_may_wait(self) -> None:
        memo = Memo[Ruling]()
        for _ in range(2):
            assert asked(replica(), memo=memo).waits == "controlled"
            assert refused(asked(replica(), {"username": "alice"}, memo=memo)) == (403, NO_NODE)
            assert len(memo) == 2

    def test_holds_only_as_long_as_the_nodes_do(self) -> None:
        memo, inventory = Memo[Ruling](), cluster(HOSTS, [pool(tags=["ib"])])
        assert asked(replica(), inventory=inventory, memo=memo).waits == "controlled"
        inventory.set_node(replace(HOSTS[0], taints=(UNREADY,)))
        assert asked(replica(), inventory=inventory, memo=memo).waits == "condition"
        inventory.set_node(replace(HOSTS[0], taints=()))
        assert asked(replica(), inventory=inventory, memo=memo).waits == ""


class TestTheAnnotation:
    def test_is_replaced_if_the_pod_waits_for_something_else(self) -> None:
        found = replica(annotations={keys.WAITS: "a tenant's own words"})
        assert patched(found, asked(found))["metadata"]["annotations"][keys.WAITS] == f"no node yet: {NO_NODE}"

    def test_goes_if_the_pod_does_not_wait(self) -> None:
        found = replica(annotations={keys.WAITS: "a tenant's own words"})
        made = patched(found, asked(found, inventory=cluster(nodes(1, labels={keys.TAG: "ib"}), [pool(tags=["ib"])])))
        assert keys.WAITS not in made["metadata"]["annotations"]

    def test_is_written_on_a_pod_without_any(self) -> None:
        found = pod(labels={"a": "b"}, owner="ReplicaSet")
        assert keys.WAITS in patched(found, asked(found))["metadata"]["annotations"]


class TestTheFinalPod:
    """What ``/mutate`` let in is let in by ``/validate``, and is looked at all the same."""

    FAILED = cluster(HOSTS, [pool(size=3, phase=Phase.FAILED)])

    @pytest.mark.parametrize(
        ("found", "inventory"),
        [
            (replica(), CLUSTER),
            (replica(), FAILED),
            (replica('host("node-z")'), CLUSTER),
            (replica('host("node-a")', annotations=OUTRIGHT, job=None, pe=None), CLUSTER),
        ],
        ids=["no node", "a pool that has failed", "no such host", "a host to be bound to"],
    )
    def test_is_admitted_as_it_was_patched(self, found: Json, inventory: Inventory) -> None:
        made = patched(found, asked(found, inventory=inventory))
        assert response(validate(review(made, userInfo=REPLICASET), inventory, Policy()))["allowed"]

    @pytest.mark.parametrize("inventory", [CLUSTER, FAILED], ids=["no node", "a pool that has failed"])
    def test_that_another_webhook_undid_is_refused(self, inventory: Inventory) -> None:
        made = patched(replica(), asked(replica(), inventory=inventory))
        del made["spec"]["affinity"]
        assert refused(validate(review(made, userInfo=REPLICASET), inventory, Policy())) == (
            403,
            "spec: lacks nodeAffinity that its clauses require: something removed what the placement webhook had added",
        )

    def test_of_another_owner_is_refused_for_a_pool_that_has_failed(self) -> None:
        made = patched(replica(), asked(replica(), inventory=self.FAILED))
        assert refused(validate(review(made), self.FAILED, Policy()))[0] == 403
        strict = Policy(unsatisfiable_pods="refuse")
        assert refused(validate(review(made, userInfo=REPLICASET), self.FAILED, strict))[0] == 403


def test_a_group_that_waits_for_its_pool_is_counted_when_its_hosts_come() -> None:
    inventory = cluster(nodes(3, cpu=1000, memory=GIB), [pool(size=3, phase=Phase.FAILED)], [bound_pod("node-c")])
    found = replica('host(MyPool), hostColocation("t")')
    answer = asked(found, inventory=inventory, count=lambda _: 2)
    assert answer.outcome is Outcome.PATCHED


class TestAPodForWhichANodeGroupCanMakeANode:
    """It waits, whoever creates it."""

    POLICY = Policy(scale_up="auto")

    @staticmethod
    def scaled(*groups: NodeGroup) -> Inventory:
        """A cluster whose nodes are cordoned, and these groups."""
        inventory = cluster(HOSTS, [pool(tags=["ib"])])
        for group in groups:
            inventory.node_groups.put(group)
        return inventory

    def test_is_patched_and_counted(self) -> None:
        tagged = NodeGroup("NodePool", "ib", labels={keys.TAG: LabelValues.one_of("ib")})
        found = asked(pod("host(MyPool)"), {"username": "alice"}, self.scaled(tagged), policy=self.POLICY)
        assert found.outcome is Outcome.PATCHED
        assert found.waits == "scale-up"
        waits = f"no node yet: NodePool ib can make one\n{NO_NODE}"
        assert patched(pod("host(MyPool)"), found)["metadata"]["annotations"][keys.WAITS] == waits
        assert warnings(found) == ["no node yet: NodePool ib can make one"]

    def test_is_answered_again_once_the_group_is_gone(self) -> None:
        tagged = NodeGroup("NodePool", "ib", labels={keys.TAG: LabelValues.one_of("ib")})
        inventory, memo = self.scaled(tagged), Memo[Ruling]()

        def outcome() -> Outcome:
            user = {"username": "alice"}
            return asked(pod("host(MyPool)"), user, inventory, policy=self.POLICY, memo=memo).outcome

        assert [outcome(), outcome()] == [Outcome.PATCHED] * 2
        inventory.node_groups.drop("NodePool", "", "ib")
        assert outcome() is Outcome.DENIED

    def test_of_a_controller_waits_for_whatever_comes(self) -> None:
        other = NodeGroup("NodePool", "other")
        found = asked(replica(), REPLICASET, self.scaled(other), policy=self.POLICY)
        assert found.waits == "controlled"

    def test_in_audit_mode_is_told(self) -> None:
        policy = replace(self.POLICY, audit=True)
        tagged = NodeGroup("NodePool", "ib", labels={keys.TAG: LabelValues.one_of("ib")})
        found = asked(pod("host(MyPool)"), {"username": "alice"}, self.scaled(tagged), policy=policy)
        assert "no node yet: NodePool ib can make one" in warnings(found)
