"""What is converted asks for the same as its original, and is admitted or refused as the original's rules say."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.convert.adl_documents import adl, operator
from tests.convert.converted_texts import converted
from tests.golden.examples import snapshot
from webhook.admission.checks.templates import pods_of
from webhook.placement.annotations.worker_mapping import read_mapping
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.intent import read_intent
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName
from webhook.placement.spl.host_pools import PoolDeclaration
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys
from webhook.placementreview.submission import whole, wrong
from webhook.settings import policy_of, read

POLICY = policy_of(read({}))

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"config", "graph", "param", "type", "as", "composite", "output", "logic", "window"}
)
TOKENS = st.sampled_from(["t", "u", "a.b", "x-1"])
POOLS = ("P", "Q", "R")
CLAUSES = st.one_of(
    st.sampled_from(["worker-1", "10.4.40.83", "2001:db8::1"]).map(lambda host: PlacementClause(ClauseName.HOST, host)),
    st.sampled_from(POOLS).map(lambda pool: PlacementClause(ClauseName.HOST, PoolName(pool))),
    st.just(PlacementClause(ClauseName.HOST, PoolName("P", 1))),
    TOKENS.map(lambda token: PlacementClause(ClauseName.EXLOCATION, token)),
    TOKENS.map(lambda token: PlacementClause(ClauseName.PARTITION_EXLOCATION, token)),
    st.just(PlacementClause(ClauseName.ISOLATION)),
    st.just(PlacementClause(ClauseName.PARTITION_ISOLATION)),
)
PLACEMENTS = st.lists(CLAUSES, max_size=5).filter(
    lambda clauses: sum(clause.name is ClauseName.HOST for clause in clauses) < 2
)
GRAPHS = st.dictionaries(NAMES, PLACEMENTS, min_size=1, max_size=6)
DECLARED = (
    PoolDeclaration("P", size=3, tags=("ib", "blue"), mode="Exclusive"),
    PoolDeclaration("Q", hosts=("worker-1", "10.1.2.3")),
    PoolDeclaration("R"),
)
BLANKS = st.sampled_from([" ", "\n", " /* config placement: hostIsolation; */ ", "\t// host(\n", "  "])


def asked(spec: dict[str, Any]) -> dict[str, list[PlacementClause]]:
    """The clauses of each operator of a Job, in the order of its texts."""
    found = {}
    for one in spec["operators"]:
        clauses, problems = parse_placement(one.get("placement", "hostIsolation"), "")
        assert problems == ()
        found[one["name"]] = sorted(map(str, clauses if "placement" in one else ()))
    return found


def in_any_order(clauses: Sequence[PlacementClause]) -> list[str]:
    """The texts of the clauses, sorted."""
    return sorted(map(str, clauses))


@given(GRAPHS, BLANKS)
def test_a_program_asks_for_what_its_operators_ask_for(graph: dict[str, list[PlacementClause]], blank: str) -> None:
    invocations = blank.join(
        f"stream<int32 i>{blank}{name} = Beacon(){blank}{{"
        + (f"config{blank}placement :{blank}{', '.join(map(str, clauses))};" if clauses else "")
        + "}"
        for name, clauses in graph.items()
    )
    pools = f"config hostPool: {', '.join(map(str, DECLARED))};"
    found = converted(f"composite Main {{ graph{blank}{invocations} {pools} }}", "spl")
    assert found.problems == ()
    spec = found.manifests[0]["spec"]
    assert asked(spec) == {name: in_any_order(clauses) for name, clauses in graph.items()}
    assert spec["hostPools"] == [
        {"name": "P", "size": 3, "tags": ["ib", "blue"], "mode": "Exclusive"},
        {"name": "Q", "hosts": ["worker-1", "10.1.2.3"]},
        {"name": "R"},
    ]


def element_of(clause: PlacementClause) -> str:
    """The clause as an element of an ADL."""
    if clause.name is ClauseName.EXLOCATION or clause.name is ClauseName.PARTITION_EXLOCATION:
        return f'<exLocation exlocId="{clause.argument}"/>'
    if isinstance(clause.argument, PoolName):
        index = "" if clause.argument.index is None else f'inpoolIndex="{clause.argument.index}"'
        return f'<poolLocation poolIndex="{POOLS.index(clause.argument.name)}" {index}/>'
    return f'<hostLocation hostname="{clause.argument}"/>'


def resources(clauses: Sequence[PlacementClause], tag: str, alone: ClauseName) -> str:
    isolation = "true" if any(clause.name is alone for clause in clauses) else "false"
    inner = "".join(element_of(clause) for clause in clauses if clause.argument is not None)
    return f'<{tag} isolation="{isolation}">{inner}</{tag}>'


@given(GRAPHS)
def test_a_compiled_application_asks_for_what_its_operators_ask_for(graph: dict[str, list[PlacementClause]]) -> None:
    operators = "".join(
        operator(
            name,
            resources(
                [one for one in clauses if not one.name.startswith("partition")], "resources", ClauseName.ISOLATION
            ),
            at,
            partitions=resources(
                [one for one in clauses if one.name.startswith("partition")],
                "partitions",
                ClauseName.PARTITION_ISOLATION,
            ),
        )
        for at, (name, clauses) in enumerate(graph.items())
    )
    pools = (
        '<hostpool index="0" name="P" size="3" membershipMode="exclusive"><tag name="ib"/></hostpool>'
        '<hostpool index="1" name="Q" size="2"><host hostname="a"/><host hostname="b"/></hostpool>'
        '<hostpool index="2" name="R"/>'
    )
    found = converted(adl(operators, pools), "adl")
    assert found.problems == ()
    once = {name: sorted({*in_any_order(clauses)}) for name, clauses in graph.items()}
    assert {name: sorted({*clauses}) for name, clauses in asked(found.manifests[0]["spec"]).items()} == once


EXPRESSIONS = st.one_of(
    st.tuples(
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(["ssd", "n.v", "8", "yes"]), min_size=1, max_size=3),
    ),
    st.tuples(st.sampled_from(["Exists", "DoesNotExist"]), st.just([])),
    st.tuples(st.sampled_from(["Gt", "Lt"]), st.just(["8"])),
)


@given(
    EXPRESSIONS,
    st.sampled_from(["all-same-node", "all-separate-nodes", "none"]),
    st.sampled_from(["true", "false"]),
    st.sampled_from([":", "="]),
)
def test_a_configuration_of_twister2_asks_for_the_same(
    expression: tuple[str, list[str]], uniform: str, mapped: str, separator: str
) -> None:
    wanted, values = expression
    parameters = {
        "kubernetes.worker.to.node.mapping": mapped,
        "kubernetes.worker.mapping.key": "example.com/disk",
        "kubernetes.worker.mapping.operator": wanted,
        "kubernetes.worker.mapping.values": values,
        "kubernetes.worker.mapping.uniform": uniform,
    }
    write = json.dumps if separator == ":" else lambda value: ", ".join(value) if isinstance(value, list) else value
    text = "\n".join(f"{key}{separator} {write(value)}" for key, value in parameters.items())
    (manifest,) = converted(text, "twister2").manifests
    mapping = read_mapping(manifest["spec"]["template"]["metadata"]["annotations"])
    assert (mapping.problems, mapping.uniform) == ((), uniform)
    needs = [(one.need.key, one.need.operator, list(one.need.values or ())) for one in mapping.expressions]
    assert needs == ([("example.com/disk", wanted, values)] if mapped == "true" else [])


REQUIREMENTS = st.one_of(
    st.fixed_dictionaries(
        {
            "name": st.just("cpu"),
            "requests": st.integers(1, 4),
            "limits": st.integers(4, 8),
            "allocatable": st.just(value=True),
        }
    ),
    st.fixed_dictionaries(
        {"name": st.just("memory"), "requests": st.integers(1, 9), "units": st.sampled_from(["KB", "MB", "Gi"])}
    ),
    st.fixed_dictionaries(
        {"name": st.just("nvidia.com/gpu"), "limits": st.integers(1, 8), "weight": st.integers(1, 10)}
    ),
    st.fixed_dictionaries({"key": st.just("disktype"), "value": st.sampled_from(["ssd", "8", "true", ""])}),
)


@given(
    st.lists(st.tuples(REQUIREMENTS, st.booleans(), st.booleans()), min_size=1, max_size=5),
    st.sampled_from([json.dumps, yaml.safe_dump_all]),
)
def test_an_intent_asks_for_the_same(
    drawn: list[tuple[dict[str, Any], bool, bool]], write: Callable[[object], str]
) -> None:
    consumer = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "container-name": "m"}
    entries: list[dict[str, Any]] = []
    bodies: list[dict[str, Any]] = [
        {"metadata": {"name": "i"}, "spec": {"app": "a"}},
        {"metadata": {"name": "c"}, "spec": {"consumer": consumer}},
    ]
    for at, (fields, mandatory, nested) in enumerate(drawn):
        entries.append({"name": f"r{at}", "spec": {"mandatory": mandatory, **fields}})
        inner = {key: value for key, value in fields.items() if key not in {"weight", "allocatable"}}
        outer = {key: value for key, value in fields.items() if key not in inner}
        spec = {"mandatory": mandatory, **({**outer, "resource": inner} if nested else fields)}
        bodies.append({"metadata": {"name": f"r{at}"}, "spec": spec})
    (manifest,) = converted(write(bodies), "emco").manifests
    wanted = {"consumers": [{"name": "c", "consumer": consumer, "requirements": entries}]}
    found, original = (read_intent("n", "i", spec) for spec in (manifest["spec"], wanted))
    assert (found.problems, original.problems) == ((), ())
    assert found.consumers == original.consumers


# Judged on a cluster


@pytest.fixture(scope="module")
def cluster() -> Inventory:
    return snapshot()


def judged(text: str, kind: str, cluster: Inventory) -> str:
    """What ``explain`` says of the Job that a text becomes; empty if it is admitted."""
    (manifest,) = converted(text, kind).manifests
    if problems := wrong(manifest, cluster):
        return problems[0].message
    return whole(manifest, World(cluster, POLICY)).verdict.headline


@pytest.mark.parametrize(
    ("placements", "pools", "refusal"),
    [
        (['host("worker-1")'], "", ""),
        (
            ['host("nowhere")'],
            "",
            'operator A0: host("nowhere") cannot hold: 0 of 13 nodes can run this pod.',
        ),
        (["host(P)"], "P = createPool(Sys.Shared)", ""),
        (
            ["host(P)"],
            'P = createPool({tags=["nowhere"]}, Sys.Shared)',
            "operator A0: host(P) cannot hold: 0 of 13 nodes can run this pod.",
        ),
        (
            ["host(P)"],
            "P = createPool({size=99u}, Sys.Shared)",
            "HostPool P (99 hosts, Shared) cannot have its hosts: 7 nodes are eligible.",
        ),
        (["host(P[0])", "hostIsolation"], "P = createPool({size=2u}, Sys.Shared)", ""),
        (
            ['host("worker-1"), hostExlocation("t")'] * 2,
            "",
            (
                'A0: host("worker-1"), A0: hostExlocation("t"), A1: host("worker-1") and A1: hostExlocation("t") '
                "cannot all hold: no fusion of 2 operators fits on the cluster."
            ),
        ),
        (['hostColocation("t")'] * 3, "", ""),
    ],
)
def test_a_program_is_admitted_or_refused_as_spl_would_have_it(
    placements: list[str], pools: str, refusal: str, cluster: Inventory
) -> None:
    graph = "\n".join(
        f"stream<int32 i> A{at} = Beacon() {{ config placement: {placement}; }}"
        for at, placement in enumerate(placements)
    )
    config = f"config hostPool: {pools};" if pools else ""
    assert judged(f"composite Main {{ graph {graph} {config} }}", "spl", cluster) == refusal


MAPPED = (
    "kubernetes.worker.to.node.mapping: true\nkubernetes.worker.mapping.key: extra-hardware\n"
    "kubernetes.worker.mapping.operator: In\nkubernetes.worker.mapping.values: "
)
BOUND = "kubernetes.bind.worker.to.cpu: true\n"
COMPUTE = "twister2.resource.worker.compute.resources: "


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        (f"{MAPPED}[gpu]", 1),
        (f"{MAPPED}[fpga]", 0),
        (f"{BOUND}{COMPUTE}[{{cpu: 2, ram: 64}}]", 1),
        (f"{BOUND}{COMPUTE}[{{cpu: 999, ram: 64}}]", 0),
        (BOUND, 0),
    ],
)
def test_workers_are_admitted_or_refused_as_twister2_would_have_it(
    text: str, admitted: int, cluster: Inventory
) -> None:
    (manifest,) = converted(text, "twister2").manifests
    (described,) = pods_of(manifest)
    decision = decide(msgspec.convert(described.pod, Pod), "default", World(cluster, POLICY))
    assert decision.refused is not bool(admitted)


def test_keys_of_annotations_are_those_of_the_product() -> None:
    (manifest,) = converted("kubernetes.bind.worker.to.cpu: false", "twister2").manifests
    assert manifest["spec"]["template"]["metadata"]["annotations"].keys() <= keys.ANNOTATIONS
