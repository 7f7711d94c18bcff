"""Random Jobs of operators, fused and placed, against a search of all partitions and all placements.

A refusal is checked as well: its clauses cannot hold, any fewer of them can, and each of its fixes works.
"""

import itertools
import random
from collections.abc import Sequence
from typing import Any, Final

import pytest

from tests.builders import cluster, node
from tests.fusion_jobs import fused_job
from tests.placement.jobs.operators.fusion_oracle import Job, Oracle, expanded
from tests.placement.jobs.operators.fusion_refusals import wrong_words
from tests.suite.example_count import some_of
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.text.fix import Advice
from webhook.placement.text.problem import Fault

NODES: Final = ("node-a", "node-b", "node-c", "node-d")
CLAUSES: Final = (
    'partitionColocation("p")',
    'partitionExlocation("x")',
    "partitionIsolation",
    'host("node-a")',
    'host("node-b")',
    'hostColocation("c")',
    'hostExlocation("e")',
    "hostIsolation",
)
OPTIONS: Final = ({}, {}, {}, {}, {"restartable": False}, {"restartable": False}, {"relocatable": False})
TYPES: Final = ("channelIsolation", "channelExlocation")
_FEW_LARGE: Final = 300
"""Of the first Jobs fewer are large: each takes half a second."""

EXAMPLES: Final = some_of(5000, every_day=12)


def random_job(seed: int) -> tuple[Job, dict[str, int]]:
    """A Job of up to five operators, some of six to eight, and the CPU of each of up to four nodes."""
    draw = random.Random(seed)  # noqa: S311 -- a seed gives the same Job in each run
    large = seed % (50 if seed < _FEW_LARGE else 10) == 0
    names = [f"Op{at}" for at in range(draw.randint(6, 8) if large else draw.randint(1, 5))]
    operators = []
    for name in names:
        chosen = draw.sample(CLAUSES, draw.choice((0, 0, 1, 1, 2)))
        hosts = [clause for clause in chosen if clause.startswith("host(")]
        placement = ", ".join(clause for clause in chosen if clause not in hosts[1:])
        cost = draw.choice((100, 200, 200, 400, 400, 0))
        own = {"name": name, **({"cost": f"{cost}m"} if cost else {})}
        operators.append(own | ({"placement": placement} if placement else {}) | draw.choice(OPTIONS))
    streams = [
        {"from": one, "to": other, "rate": draw.randint(1, 9)}
        for one, other in itertools.combinations(names, 2)
        if draw.random() < 0.5
    ]
    fusion = draw.choice(({"manual": draw.randint(1, 4)}, {"manual": 1}, {"legacy": True}))
    nodes = {name: draw.choice((300, 600, 1000)) for name in NODES[: draw.randint(1, len(NODES))]}
    return {"operators": operators, "streams": streams, "fusion": fusion}, nodes


def blocks_of(model: Any, names: Sequence[str]) -> list[list[int]]:
    """The partition that the product has chosen."""
    return [[names.index(name) for name in one.operators] for one in model.fusion.processing_elements]


def with_regions(seed: int) -> tuple[Job, dict[str, int]]:
    """The same with one or two parallel regions, and a type; channels make at most six operators of it, or eight."""
    job, nodes = random_job(seed)
    draw = random.Random(f"regions {seed}")  # noqa: S311 -- as above
    job["operators"] = job["operators"][:4]
    names = {one["name"] for one in job["operators"]}
    job["streams"] = [one for one in job["streams"] if {one["from"], one["to"]} <= names]
    job["fusion"] |= draw.choice(({}, {"type": "noChannelInfluence"}, *2 * [{"type": each} for each in TYPES]))
    outer = {"name": "r", "width": draw.randint(1, 3)}
    inner = {"name": "s", "width": draw.randint(1, 2), **draw.choice(({}, {"within": "r"}))}
    job["parallelRegions"] = [outer, *draw.choice(([], [inner]))]
    for at, operator in enumerate(job["operators"]):
        if at == 0 or draw.random() < 0.5:
            operator["region"] = draw.choice(job["parallelRegions"])["name"]
            own = 'partitionColocation("q" + byChannel())'
            if draw.random() < 0.3:
                operator["placement"] = ", ".join(filter(None, (operator.get("placement"), own)))
    most = 8 if seed % 10 == 0 else 6
    while len(expanded(job)["operators"]) > most:
        gone = job["operators"].pop()["name"]
        job["streams"] = [one for one in job["streams"] if gone not in {one["from"], one["to"]}]
    return job, nodes


def check(seed: int, job: Job, nodes: dict[str, int]) -> None:
    """The Job is fused in the best way of all in which it fits, or rightly refused, in words that are true."""
    whole = expanded(job)
    oracle = Oracle(whole, nodes)
    model = fused_job(job, cluster([node(name, cpu=cpu) for name, cpu in nodes.items()]))
    best = None if oracle.contradictory() else oracle.best()
    assert model.verdict.refused is (best is None), (seed, job, nodes, model.verdict.text, best)
    if best is None:
        assert wrong_words(model.verdict, job, nodes) == [], (seed, job, nodes, model.verdict.text)
    else:
        chosen = blocks_of(model, [one["name"] for one in whole["operators"]])
        assert oracle.allowed(chosen), (seed, job)
        assert oracle.fits(chosen), (seed, job)
        assert oracle.goals(chosen) == best, (seed, job, nodes, chosen)


@pytest.mark.examples
def test_fusion_and_placement_are_the_best_of_all() -> None:
    for seed in range(EXAMPLES):
        check(seed, *random_job(seed))


@pytest.mark.examples
def test_fusion_and_placement_of_parallel_regions_are_the_best_of_all() -> None:
    for seed in range(some_of(500, every_day=5)):
        check(seed, *with_regions(seed))


ISOLATED: Job = {
    "operators": [
        {"name": "Op0", "cost": "200m", "placement": "hostIsolation, partitionIsolation"},
        {"name": "Op1", "cost": "200m"},
    ],
    "streams": [],
    "fusion": {"manual": 1},
}
CONTRADICTORY: Job = {
    "operators": [
        {"name": "Op0", "cost": "200m", "placement": 'partitionColocation("p"), partitionIsolation'},
        {"name": "Op1", "cost": "200m", "placement": 'partitionColocation("p")'},
    ],
    "streams": [],
    "fusion": {"manual": 1},
}
ISOLATION = ("Op0: hostIsolation", "Op0: partitionIsolation")
TIED = ('Op0: partitionColocation("p")', 'Op1: partitionColocation("p")', "Op0: partitionIsolation")


@pytest.mark.parametrize(
    ("job", "clauses", "fix", "wrong"),
    [
        (ISOLATED, ISOLATION, "drop Op0: hostIsolation", []),
        (ISOLATED, ISOLATION, "add a node with cpu 200m free", []),
        (ISOLATED, ISOLATION, "add a node with cpu 100m free", ["does not help: add a node with cpu 100m free"]),
        (ISOLATED, ISOLATION, "drop Op1: cost 200m", ["does not help: drop Op1: cost 200m"]),
        (ISOLATED, ISOLATION[:1], "no single change helps", ["the clauses can hold"]),
        (
            ISOLATED,
            (*ISOLATION, "Op1: cost 200m"),
            "add 2 nodes",
            ["not needed: Op1: cost 200m", "does not help: add 2 nodes"],
        ),
        (
            ISOLATED,
            (*ISOLATION, "Op1: hostIsolation"),
            "drop Op0: partitionIsolation",
            ["clauses that nobody stated: ['Op1: hostIsolation']", "not needed: Op1: hostIsolation"],
        ),
        (CONTRADICTORY, TIED, "drop Op0: partitionIsolation", []),
        (
            CONTRADICTORY,
            TIED,
            "drop Op0: partitionIsolation (not enough by itself)",
            ["does not help: drop Op0: partitionIsolation (not enough by itself)"],
        ),
        (CONTRADICTORY, TIED[:2], "no single change helps", ["the clauses can hold"]),
        (CONTRADICTORY, (*TIED, "Op0: cost 200m"), "no single change helps", ["not needed: Op0: cost 200m"]),
    ],
)
def test_wrong_words_are_found(job: Job, clauses: tuple[str, ...], fix: str, wrong: list[str]) -> None:
    """One node: an isolated operator leaves no room for another one."""
    refusal = Refusal("", clauses, Fault.FORBIDDEN, (), (Advice(fix),))
    assert wrong_words(JobVerdict(refusal=refusal), job, {"node-a": 1000}) == wrong


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ('host("node-b") cannot hold: no. Nearest fix: add a node named node-b, or drop host("node-b").', []),
        ('cpu 200m cannot hold: no. Nearest fix: drop host("node-b").', ["the clauses can hold: ['cpu 200m']"]),
        (
            'host("node-b") and cpu 200m cannot both hold: no. Nearest fix: lower cpu 200m to cpu 100m.',
            [
                "not needed: one of ['host(\"node-b\")', 'cpu 200m']",
                "does not help: lower cpu 200m to cpu 100m",
            ],
        ),
        ("no words.", ["told of [] and 0 more instead of [0]"]),
    ],
)
def test_wrong_words_about_a_single_operator_are_found(said: str, wrong: list[str]) -> None:
    job = {"operators": [{"name": "Op0", "cost": "200m", "placement": 'host("node-b")'}], "streams": [], "fusion": {}}
    assert wrong_words(JobVerdict(text=f"operator Op0: {said}"), job, {"node-a": 1000}) == wrong
