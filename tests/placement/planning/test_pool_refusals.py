"""HostPools of a Job that cannot have their hosts: all of them are told of at once, and the advice works."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.builders import cluster, node
from tests.placement.planning.at_once import AtOnce, element, job_spec, judged
from tests.placement.planning.exhaustive import can_be_placed
from tests.placement.planning.random_jobs import Case, HostPool, Machine, Part, labelled, resized, uncounted
from tests.placement.planning.test_haste import Ending
from tests.placement.planning.test_random_jobs import check_conflict
from tests.suite.example_count import some_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.planning.refusal.pool_refusal import LISTED
from webhook.placement.text import keys
from webhook.placement.text.rule import Rule

CASES = some_of(600)
BATCH = 50
MANY = "HostPools of the Job cannot have their hosts"

FOUR = cluster([*(node(name, labels={keys.TAG: "x"}) for name in "ab"), node("c"), node("d")])
"""Two of these nodes have the tag x."""


def pool(name: str, size: int, tag: str = "", mode: str = "Exclusive") -> dict[str, Any]:
    return {"name": name, "size": size, "mode": mode, **({"tags": [tag]} if tag else {})}


def text(*pools: dict[str, Any], elements: tuple[dict[str, Any], ...] = (), inventory: Inventory = FOUR) -> str:
    """The refusal of a Job with these pools."""
    return judged(job_spec(*(elements or (element(),)), pools=pools), inventory).text


P = pool("P", 3, "x")
Q = pool("Q", 5, mode="Shared")
OF_P = "HostPool P (3 hosts, Exclusive) cannot have its hosts: 2 nodes are eligible (2 nodes lack the tag x)."
OF_Q = "HostPool Q (5 hosts, Shared) cannot have its hosts: 4 nodes are eligible."
ONCE = "Nearest fix: list each host once, by the name or an address of a node."


def test_each_pool_has_its_reason_and_its_fix() -> None:
    assert text(P, Q) == (
        f"{MANY}, for 2 reasons:\n"
        f"  {OF_P} Nearest fix: lower the size of HostPool P to 2.\n"
        f"  {OF_Q} Nearest fix: lower the size of HostPool Q to 2."
    )
    assert not text(pool("P", 2, "x"), pool("Q", 2, mode="Shared"))


def test_it_is_said_if_the_elements_need_more_than_that() -> None:
    apart = element('host(P), hostExlocation("a")')
    assert text(P, Q, elements=(apart, apart, apart)).splitlines()[1:] == [
        f"  {OF_P} Nearest fix: lower the size of HostPool P to 2 (HostPool P could then have its hosts).",
        f"  {OF_Q} Nearest fix: lower the size of HostPool Q to 2 (HostPool Q could then have its hosts).",
    ]


def test_pools_that_want_too_many_hosts_together_are_told_of_together() -> None:
    assert text(pool("A", 4), pool("B", 4), pool("C", 1, "z")) == (
        f"{MANY}, for 2 reasons:\n"
        "  HostPool C (1 host, Exclusive) cannot have its hosts: 0 nodes are eligible (4 nodes lack the tag z). "
        f"Nearest fix: label one more node {keys.TAG}=z (HostPool C could then have its hosts).\n"
        "  HostPool A (4 hosts, Exclusive) and HostPool B (4 hosts, Exclusive) cannot all have their hosts: "
        "4 nodes are eligible. Nearest fix: make more nodes eligible."
    )


def test_lists_of_hosts_are_told_of_with_the_others() -> None:
    lists = ({"name": name, "hosts": [name.lower()]} for name in ("L", "M"))
    verdict = judged(job_spec(element(), pools=(*lists, Q)), FOUR)
    assert verdict.rules == (Rule.POOL,)
    assert verdict.text.splitlines() == [
        f"{MANY}, for 3 reasons:",
        f'  HostPool L cannot be completed: it lists 1 host and finds 0 nodes (hosts[0]: "l" is not a node). {ONCE}',
        f'  HostPool M cannot be completed: it lists 1 host and finds 0 nodes (hosts[0]: "m" is not a node). {ONCE}',
        f"  {OF_Q} Nearest fix: lower the size of HostPool Q to 4.",
    ]


LISTED_POOL = {"name": "L", "hosts": ["l"]}
OF_L = f'HostPool L cannot be completed: it lists 1 host and finds 0 nodes (hosts[0]: "l" is not a node). {ONCE}'


def test_elements_are_told_of_with_lists_of_hosts() -> None:
    """An element on a host of the list is not blamed for the list, but for what else it asks for."""
    elements = (element("host(L)", disk="nvme"), element("host(L)"))
    assert text(LISTED_POOL, elements=elements).splitlines() == [
        f"1 of 2 processing elements cannot run even by itself (app-0), and {MANY}:",
        (
            "  app-0: nodeSelector disk=nvme cannot hold: 0 of 4 nodes can run this pod. "
            "Nearest fix: label one more node disk=nvme, or drop nodeSelector disk=nvme (4 nodes would fit)."
        ),
        f"  {OF_L}",
    ]
    assert text(LISTED_POOL, Q, elements=elements[1:]).splitlines()[1] == f"  {OF_L}"


def test_lists_of_hosts_refuse_a_job_without_any_time() -> None:
    found = judged(job_spec(element(), pools=(LISTED_POOL,)), FOUR, AtOnce(0)).text
    assert found.startswith("HostPool L cannot be completed: it lists 1 host and finds 0 nodes.")


def test_an_element_that_requests_too_much_is_told_of_with_lists_of_hosts() -> None:
    first, *lines = text(LISTED_POOL, elements=(element("host(L)", cpu="99"), element())).splitlines()
    assert first == f"1 of 2 processing elements cannot run even by itself (app-0), and {MANY}:"
    assert [line.split(" ")[2] for line in lines] == ["app-0:", "HostPool"]


def test_elements_that_cannot_run_by_themselves_are_told_of_with_all_pools() -> None:
    assert text(P, Q, elements=(element('host("n")'),)).splitlines() == [
        f"1 of 1 processing element cannot run even by itself (app-0), and {MANY}:",
        (
            '  app-0: host("n") cannot hold: 0 of 4 nodes can run this pod. '
            'Nearest fix: add a node named n, or drop host("n") (4 nodes would fit).'
        ),
        f"  {OF_P} Nearest fix: lower the size of HostPool P to 2.",
        f"  {OF_Q} Nearest fix: lower the size of HostPool Q to 2.",
    ]


def test_of_those_beyond_the_tenth_only_is_said_that_there_are_some() -> None:
    found = text(*(pool(f"P{at}", 1, f"t{at}") for at in range(LISTED + 3))).splitlines()
    assert found[0] == f"{MANY}, for more than 10 reasons:"
    assert len(found) == LISTED + 2
    assert found[-1] == "  and for more reasons"


def test_of_many_pools_that_cannot_all_have_their_hosts_three_are_named() -> None:
    named = ", ".join(f"HostPool P{at} (1 host, Exclusive)" for at in range(3))
    assert text(*(pool(f"P{at}", 1) for at in range(5))).splitlines()[0] == (
        f"{named} and 2 more cannot all have their hosts: 4 nodes are eligible."
    )


def test_reasons_that_a_line_has_no_room_for_are_left_out() -> None:
    listed = {"name": "L", "hosts": [f"{'n' * 60}{at}" for at in range(9)]}
    line = text(listed, Q).splitlines()[1]
    assert len(line) <= 402
    assert 'hosts[0]: "nnn' in line
    assert "hosts[8]" not in line
    assert line.endswith(ONCE)


def test_whenever_time_ends_pools_are_told_of_that_cannot_have_their_hosts() -> None:
    """Of more than 16 nodes the time counts."""
    wide = cluster([node(f"node-{at}") for at in range(20)])
    spec = job_spec(element(), pools=tuple(pool(f"P{at}", 1, f"t{at}") for at in range(3)))
    each = [f"HostPool P{at} (1 host, Exclusive)" for at in range(3)]
    found = [judged(spec, wide, Ending(looks)).text.partition(":")[0] for looks in range(30)]
    assert [*dict.fromkeys(found)] == [
        "",
        "The processing element cannot run (app-0).\nNearest fix",
        ", ".join(each[:-1]) + f" and {each[-1]} cannot all have their hosts",
        "HostPool P0 (1 host, Exclusive) cannot have its hosts",
        f"{MANY}, for 2 reasons",
        f"{MANY}, for 3 reasons",
    ]


def test_a_line_is_cut_at_the_end_at_last() -> None:
    name = "P" * 200
    [line] = text(pool(name, 1, "z"), elements=(element('host("n")'),)).splitlines()[2:]
    assert (len(line), line[-3:]) == (402, "...")


def random_pools(seed: int) -> Case:
    """A cluster, and a Job of up to five HostPools with as many elements."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(f"node-{letter}", 8, chance.choice((0, 0, 0, 1)), tag=chance.choice(("", "x", "x", "y")))
        for letter in "abcde"[: chance.randint(1, 5)]
    )
    pools = tuple(
        HostPool(
            name, chance.randint(1, 4), chance.choice(("Shared", "Exclusive")), chance.choice(((), ("x",), ("y",)))
        )
        for name in "PQRST"[: chance.randint(1, 5)]
    )
    parts = tuple(
        Part(f"pe-{at}", (f"host({pool.name})",), 1) for at, pool in enumerate(pools) if chance.random() < 0.5
    )
    return Case(machines, (*parts, Part("pe-free", (), 1)), pools)


@pytest.mark.examples
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_all_that_is_advised_is_enough_or_says_that_it_is_not(first: int) -> None:
    for seed in range(first, min(first + BATCH, CASES)):
        case = random_pools(seed)
        try:
            check(case)
        except AssertionError as wrong:
            raise AssertionError(f"case {seed}: {case}") from wrong


def check(case: Case) -> None:
    verdict = judged(case.spec(), case.inventory())
    assert verdict.refused is not can_be_placed(case.instance()), verdict.text
    bare = can_be_placed(replace(case, parts=()).instance())
    assert ("HostPool" in re.findall(r"^ *(\w+)", verdict.text, re.MULTILINE)) is not bare, verdict.text
    if bare:
        return
    if verdict.group:
        check_conflict(case, verdict)
    after, enough = followed(case, verdict.text)
    assert can_be_placed(replace(after, parts=()).instance()), verdict.text
    if enough and verdict.group:
        assert can_be_placed(after.instance()), verdict.text
        assert not judged(after.spec(), after.inventory()).refused, verdict.text


def followed(case: Case, text: str) -> tuple[Case, bool]:
    """The case after all of the advice, without pools of which no size is advised; and whether it says to be enough."""
    enough = True
    for said, fix in advice(text):
        shrunk = re.fullmatch(r"lower the size of HostPool (\w) to (\d+)(?: \(HostPool \1 could .*\))?", fix)
        if shrunk:
            case = resized(case, shrunk[1], int(shrunk[2]))
        else:
            names = re.findall(r"HostPool (\w) \(", said)
            check_labels(case, names, fix)
            case = replace(case, pools=tuple(pool for pool in case.pools if pool.name not in names))
        enough = enough and bool(shrunk) and not fix.endswith(")")
    return case, enough


def advice(text: str) -> Iterator[tuple[str, str]]:
    """What cannot hold, and the first fix, of each refusal of HostPools."""
    single = text.startswith("HostPool ")
    for line in [text.replace("\n", " ")] if single else re.findall(r"^  HostPool .*", text, re.MULTILINE):
        said, _, fix = line.partition("Nearest fix: ")
        yield said, uncounted(fix.removesuffix(".").split(", or ")[0])


def check_labels(case: Case, names: list[str], fix: str) -> None:
    """The only pool of these has its hosts by labels that are said to be enough."""
    found = re.fullmatch(r"label (?:one|(\d+)) more nodes? (\S+)=(\w+) \(HostPool (\w) could .*\)", fix)
    if found:
        assert names == [found[4]]
        own = replace(case, parts=(), pools=tuple(pool for pool in case.pools if pool.name in names))
        ways = labelled(own, int(found[1] or 1), found[2], found[3])
        assert any(can_be_placed(way.instance()) for way in ways), fix
