"""Each rule of fusion: operators that are fused, that are separated, and that are refused, with the words."""

from typing import Any

import pytest

from tests.builders import cluster, node, nodes, pool
from tests.fusion_jobs import elements, fused_job

ONE = {"fusion": {"manual": 1}}


def with_options(**options: Any) -> list[dict[str, Any]]:
    """Two operators, of which the second has these options."""
    return [{"name": "A"}, {"name": "B", **options}]


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        pytest.param(["A", "B"], [["A", "B"]], id="nothing keeps them apart"),
        pytest.param([("A", 'partitionExlocation("t")'), ("B", 'partitionExlocation("u")')], [["A", "B"]], id="tokens"),
        pytest.param(
            [("A", 'partitionExlocation("t")'), ("B", 'partitionExlocation("t")')],
            [["A"], ["B"]],
            id="partitionExlocation",
        ),
        pytest.param([("A", "partitionIsolation"), "B", "C"], [["A"], ["B", "C"]], id="partitionIsolation"),
        pytest.param([("A", 'host("node-a")'), ("B", 'host("node-a")')], [["A", "B"]], id="one host"),
        pytest.param([("A", 'host("node-a")'), ("B", 'host("node-b")')], [["A"], ["B"]], id="two hosts"),
        pytest.param([("A", 'host("10.0.0.1")'), ("B", 'host("node-a")')], [["A", "B"]], id="one host by its address"),
        pytest.param([("A", "host(P[0])"), ("B", "host(P)")], [["A", "B"]], id="an index beside its pool"),
        pytest.param([("A", "host(P[0])"), ("B", "host(P[1])")], [["A"], ["B"]], id="two indices"),
        pytest.param([("A", "host(X)"), "B", "C"], [["A"], ["B", "C"]], id="an exclusive pool"),
        pytest.param([("A", "host(Y)"), "B"], [["A"], ["B"]], id="an exclusive pool of the namespace"),
        pytest.param([("A", 'hostExlocation("t")'), ("B", 'hostExlocation("t")')], [["A"], ["B"]], id="hostExlocation"),
        pytest.param(
            [
                ("A", 'hostExlocation("t"), hostColocation("c")'),
                ("B", 'hostExlocation("t")'),
                ("C", 'hostColocation("c")'),
            ],
            [["A", "C"], ["B"]],
            id="hostExlocation by way of hostColocation",
        ),
        pytest.param([("A", 'hostColocation("c")'), ("B", 'hostColocation("c")')], [["A", "B"]], id="hostColocation"),
        pytest.param([("A", "hostIsolation"), ("B", "hostIsolation"), "C"], [["A", "B", "C"]], id="hostIsolation"),
        pytest.param(
            [("A", "hostIsolation"), ("B", 'hostColocation("c")')], [["A"], ["B"]], id="hostIsolation, hostColocation"
        ),
        pytest.param(
            [("A", 'hostIsolation, hostColocation("c")'), "B"], [["A", "B"]], id="both, and nobody has the token"
        ),
        pytest.param(with_options(restartable=False), [["A"], ["B"]], id="restartable"),
        pytest.param(with_options(relocatable=False), [["A"], ["B"]], id="relocatable"),
        pytest.param(
            with_options(template={"spec": {"containers": [{"name": "a", "image": "a"}]}}), [["A", "B"]], id="template"
        ),
        pytest.param(
            [
                {"name": name, "template": {"spec": {"containers": [{"name": name.lower(), "image": "a"}]}}}
                for name in ("A", "B")
            ],
            [["A"], ["B"]],
            id="two templates",
        ),
        pytest.param(
            [("A", 'partitionColocation("t")'), ("B", "partitionIsolation"), ("C", 'partitionColocation("t")')],
            [["A", "C"], ["B"]],
            id="partitionColocation",
        ),
    ],
)
def test_a_rule_fuses_or_separates(operators: list[Any], expected: list[list[str]]) -> None:
    """One processing element is asked for, so that only rules keep operators apart."""
    spec = {
        **ONE,
        "operators": operators,
        "hostPools": [{"name": "P", "size": 2}, {"name": "X", "size": 1, "mode": "Exclusive"}],
    }
    there = [node("node-a", addresses=["10.0.0.1"]), *nodes(6)[1:]]
    model = fused_job(spec, cluster(there, [pool("Y", size=1, mode="Exclusive", assigned=["node-f"])]))
    assert model.verdict.text == ""
    assert elements(model) == expected


TIED = 'partitionColocation("t")'


@pytest.mark.parametrize(
    ("operators", "text"),
    [
        pytest.param(
            [("A", f'{TIED}, host("node-a")'), ("B", f'{TIED}, host("node-b")')],
            'A: partitionColocation("t"), B: partitionColocation("t"), A: host("node-a") and B: host("node-b") cannot '
            "all hold: operators of one partition colocation share a processing element.\n"
            'Nearest fix: drop A: partitionColocation("t"), or drop B: partitionColocation("t").',
            id="host",
        ),
        pytest.param(
            [("A", TIED), {"name": "B", "placement": TIED, "restartable": False}],
            'A: partitionColocation("t"), B: partitionColocation("t"), A: restartable: true and B: restartable: false '
            "cannot all hold: operators of one partition colocation share a processing element.\n"
            'Nearest fix: drop A: partitionColocation("t"), or drop B: partitionColocation("t").',
            id="restartable",
        ),
        pytest.param(
            [("A", 'hostIsolation, hostColocation("c")'), ("B", 'hostColocation("c")')],
            'A: hostIsolation, A: hostColocation("c") and B: hostColocation("c") cannot all hold: an isolated operator '
            "shares its host with no other processing element.\n"
            'Nearest fix: drop A: hostIsolation, or drop A: hostColocation("c").',
            id="both, and another has the token",
        ),
        pytest.param(
            [("A", 'partitionColocation("t"), partitionIsolation'), ("B", 'partitionColocation("t")')],
            'A: partitionColocation("t"), B: partitionColocation("t") and A: partitionIsolation cannot all hold: '
            "operators of one partition colocation share a processing element.\n"
            'Nearest fix: drop A: partitionColocation("t"), or drop B: partitionColocation("t").',
            id="partitionIsolation",
        ),
        pytest.param(
            [(name, 'partitionColocation("t"), partitionIsolation') for name in "AB"],
            'A: partitionColocation("t"), B: partitionColocation("t") and A: partitionIsolation cannot all hold: '
            "operators of one partition colocation share a processing element.\n"
            'Nearest fix: drop A: partitionColocation("t"), or drop B: partitionColocation("t").',
            id="one of two isolated ones is enough",
        ),
        pytest.param(
            [("A", 'partitionColocation("t"), partitionExlocation("x")')
             , ("B", 'partitionColocation("t"), partitionColocation("u")')
             , ("C", 'partitionColocation("u"), partitionExlocation("x")')],
            'A: partitionColocation("t"), B: partitionColocation("t"), B: partitionColocation("u"), C: '
            'partitionColocation("u") and 2 more cannot all hold: operators of one partition colocation share a '
            "processing element.\n"
            'Nearest fix: drop A: partitionColocation("t"), or drop B: partitionColocation("t").',
            id="by way of another",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused_whatever_the_cluster_is(operators: list[Any], text: str) -> None:
    """The clauses that put operators together are named with those that keep them apart."""
    model = fused_job({"operators": operators}, cluster(nodes(3)))
    assert model.verdict.text == text
    assert model.fusion is None


def test_one_of_two_exclusive_pools_is_enough_for_a_contradiction() -> None:
    """An operator that is on an exclusive pool differs from all that are on none, and so from those on another one."""
    operators = [("A", f"{TIED}, host(Y)"), ("B", f"{TIED}, host(Z)")]
    pools = [pool(name, size=1, mode="Exclusive", assigned=[node]) for name, node in (("Y", "node-b"), ("Z", "node-c"))]
    assert fused_job({"operators": operators}, cluster(nodes(3), pools)).verdict.text == (
        'A: partitionColocation("t"), B: partitionColocation("t") and A: host(Y) cannot all hold: operators of one '
        "partition colocation share a processing element.\n"
        'Nearest fix: drop A: partitionColocation("t"), or drop B: partitionColocation("t").'
    )


APART = [("A", f'{TIED}, host("node-a")'), ("B", f'{TIED}, host("node-b")')]


@pytest.mark.parametrize(
    ("more", "fixes"),
    [
        pytest.param(
            [("C", 'host("absent")')],
            'drop A: partitionColocation("t") (not enough by itself), or drop B: partitionColocation("t") (not enough '
            "by itself)",
            id="no node runs another operator",
        ),
        pytest.param(
            [("C", 'partitionColocation("u"), host("node-a")'), ("D", 'partitionColocation("u"), host("node-b")')],
            "no single change helps",
            id="others contradict themselves as well",
        ),
        pytest.param(
            [("C", 'host("node-b"), hostIsolation, partitionIsolation')],
            'drop B: host("node-b")',
            id="one of four changes lets all run",
        ),
    ],
)
def test_a_fix_of_a_contradiction_lets_the_whole_job_run(more: list[Any], fixes: str) -> None:
    """A change after which something else is in the way is named where there is no better one, and says so."""
    text = fused_job({"operators": [*APART, *more]}, cluster(nodes(2))).verdict.text
    assert text == (
        'A: partitionColocation("t"), B: partitionColocation("t"), A: host("node-a") and B: host("node-b") cannot all '
        f"hold: operators of one partition colocation share a processing element.\nNearest fix: {fixes}."
    )


REGION = {
    "parallelRegions": [{"name": "work", "width": 2}],
    "streams": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
}


@pytest.mark.parametrize(
    ("type_", "placement", "expected"),
    [
        pytest.param(None, "", [["A[0]", "A[1]", "B[0]", "B[1]", "C"]], id="no channel influence"),
        pytest.param("channelIsolation", "", [["A[0]", "B[0]"], ["A[1]", "B[1]"], ["C"]], id="channels by themselves"),
        pytest.param("channelExlocation", "", [["A[0]", "B[0]", "C"], ["A[1]", "B[1]"]], id="channels apart"),
        pytest.param(
            "channelIsolation",
            TIED,
            [["A[0]", "A[1]"], ["B[0]"], ["B[1]"], ["C"]],
            id="a partition colocation is stronger",
        ),
        pytest.param(
            None,
            'partitionColocation("t" + byChannel()), partitionExlocation(byReplica())',
            [["A[0]", "B[0]", "C"], ["A[1]", "B[1]"]],
            id="tokens of channels",
        ),
    ],
)
def test_the_type_says_what_of_a_region_is_fused(type_: str | None, placement: str, expected: list[list[str]]) -> None:
    """Two operators are in a region of two channels, the third is outside."""
    first = {"name": "A", "region": "work"} | ({"placement": placement} if placement else {})
    spec = {**REGION, "operators": [first, {"name": "B", "region": "work"}, "C"]}
    model = fused_job({**spec, "fusion": {"manual": 1} | ({"type": type_} if type_ else {})}, cluster(nodes(3)))
    assert elements(model) == expected


def test_legacy_fuses_what_is_colocated_and_nothing_else() -> None:
    """Without a cluster that takes the elements, another scheme is the fix."""
    spec = {"operators": [("A", TIED), ("B", TIED), "C"], "fusion": {"legacy": True}}
    assert elements(fused_job(spec, cluster(nodes(1)))) == [["A", "B"], ["C"]]
    isolated = {"operators": [("A", "hostIsolation"), ("B", "hostIsolation")], "fusion": {"legacy": True}}
    assert fused_job(isolated, cluster(nodes(1))).verdict.text == (
        "legacy: true and A: hostIsolation cannot both hold: no fusion of 2 operators fits on the cluster.\n"
        "Nearest fix: add a node, or set fusion.automatic in place of fusion.legacy."
    )


def test_a_pod_takes_so_many_clauses_and_no_more() -> None:
    """Seventy operators with a token each do not go into one pod, which may have 32."""
    operators = [(f"Op{at}", f'hostColocation("t{at}")') for at in range(70)]
    model = fused_job({"operators": operators, **ONE}, cluster(nodes(1)))
    assert [len(one) <= 32 for one in elements(model)] == [True] * 3
