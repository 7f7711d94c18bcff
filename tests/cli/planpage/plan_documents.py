"""Plans to make pages of, the same ones at every run: five nodes, any number of nodes, refusals, and hostile names."""

from collections.abc import Iterable
from typing import Final

from webhook.placementreview.plans.document import (
    ClosedNodes,
    Conflict,
    Neighbour,
    NodeResource,
    PlanDocument,
    PlannedElement,
    PlannedFusion,
    PlannedNode,
    PlannedOperator,
    PlannedPool,
    PlannedStream,
    PoolHostNode,
    Relation,
    RuleTable,
    Subject,
    ranges,
)

HOSTILE: Final = (
    "</script><script>window.hostile=1</script>",
    "<!--<script>",
    "<img src=x onerror=window.hostile=1>",
    '"><svg onload=window.hostile=1>',
    "{{title}} $title ${data}",
    "line\u2028separator \u202eoverride",
    "half \ud800 of a pair, and \x00",
)
"""Names that no object of Kubernetes has, and texts that a user may well write."""

_OUTSIDE: Final = "is not in HostPool MyPool (tag source)"


def node(
    name: str, planned: int = 0, *, used: int = 0, taints: Iterable[str] = (), pools: Iterable[str] = ()
) -> PlannedNode:
    """A node of 8 cpus and 32 GiB; each planned element takes 1 cpu and 2 GiB, and so does each that runs."""
    return PlannedNode(
        name,
        (
            NodeResource("cpu", "8", f"{used}", f"{planned}", f"{8 - used - planned}", 125 * used, 125 * planned),
            NodeResource(
                "memory",
                "32Gi",
                f"{2 * used}Gi",
                f"{2 * planned}Gi",
                f"{32 - 2 * used - 2 * planned}Gi",
                62 * used,
                62 * planned,
            ),
            NodeResource("pods", "110", f"{used}", f"{planned}", f"{110 - used - planned}", 9 * used, 9 * planned),
        ),
        taints=tuple(taints),
        pools=tuple(pools),
    )


def job(name: str, elements: Iterable[PlannedElement], **others: object) -> Subject:
    """A Job that is admitted unless the others say something else."""
    said: dict[str, object] = {"verdict": "admitted"} | others
    return Subject(file=f"{name}.yaml", origin=f"Job {name}", namespace="default", elements=tuple(elements), **said)


def small() -> PlanDocument:
    """Four elements of one Job on five nodes, as in ``examples/job-parallel.yaml``."""
    rules = RuleTable()
    tainted = ClosedNodes("", "has the taint dedicated=infra:NoSchedule", ((0, 0),))
    outside = rules.add(ClosedNodes("host(MyPool)", _OUTSIDE, ((0, 0), (3, 4))))
    taint = rules.add(tainted)
    source, work, sink = (
        {"cpu": "1", "memory": "2Gi"},
        {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "1"},
        {"cpu": "500m", "memory": "2Gi"},
    )
    together = 'hostColocation("work")'
    return PlanDocument(
        title="Plan of Job apps-parallel",
        cluster="5 nodes of the snapshot examples/cluster",
        subjects=(
            job(
                "apps-parallel",
                [
                    PlannedElement(
                        name="apps-parallel-0",
                        clauses=("host(MyPool)",),
                        requests=source,
                        node="worker-1",
                        cost=812,
                        closed=(outside,),
                        pools=(0,),
                    ),
                    PlannedElement(
                        name="apps-parallel-1",
                        clauses=(together,),
                        requests=work,
                        node="worker-8",
                        cost=790,
                        closed=(taint,),
                    ),
                    PlannedElement(
                        name="apps-parallel-2",
                        clauses=(together,),
                        requests=work,
                        node="worker-8",
                        cost=890,
                        closed=(taint,),
                    ),
                    PlannedElement(
                        name="apps-parallel-3",
                        clauses=("hostIsolation",),
                        requests=sink,
                        node="worker-2",
                        cost=801,
                        fixed=True,
                        closed=(taint,),
                    ),
                ],
                pools=(0,),
                relations=(
                    Relation("together", together, ("apps-parallel-1", "apps-parallel-2")),
                    Relation("alone", "hostIsolation", ("apps-parallel-3",)),
                ),
                warnings=("worker-2 is not ready: nothing starts there until it is",),
            ),
        ),
        nodes=(
            node("control-plane-1", used=2, taints=["dedicated=infra:NoSchedule"]),
            node("worker-1", 1, used=3),
            node("worker-2", 1, used=1),
            node("worker-8", 2, used=4),
            node("worker-9"),
        ),
        pools=(PlannedPool("default", "MyPool", "Shared", None, (), ((1, 2),)),),
        rules=rules.rules,
        total_cost=3293,
    )


def fused() -> PlanDocument:
    """A Job whose operators are fused into two elements; one operator is apart by a clause, one by none."""
    first = (
        PlannedOperator("Source", (Neighbour("Work", "Source: partitionIsolation"),)),
        PlannedOperator("Log", (Neighbour("Work", ""),)),
        PlannedOperator("Quiet"),
    )
    work = (PlannedOperator("Work", (Neighbour("Source", "Source: partitionIsolation"), Neighbour("Log", ""))),)
    streams = (
        PlannedStream(
            operators=("Source", "Work"),
            elements=("apps-0", "apps-1"),
            share=90,
            between_nodes=True,
            clause="Source: partitionIsolation",
        ),
        PlannedStream(operators=("Log", "Work"), elements=("apps-0", "apps-1"), share=0, between_nodes=False),
    )
    elements = (
        PlannedElement(name="apps-0", node="worker-1", operators=first),
        PlannedElement(name="apps-1", node="worker-2", operators=work),
        PlannedElement(name="apps-2", node="worker-2", operators=tuple(PlannedOperator(f"Op{at}") for at in range(60))),
    )
    fusion = PlannedFusion(scheme="manual", asked=4, made=3, inside=10, between_nodes=90, streams=streams)
    return PlanDocument(
        title="Plan",
        cluster="2 nodes",
        subjects=(job("apps", elements, fusion=fusion),),
        nodes=(node("worker-1", 1), node("worker-2", 1)),
    )


def refused() -> PlanDocument:
    """The Job of :func:`small` beside one that cannot run as a whole, and one that was not decided in time."""
    admitted = small()
    rules = RuleTable()
    for rule in admitted.rules:
        rules.add(rule)
    closed = (rules.add(ClosedNodes("host(MyPool)", _OUTSIDE, ((0, 0), (3, 4)))),)
    names = [f"shards-{place}" for place in range(3)]
    apart = 'hostExlocation("shard")'
    shards = job(
        "shards",
        [PlannedElement(name=name, clauses=("host(MyPool)", apart), closed=closed) for name in names],
        verdict="refused",
        message=(
            'host(MyPool) and hostExlocation("shard") cannot both hold for 3 processing elements: 2 of 3 fit.\n'
            "  3 nodes are not in HostPool MyPool (tag source)\n"
            'Nearest fix: label one more node streams.ibm.com/hostpool=source, or drop hostExlocation("shard").'
        ),
        relations=(Relation("apart", apart, tuple(names)),),
        conflicts=(
            Conflict(
                ("host(MyPool)", apart), tuple(names), "label one more node streams.ibm.com/hostpool=source", closed
            ),
        ),
        pools=(0,),
    )
    unread = Subject(
        file="typo.yaml",
        origin="Pod typo",
        namespace="default",
        verdict="refused",
        message='metadata.annotations[streams.ibm.com/placement]: unknown clause "hots"\n  hots(MyPool)\n  ^',
        elements=(PlannedElement(name="typo"),),
    )
    slow = job("slow", [PlannedElement(name="slow-0", requests={"cpu": "3"}, closed=())], verdict="undecided")
    return PlanDocument(
        title="Plan of 4 objects",
        cluster=admitted.cluster,
        subjects=(*admitted.subjects, shards, unread, slow),
        nodes=admitted.nodes,
        pools=admitted.pools,
        rules=rules.rules,
        total_cost=admitted.total_cost,
        undecided=True,
    )


def large(nodes: int = 5_000, elements: int = 1_000) -> PlanDocument:
    """One Job of many elements: sources in a pool, workers two by two, sinks apart from one another."""
    rules = RuleTable()
    names = [f"worker-{place:05}" for place in range(nodes)]
    pool = [place for place in range(nodes) if place % 5 == 1]
    infra = [place for place in range(nodes) if place % 50 == 0]
    outside = rules.add(
        ClosedNodes("host(MyPool)", _OUTSIDE, ranges(place for place in range(nodes) if place % 5 != 1))
    )
    taint = rules.add(ClosedNodes("", "has the taint dedicated=infra:NoSchedule", ranges(infra)))
    full = rules.add(
        ClosedNodes(
            "", "has too little cpu free", ranges(place for place in range(nodes) if place % 7 == 3 and place % 50)
        )
    )
    open_places = [place for place in range(nodes) if place % 50 and place % 7 != 3]
    planned = dict.fromkeys(range(nodes), 0)
    found = []
    for place in range(elements):
        kind = place % 4
        spot = (
            pool[place % len(pool)]
            if kind == 0
            else open_places[(place if kind == 3 else place // 4) % len(open_places)]
        )
        planned[spot] += 1
        token = f'hostColocation("pair-{place // 4}")'
        found.append(
            PlannedElement(
                name=f"apps-parallel-{place}",
                clauses=(("host(MyPool)",), (token,), (token,), ('hostExlocation("sink")',))[kind],
                requests={"cpu": "1", "memory": "2Gi"},
                node=names[spot],
                cost=700 + place % 97,
                closed=(outside,) if kind == 0 else (taint, full),
                pools=(0,) if kind == 0 else (),
            )
        )
    pairs = (
        Relation("together", one.clauses[0], (one.name, other.name))
        for one, other in zip(found[1::4], found[2::4], strict=False)
    )
    sinks = Relation("apart", 'hostExlocation("sink")', tuple(each.name for each in found[3::4]))
    return PlanDocument(
        title="Plan of Job apps-parallel",
        cluster=f"{nodes:,} nodes of the context production",
        subjects=(job("apps-parallel", found, relations=(*pairs, sinks), pools=(0, 1)),),
        nodes=tuple(
            node(
                name,
                min(planned[place], 5),
                used=place % 4,
                taints=["dedicated=infra:NoSchedule"] if place % 50 == 0 else (),
                pools=[f"Sized[{place - nodes + 12}]"] if place >= nodes - 12 else (),
            )
            for place, name in enumerate(names)
        ),
        pools=(
            PlannedPool("default", "MyPool", "Shared", None, (), ranges(pool)),
            PlannedPool("default", "Sized", "Exclusive", 12, _hosts(names[-12:]), ((0, nodes - 1),)),
        ),
        rules=rules.rules,
        total_cost=sum(each.cost or 0 for each in found),
    )


def racks(nodes: int = 500, elements: int = 200) -> PlanDocument:
    """A Job that is admitted and one that is refused, on nodes in three zones and in racks of 40, used differently."""
    names = [f"worker-{place}" for place in range(nodes)]
    zone = [3 * place // nodes for place in range(nodes)]
    used = [(place * 7 + place // 40 * 3) % 6 for place in range(nodes)]
    tagged = [place for place in range(nodes) if place // 20 % 4 == 0]
    infra = [place for place in range(nodes) if place % 40 == 0]
    full = [place for place in range(nodes) if used[place] > 4]
    rules = RuleTable()
    outside = rules.add(
        ClosedNodes("host(Source)", "is not in HostPool Source", ranges(sorted({*range(nodes)} - {*tagged})))
    )
    taint = rules.add(ClosedNodes("", "has the taint dedicated=infra:NoSchedule", ranges(infra)))
    east = rules.add(
        ClosedNodes('nodeSelector zone: "east"', "is not in zone east", ranges(p for p in range(nodes) if zone[p] != 1))
    )
    short = rules.add(ClosedNodes("requests cpu 4", "has less than cpu 4 free", ranges(full)))
    able = [place for place in tagged if place not in {*infra}]
    planned = [0] * nodes
    found = []
    for at in range(elements):
        place = able[at % min(len(able), max(2, elements // 3))]
        planned[place] += 1
        element = PlannedElement(
            name=f"ingest-{at}",
            clauses=("host(Source)",),
            requests={"cpu": "500m", "memory": "1Gi"},
            node=names[place],
            cost=700 + at % 97,
            closed=(outside, taint),
            pools=(0,),
        )
        found.append(element)
    conflict = ("host(Source)", 'nodeSelector zone: "east"', "requests cpu 4", 'hostExlocation("shard")')
    shards = [f"score-{place}" for place in range(4)]
    refusal = "host(Source), nodeSelector, requests and hostExlocation cannot all hold: 2 of 4 processing elements fit."
    return PlanDocument(
        title="Plan",
        cluster=f"{nodes:,} nodes, snapshot cluster.yaml",
        subjects=(
            job("ingest", found, pools=(0,)),
            job(
                "score",
                [PlannedElement(name=name, clauses=conflict, closed=(outside, east, taint)) for name in shards],
                verdict="refused",
                message=f"{refusal}\nNearest fix: drop nodeSelector.",
                conflicts=(Conflict(conflict, tuple(shards), "drop nodeSelector", (outside, east, short, taint)),),
                pools=(0,),
            ),
        ),
        nodes=tuple(
            PlannedNode(
                name,
                (
                    NodeResource(
                        "cpu",
                        "8",
                        f"{used[at]}",
                        *_half(planned[at], 8 - used[at]),
                        125 * used[at],
                        _share(planned[at]),
                    ),
                    NodeResource("pods", "110", "5", f"{planned[at]}", f"{105 - planned[at]}", 45, 9 * planned[at]),
                ),
                taints=("dedicated=infra:NoSchedule",) if at in {*infra} else (),
                labels={
                    "topology.example.com/rack": f"rack-{at // 40}",
                    "topology.kubernetes.io/zone": ("central", "east", "west")[zone[at]],
                },
            )
            for at, name in enumerate(names)
        ),
        pools=(PlannedPool("default", "Source", "Shared", None, (), ranges(tagged), "ingest"),),
        rules=rules.rules,
        total_cost=sum(each.cost or 0 for each in found),
    )


def _half(planned: int, free: int) -> tuple[str, str]:
    """What so many elements of half a cpu take, and what they leave."""
    return f"{500 * planned}m", f"{1000 * free - 500 * planned}m"


def _share(planned: int) -> int:
    return min(1000, 63 * planned)


def hostile() -> PlanDocument:
    """A plan all of whose texts are :data:`HOSTILE`."""
    first, *_ = HOSTILE
    element_names = HOSTILE
    return PlanDocument(
        title=first,
        cluster=HOSTILE[2],
        subjects=(
            Subject(
                file=HOSTILE[3],
                origin=HOSTILE[0],
                namespace=HOSTILE[1],
                verdict="refused",
                message="\n".join(HOSTILE),
                warnings=HOSTILE,
                elements=tuple(
                    PlannedElement(
                        name=name,
                        clauses=HOSTILE,
                        requests={name: name},
                        node=name,
                        closed=(0,) if name != first else (),
                    )
                    for name in element_names
                ),
                pools=(0,),
                relations=(Relation("apart", first, element_names),),
                conflicts=(Conflict(HOSTILE, element_names, first + "!"),),
            ),
        ),
        nodes=tuple(
            PlannedNode(
                name,
                (NodeResource(name, name, name, name, name, 300, 300),),
                taints=HOSTILE,
                pools=HOSTILE,
                labels={"topology.kubernetes.io/zone": name, f"{first}/rack": name},
            )
            for name in HOSTILE
        ),
        pools=(PlannedPool(first, HOSTILE[2], first, 1, _hosts(HOSTILE), ((0, 6),), HOSTILE[1]),),
        rules=(ClosedNodes(HOSTILE[2], HOSTILE[3], ((0, 0),)),),
    )


def _hosts(names: Iterable[str]) -> tuple[PoolHostNode, ...]:
    return tuple(PoolHostNode(place, name) for place, name in enumerate(names))
