"""``/validate`` of changes to pods that exist: what the webhook read and wrote must stay."""

import copy

import pytest

from tests.answers import patched, refused, response
from tests.builders import GATES, UID, Json, cluster, node, nodes, pod, review
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.checks.unbound_pods import LOOSE, NARROWED
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys

POLICY = Policy()

TWO = cluster(nodes(2))


def finished(found: Json, inventory: Inventory = TWO) -> Json:
    """The pod after ``/mutate``."""
    return patched(found, mutate(review(found), inventory, POLICY))


BEFORE = finished(pod('hostExlocation("t")', annotations={keys.PREFIX + "contentId": "1", "example.com/a": "b"}))

FIXED = "cannot be changed after the pod is created, which fixes its placement; create a new pod"

TOLERATION = "a toleration of streams.ibm.com/exclusive cannot be added to a pod: name the HostPool when you create it"


def changed(field: str, key: str, value: str | None) -> Json:
    """The pod with one label or annotation set, or removed."""
    after = copy.deepcopy(BEFORE)
    if value is None:
        del after["metadata"][field][key]
    else:
        after["metadata"][field][key] = value
    return after


@pytest.mark.parametrize("subresource", [None, "status"])
@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        pytest.param("annotations", keys.PLACEMENT, 'host("node-a")', id="placement changed"),
        pytest.param("annotations", keys.PLACEMENT, None, id="placement removed"),
        pytest.param("annotations", keys.PREFERRED, "host", id="preferred added late"),
        pytest.param("annotations", keys.INJECTED, "{}", id="marker changed"),
        pytest.param("annotations", keys.PREFIX + "anything", "x", id="unknown annotation added"),
        pytest.param("labels", keys.JOB, "other", id="job changed"),
        pytest.param("labels", keys.PE, None, id="element removed"),
        pytest.param("labels", keys.COLOCATION + "X", "x", id="token added"),
        pytest.param("labels", keys.EXLOCATION + keys.digest("t"), None, id="token removed"),
        pytest.param("labels", keys.ISOLATION + "X", "x", id="isolation added"),
    ],
)
def test_what_the_webhook_read_and_wrote_stays(
    subresource: str | None, field: str, key: str, value: str | None
) -> None:
    answer = validate(review(changed(field, key, value), "UPDATE", old=BEFORE, subresource=subresource), TWO, POLICY)
    assert refused(answer) == (403, f"metadata.{field}[{key}]: {FIXED}")


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        pytest.param("annotations", keys.PREFIX + "contentId", "2", id="annotation of the Streams operator"),
        pytest.param("annotations", "example.com/a", "c", id="annotation of others"),
        pytest.param("annotations", "example.com/a", None, id="annotation of others removed"),
        pytest.param("labels", "app", "x", id="label of others"),
    ],
)
def test_everything_else_may_change(field: str, key: str, value: str | None) -> None:
    answer = validate(review(changed(field, key, value), "UPDATE", old=BEFORE), TWO, POLICY)
    assert response(answer) == {"uid": UID, "allowed": True}


def test_all_changes_are_named_sorted() -> None:
    after = copy.deepcopy(BEFORE)
    after["metadata"]["annotations"] |= {keys.PREFERRED: "host", keys.HOST_BINDING: "auto"}
    after["metadata"]["labels"][keys.JOB] = "other"
    fields = ("annotations[streams.ibm.com/host-binding]", "annotations[streams.ibm.com/preferred]")
    assert refused(validate(review(after, "UPDATE", old=BEFORE), TWO, POLICY))[1] == "\n".join(
        f"metadata.{field}: {FIXED}" for field in (*fields, "labels[streams.ibm.com/job]")
    )


@pytest.mark.parametrize(
    "old", [{"metadata": None}, {"metadata": {}}, {}], ids=["null metadata", "empty metadata", "no metadata"]
)
def test_an_opt_in_that_comes_late_is_refused(old: Json) -> None:
    assert refused(validate(review(pod(job=None), "UPDATE", old=old), TWO, POLICY))[1] == (
        f"metadata.labels[streams.ibm.com/pe]: {FIXED}"
    )


OURS = {"key": keys.EXCLUSIVE, "operator": "Equal", "value": "default.closed", "effect": "NoSchedule"}

THEIRS = {"key": "x", "operator": "Exists"}


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        pytest.param(None, [THEIRS], True, id="a toleration of others"),
        pytest.param([THEIRS], [THEIRS, OURS], False, id="ours is added"),
        pytest.param(None, [OURS], False, id="ours is the first"),
        pytest.param([OURS], [OURS], True, id="ours stays"),
        pytest.param([OURS], [OURS, THEIRS], True, id="ours stays beside another"),
        pytest.param([OURS], [{**OURS, "value": "default.other"}], False, id="ours becomes another pool's"),
        pytest.param([OURS], [{"key": keys.EXCLUSIVE, "operator": "Exists"}], False, id="ours becomes every pool's"),
        pytest.param([OURS], None, True, id="ours goes"),
    ],
)
def test_our_toleration_is_never_added_later(old: list[Json] | None, new: list[Json] | None, *, allowed: bool) -> None:
    before, after = (pod() if found is None else pod(tolerations=found) for found in (old, new))
    answer = validate(review(after, "UPDATE", old=before), TWO, POLICY)
    assert response(answer)["allowed"] is allowed
    if not allowed:
        assert refused(answer) == (403, f"spec.tolerations[{len(new or ()) - 1}]: {TOLERATION}")


CLOSED = cluster([*nodes(1), node("node-z", taints=[Taint(keys.EXCLUSIVE, "default.closed", "NoSchedule")])])
EVERYTHING = {"operator": "Exists"}


@pytest.mark.parametrize(("inventory", "allowed"), [(CLOSED, False), (TWO, True)], ids=["exclusive hosts", "none"])
def test_everything_is_not_tolerated_later_where_there_are_exclusive_hosts(
    inventory: Inventory, *, allowed: bool
) -> None:
    answer = validate(review(pod(tolerations=[EVERYTHING]), "UPDATE", old=pod()), inventory, POLICY)
    assert response(answer)["allowed"] is allowed
    kept = review(pod(tolerations=[EVERYTHING]), "UPDATE", old=pod(tolerations=[EVERYTHING]))
    assert response(validate(kept, inventory, POLICY))["allowed"]


HOST_Z = {keys.HOSTNAME: "node-z"}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param({}, LOOSE, id="let loose"),
        pytest.param({"nodeSelector": HOST_Z}, LOOSE, id="let loose onto one"),
        pytest.param({"nodeSelector": HOST_Z, "schedulingGates": GATES}, NARROWED, id="left with one alone"),
        pytest.param({"nodeSelector": {keys.HOSTNAME: "node-a"}}, None, id="let loose elsewhere"),
        pytest.param({"schedulingGates": GATES, "priority": 7}, None, id="changed in another way"),
    ],
)
def test_a_sleeper_is_not_let_loose_onto_an_exclusive_host(spec: Json, said: str | None) -> None:
    before = pod(job=None, pe=None, tolerations=[EVERYTHING], schedulingGates=GATES)
    answer = validate(
        review(pod(job=None, pe=None, tolerations=[EVERYTHING], **spec), "UPDATE", old=before), CLOSED, POLICY
    )
    if said is None:
        assert response(answer) == {"uid": UID, "allowed": True}
    else:
        assert refused(answer) == (403, f"spec.tolerations[0]: {said}")


def test_a_pod_without_a_spec_tolerates_nothing() -> None:
    assert response(validate(review({}, "UPDATE", old={}), TWO, POLICY))["allowed"]


def test_a_pod_that_is_being_deleted_may_lose_everything() -> None:
    gone = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert response(validate(review(gone, "UPDATE", old=BEFORE), TWO, POLICY))["allowed"]


@pytest.mark.parametrize(
    ("found", "old"), [(None, BEFORE), (BEFORE, None), ([], BEFORE)], ids=["no object", "no old object", "a list"]
)
def test_an_update_that_is_not_readable_is_refused(found: object, old: object) -> None:
    code, message = refused(validate(review(found, "UPDATE", old=old), TWO, POLICY))
    assert (code, message.startswith("the Pod is not readable: found ")) == (422, True)


def test_a_wrong_type_beside_a_number_out_of_range_is_told_in_the_words_of_the_decoder() -> None:
    """The whole object cannot be looked at, so the value is not quoted."""
    body = review({"metadata": 5, "spec": {"x": 111222333}}).replace(b"111222333", b"1e999")
    code, message = refused(mutate(body, TWO, POLICY))
    assert (code, message) == (422, "the Pod is not readable: Expected `object | null`, got `int` - at `$.metadata`")


def test_a_text_that_is_not_utf8_is_refused() -> None:
    body = review(pod("hostIsolation")).replace(b'"hostIsolation"', b'"\xff"')
    code, message = refused(mutate(body, TWO, POLICY))
    assert (code, message.startswith("the Pod is not readable: 'utf-8' codec can't decode byte 0xff")) == (422, True)
