"""Host pools as placement knows them, and the rules that one object alone can break."""

from typing import Any

import msgspec
import pytest

from tests.cluster.objects import pool
from webhook.cluster.objects import custom_resources, wire
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.kube.pod import LabelSelector, Requirement
from webhook.placement.objects.pool import Phase, Pool, PoolHost


def read(source: dict[str, Any]) -> Pool:
    return custom_resources.pool(msgspec.convert(source, wire.HostPoolObject))


def refusal(source: dict[str, Any]) -> str:
    with pytest.raises(MalformedError) as caught:
        read(source)
    return str(caught.value)


def given(*hosts: tuple[int, str], phase: str = "Ready") -> dict[str, Any]:
    return {"phase": phase, "hosts": [{"index": index, "name": name} for index, name in hosts]}


def test_a_pool_with_everything() -> None:
    status = {
        "phase": "Failed",
        "hosts": [{"index": 1, "name": "node-a", "uid": "u"}, {"index": 0, "name": "node-b"}],
        "conditions": [{"type": "Degraded", "status": "True"}, {"type": "Ready", "status": "False", "message": "why"}],
        "eligible": 7,
        "observedGeneration": 3,
    }
    source = pool(
        status=status,
        metadata={"name": "ib-blue", "namespace": "team", "uid": "x"},
        size=2,
        tags=["ib", "blue"],
        mode="Exclusive",
        elastic=True,
        job="parallel",
        selector={"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "Gt", "values": ["5"]}]},
    )
    source["spec"]["name"] = "P1"
    assert read(source) == Pool(
        namespace="team",
        name="ib-blue",
        spl_name="P1",
        job="parallel",
        size=2,
        tags=("ib", "blue"),
        selector=LabelSelector({"a": "b"}, (Requirement("c", "Gt", ("5",)),)),
        mode="Exclusive",
        elastic=True,
        phase=Phase.FAILED,
        assigned=(PoolHost(1, "node-a", "u"), PoolHost(0, "node-b")),
        reason="why",
    )


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"metadata": {"name": "p"}}, id="nothing but a name"),
        pytest.param({"metadata": {"name": "p"}, "spec": None, "status": None}, id="null"),
        pytest.param({"metadata": {"name": "p"}, "spec": {"name": None, "job": "", "tags": []}}, id="null and empty"),
    ],
)
def test_what_a_pool_leaves_out_has_its_default(source: dict[str, Any]) -> None:
    assert read(source) == Pool(namespace="default", name="p", spl_name="p")


def test_a_literal_pool_keeps_its_hosts_in_order() -> None:
    assert read(pool(hosts=["foo", "10.8.5.6"])).hosts == ("foo", "10.8.5.6")


def test_a_literal_pool_may_state_the_defaults_that_the_api_server_fills_in() -> None:
    assert read(pool(hosts=["foo"], mode="Shared", elastic=False)).mode == "Shared"


def test_a_pool_that_is_being_deleted_is_releasing() -> None:
    metadata = {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert read(pool(metadata=metadata, status=given(phase="Ready"), size=1)).phase is Phase.RELEASING


def test_the_reason_is_the_ready_conditions_when_it_has_no_message() -> None:
    status = {"conditions": [{"type": "Ready", "status": "False", "reason": "Insufficient"}]}
    assert read(pool(status=status)).reason == "Insufficient"


def test_a_condition_that_says_nothing_gives_no_reason() -> None:
    assert read(pool(status={"conditions": [{"type": "Ready", "status": "True"}]})).reason == ""


LONG = "a" * 64


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        pytest.param({"size": 0}, "spec.size: 0 is not between 1 and 5000", id="size zero"),
        pytest.param({"size": -1}, "spec.size: -1 is not between 1 and 5000", id="negative size"),
        pytest.param({"size": 5001}, "spec.size: 5001 is not between 1 and 5000", id="size over the limit"),
        pytest.param({"size": 2**53}, "spec.size: 9007199254740992 is not between 1 and 5000", id="size 2^53"),
        pytest.param(
            {"mode": "Exclusive"},
            "spec.size: missing, an Exclusive pool must state how many hosts it takes",
            id="exclusive without size",
        ),
        pytest.param({"mode": "shared"}, 'spec.mode: "shared" is not one of Shared, Exclusive', id="unknown mode"),
        pytest.param({"mode": ""}, 'spec.mode: "" is not one of Shared, Exclusive', id="empty mode"),
        pytest.param({"tags": ["a b"]}, 'spec.tags[0]: "a b" is not a label value', id="illegal tag"),
        pytest.param({"tags": ["a", ""]}, "spec.tags[1]: must not be empty", id="empty tag"),
        pytest.param({"tags": [LONG]}, "spec.tags[0]: 64 characters, at most 63 are allowed", id="tag too long"),
        pytest.param({"tags": ["a", "b", "a"]}, 'spec.tags[2]: "a" is also spec.tags[0]', id="tag twice"),
        pytest.param(
            {"tags": [str(number) for number in range(65)]},
            "spec.tags: 65 tags, at most 64 are allowed",
            id="many tags",
        ),
        pytest.param({"hosts": []}, "spec.hosts: must name at least one host", id="no hosts"),
        pytest.param(
            {"hosts": ["a", ""]}, 'spec.hosts[1]: "" is neither an IP address nor a node name', id="empty host"
        ),
        pytest.param({"hosts": ["a", "b", "a"]}, 'spec.hosts[2]: "a" is also spec.hosts[0]', id="host twice"),
        pytest.param(
            {"hosts": [f"h{number}" for number in range(5001)]},
            "spec.hosts: 5001 hosts, at most 5000 are allowed",
            id="many hosts",
        ),
        pytest.param(
            {"hosts": ["a"], "size": 1, "tags": ["t"], "selector": {}, "mode": "Exclusive", "elastic": True},
            "spec.hosts: excludes size, tags, selector, mode Exclusive, elastic",
            id="hosts and everything else",
        ),
        pytest.param(
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Near", "values": []}]}},
            'spec.selector.matchExpressions[0].operator: "Near" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt',
            id="unknown operator",
        ),
        pytest.param(
            {"selector": {"matchExpressions": [{"key": "", "operator": "Exists"}]}},
            'spec.selector.matchExpressions[0].key: "" is not a label key such as kubernetes.io/hostname or disktype',
            id="no key",
        ),
        pytest.param(
            {"selector": {"matchLabels": {"a b": "x"}}},
            'spec.selector.matchLabels: "a b" is not a label key such as kubernetes.io/hostname or disktype',
            id="illegal label key",
        ),
        pytest.param(
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["-5"]}]}},
            'spec.selector.matchExpressions[0].values[0]: "-5" is not a label value',
            id="a number that the API server refuses in the pool's pods",
        ),
        pytest.param(
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["9223372036854775808"]}]}},
            'spec.selector.matchExpressions[0].values: "9223372036854775808" is not a 64-bit integer, '
            "as the operator Gt needs it",
            id="a number beyond 64 bits",
        ),
        pytest.param(
            {"selector": {"matchLabels": {"a": "x y"}}},
            'spec.selector.matchLabels[a]: "x y" is not a label value',
            id="illegal label value",
        ),
    ],
)
def test_a_pool_that_breaks_a_rule_is_refused(spec: dict[str, Any], reason: str) -> None:
    assert refusal(pool(**spec)) == reason


def test_an_spl_name_has_at_most_63_characters() -> None:
    source = pool()
    source["spec"]["name"] = LONG
    assert refusal(source) == "spec.name: 64 characters, at most 63 are allowed"


@pytest.mark.parametrize("name", ["a b", "-", "a\n"])
def test_an_spl_name_that_is_none_is_refused(name: str) -> None:
    source = pool()
    source["spec"]["name"] = name
    shown = name.replace("\n", "\\n")
    assert refusal(source) == f'spec.name: "{shown}" is not an SPL identifier or label value of at most 63 characters'


@pytest.mark.parametrize("name", ["P1", "_Pool_", "__", "ib-blue", "a.b"])
def test_an_spl_name_is_kept(name: str) -> None:
    source = pool()
    source["spec"]["name"] = name
    assert read(source).spl_name == name


@pytest.mark.parametrize(
    ("spec", "status", "reason"),
    [
        pytest.param(
            {}, {"phase": "Odd"}, 'status.phase: "Odd" is not one of Pending, Ready, Failed, Releasing', id="phase"
        ),
        pytest.param(
            {},
            given((0, "node-a")),
            "status.hosts: a pool without a size has no hosts of its own",
            id="hosts of an unsized pool",
        ),
        pytest.param(
            {"size": 2},
            given((0, "node-a"), (2, "node-b")),
            "status.hosts[1].index: 2 is not between 0 and 1",
            id="index beyond the size",
        ),
        pytest.param(
            {"hosts": ["a"]},
            given((-1, "node-a")),
            "status.hosts[0].index: -1 is not between 0 and 0",
            id="negative index",
        ),
        pytest.param(
            {"size": 2},
            given((1, "node-a"), (1, "node-b")),
            "status.hosts[1].index: 1 is also status.hosts[0].index",
            id="index twice",
        ),
        pytest.param(
            {"size": 2},
            given((0, "node-a"), (1, "node-a")),
            'status.hosts[1].name: "node-a" is also status.hosts[0].name',
            id="host twice",
        ),
    ],
)
def test_an_edited_status_is_refused(spec: dict[str, Any], status: object, reason: str) -> None:
    assert refusal(pool(status=status, **spec)) == reason


def test_all_faults_are_named_up_to_five() -> None:
    assert refusal(pool(size=0, mode="x", tags=["a b", "", "c d", "c d", "e f", "e f"])) == (
        'spec.mode: "x" is not one of Shared, Exclusive; '
        "spec.size: 0 is not between 1 and 5000; "
        'spec.tags[0]: "a b" is not a label value; '
        "spec.tags[1]: must not be empty; "
        'spec.tags[2]: "c d" is not a label value; '
        "and 5 more"
    )
