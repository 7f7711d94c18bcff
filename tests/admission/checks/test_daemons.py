"""``/guard``: DaemonSets that tolerate everything, of users without the right to."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.answers import refused, response, warnings
from tests.builders import Json, cluster, node, nodes, pool, review
from tests.workload_templates import workload
from webhook.admission.answer import Answer, Outcome
from webhook.admission.validate import guard
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys

CLOSED = cluster(
    [node("node-a", taints=[Taint(keys.EXCLUSIVE, "default.closed", "NoSchedule")]), node("node-b")],
    pools=[pool("Closed", size=1, mode="Exclusive", assigned=["node-a"])],
)
EVERYTHING = {"operator": "Exists"}
OURS = {"key": keys.EXCLUSIVE, "operator": "Exists"}
ONE = {"key": "dedicated", "operator": "Exists"}


def said(at: int) -> str:
    return (
        f"spec.template.spec.tolerations[{at}]: a toleration of everything would let the pods onto exclusive hosts, "
        "which takes the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster: "
        "name the taints that are meant, or choose other nodes"
    )


def daemons(*tolerations: Json, **tweaks: Any) -> Json:
    return workload("DaemonSet", job=None, pe=None, tolerations=list(tolerations), **tweaks)


def guarded(
    found: object, inventory: Inventory = CLOSED, policy: Policy | None = None, *, old: object = None, **fields: Any
) -> Answer:
    operation = "CREATE" if old is None else "UPDATE"
    chosen = {"kind": "DaemonSet", "group": "apps", "operation": operation, "old": old, **fields}
    return guard(review(found, **chosen), inventory, policy or Policy())


def test_one_is_refused_while_hosts_are_exclusive() -> None:
    assert refused(guarded(daemons(ONE, EVERYTHING))) == (403, said(1))


STRICT = Policy(strict=True)
MASTER = {"node-role.kubernetes.io/control-plane": ""}


def test_with_strict_one_is_refused_before_any_host_is_exclusive() -> None:
    open_to_all = cluster([*nodes(2), node("master", labels=MASTER)])
    assert refused(guarded(daemons(ONE, EVERYTHING), open_to_all, STRICT)) == (403, said(1))
    assert response(guarded(daemons(EVERYTHING, nodeSelector=MASTER), open_to_all, STRICT))["allowed"]
    assert response(guarded(daemons(ONE), open_to_all, STRICT))["allowed"]
    again = guarded(daemons(EVERYTHING, priority=7), open_to_all, STRICT, old=daemons(EVERYTHING))
    assert response(again)["allowed"]


def test_each_toleration_of_everything_is_named() -> None:
    both = daemons(EVERYTHING, {**EVERYTHING, "effect": "NoSchedule"})
    assert refused(guarded(both)) == (403, f"{said(0)}\n{said(1)}")


def test_one_that_begins_to_is_refused() -> None:
    assert refused(guarded(daemons(ONE, EVERYTHING), old=daemons(ONE))) == (403, said(1))


ELSEWHERE = {"nodeSelector": {keys.HOSTNAME: "node-b"}}


def test_one_that_chose_other_nodes_is_refused_when_it_chooses_them_no_more() -> None:
    assert refused(guarded(daemons(EVERYTHING), old=daemons(EVERYTHING, **ELSEWHERE))) == (403, said(0))


ALLOWED: dict[str, Callable[[], Answer]] = {
    "nothing tolerated": partial(guarded, daemons()),
    "one thing tolerated": partial(guarded, daemons(ONE)),
    "the taint by its key, which a policy asks about": partial(guarded, daemons(OURS)),
    "nothing exclusive": partial(guarded, daemons(EVERYTHING), cluster(nodes(2))),
    "other nodes chosen": partial(guarded, daemons(EVERYTHING, **ELSEWHERE)),
    "other nodes chosen from now on": partial(guarded, daemons(EVERYTHING, **ELSEWHERE), old=daemons(EVERYTHING)),
    "another effect": partial(guarded, daemons({**EVERYTHING, "effect": "NoExecute"})),
    "tolerated before": partial(guarded, daemons(ONE, EVERYTHING), old=daemons(EVERYTHING)),
    "being deleted": partial(guarded, daemons(EVERYTHING, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})),
    "deleted": partial(guarded, daemons(EVERYTHING), operation="DELETE"),
    "its status": partial(guarded, daemons(EVERYTHING), subresource="status"),
    "another kind": partial(guarded, workload(tolerations=[EVERYTHING]), kind="Deployment"),
    "no template": partial(guarded, {"spec": {}}),
    "no spec": partial(guarded, {}),
}  # fmt: skip


@pytest.mark.parametrize("ask", ALLOWED.values(), ids=ALLOWED)
def test_one_is_let_through_with(ask: Callable[[], Answer]) -> None:
    assert response(ask())["allowed"]


def test_in_audit_mode_it_is_only_said() -> None:
    answer = guarded(daemons(EVERYTHING), policy=Policy(audit=True))
    assert response(answer)["allowed"]
    assert warnings(answer) == [f"audit: this would be refused: {said(0).partition(': ')[2]}"]


def test_one_that_cannot_be_read_is_refused() -> None:
    code, message = refused(guarded({"spec": {"template": 5}}))
    assert (code, message.startswith("the DaemonSet is not readable: ")) == (422, True), message


def test_what_is_not_a_review_is_not_answered() -> None:
    assert guard(b"{}", CLOSED, Policy()).outcome is Outcome.UNREADABLE
