"""Small random clusters and Jobs, what a person would read in them, and the changes that refusals propose."""

import itertools
import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.builders import bound_pod, cluster, node
from tests.placement.planning.at_once import element, job_spec
from tests.placement.planning.exhaustive import Instance, Member, Node, Use
from tests.placement.planning.exhaustive import Pool as AnyHosts
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys
from webhook.placement.text.problem import CLAUSE_LIMIT, shorten

BEYOND = "[7]"
"""An index that no pool has."""

ADDED = re.compile(
    r"add (?:a|(?P<count>\d+)) nodes?(?: with cpu (?P<cpu>\d+)(?:, memory \w+)? (?:free|to offer))?"
    r"(?: (?:and|with) the labels? (?P<labels>\S+=\S+(?: and \S+=\S+)*))?"
)

HELPED = re.compile(
    r" \((?:(?P<least>at least)|only) (?P<help>\d+) of (?P<without>\d+) nodes helps?(?:; (?P<note>.*))?\)$"
)
"""How many of the nodes a label would help, and what else is said of that fix."""

_CLAUSE = re.compile(r"(\w+)(?:\((.*)\))?")


@dataclass(frozen=True)
class Machine:
    """A node: whole cores, how many are used by another job, and the labels ``disk`` and that of tags."""

    name: str
    cpu: int
    used: int = 0
    disk: str = ""
    tag: str = ""


@dataclass(frozen=True)
class HostPool:
    """A HostPool of the Job."""

    name: str
    size: int
    mode: str = "Shared"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A processing element: its clauses, cores, the disk that it selects, and the names of what it only prefers."""

    name: str
    clauses: tuple[str, ...] = ()
    cpu: float = 0
    disk: str = ""
    soft: frozenset[str] = frozenset()

    @property
    def hard(self) -> tuple[str, ...]:
        """The clauses that are required."""
        return tuple(clause for clause in self.clauses if _read(clause)[0] not in self.soft)

    def stated(self) -> dict[str, Any]:
        """The entry of the Job."""
        found = element(", ".join(self.clauses), str(self.cpu), disk=self.disk, name=self.name)
        if self.soft:
            template = found.setdefault("template", {"spec": {"containers": [{"name": "worker", "image": "worker:1"}]}})
            template["metadata"] = {"annotations": {keys.PREFERRED: ",".join(sorted(self.soft))}}
        return found


@dataclass(frozen=True)
class Case:
    """A cluster and a Job."""

    machines: tuple[Machine, ...]
    parts: tuple[Part, ...]
    pools: tuple[HostPool, ...] = ()

    def inventory(self) -> Inventory:
        """The cluster."""
        nodes = [node(one.name, labels=_labels(one), cpu=1000 * one.cpu) for one in self.machines]
        return cluster(nodes, pods=[_guest(one) for one in self.machines if one.used])

    def spec(self) -> JobSpec:
        """The Job."""
        parts = [one.stated() for one in self.parts]
        pools = [{"name": pool.name, "size": pool.size, "mode": pool.mode, "tags": [*pool.tags]} for pool in self.pools]
        return job_spec(*parts, pools=tuple(pools))

    def instance(self, pods: Collection[str] | None = None, clauses: Collection[str] | None = None) -> Instance:
        """The Job for the exhaustive search: with these elements and clauses only, all by default."""
        nodes = tuple(Node(one.name, {"cpu": one.cpu - one.used}) for one in self.machines)
        members = tuple(self._member(part, clauses) for part in self.parts if pods is None or part.name in pods)
        pools = tuple(
            AnyHosts(pool.name, pool.size, self._eligible(pool), pool.mode == "Exclusive") for pool in self.pools
        )
        return Instance(nodes, members, pools)

    def said(self, part: Part) -> dict[str, str]:
        """The texts that refusals have for what the element states, by kind."""
        found = {clause: clause for clause in part.hard}
        if part.disk:
            found["disk"] = f"nodeSelector disk={part.disk}"
        alike = (
            [part]
            if "hostIsolation" in part.clauses  # of equal ones each is isolated from the others by its name
            else [one for one in self.parts if replace(one, name="") == replace(part, name="")]
        )
        names, more = ", ".join(one.name for one in alike[:2]), len(alike) - 2
        whose = f"processing element{'s' * (len(alike) > 1)} {names}{f' and {more} more' if more > 0 else ''}"
        found["cpu"] = f"cpu {part.cpu} (resources of {whose})"
        return found

    def without(self, part: Part, text: str, cpu: float = 0) -> Part:
        """The element without what has that text in refusals; of requests so much is left."""
        texts = {kind: shorten(one, CLAUSE_LIMIT) for kind, one in self.said(part).items()}
        clauses = tuple(clause for clause in part.clauses if clause not in part.hard or texts[clause] != text)
        disk = "" if texts.get("disk") == text else part.disk
        return replace(part, clauses=clauses, disk=disk, cpu=cpu if texts["cpu"] == text else part.cpu)

    def _eligible(self, pool: HostPool) -> frozenset[str]:
        return frozenset(
            one.name
            for one in self.machines
            if (not pool.tags or one.tag in pool.tags) and not (pool.mode == "Exclusive" and one.used)
        )

    def _member(self, part: Part, kept: Collection[str] | None) -> Member:
        texts = self.said(part)
        left = {kind: text for kind, text in texts.items() if kept is None or text in kept}
        allowed = frozenset(one.name for one in self.machines if "disk" not in left or one.disk == part.disk)
        marks, avoids, together, uses = {"all"}, set(), set(), []
        welcome = frozenset(pool.name for pool in self.pools if _names(part, pool))
        # Others that require to be apart from the token see who only prefers it, too.
        marks |= {_read(clause)[1] for clause in part.clauses if clause.startswith("hostExlocation")}
        for clause in part.hard:
            name, argument = _read(clause)
            if clause not in left:
                continue
            if name == "hostExlocation":
                avoids.add(argument)
            elif name == "hostColocation":
                together.add(argument)
            elif name == "hostIsolation":
                avoids.add("all")
            elif argument.startswith('"'):
                allowed &= {argument.strip('"')}
            else:
                pool, _, index = argument.partition("[")
                uses.append(Use(pool, int(index[:-1]) if index else None))
                tags = next(one.tags for one in self.pools if one.name == pool)
                allowed &= {one.name for one in self.machines if not tags or one.tag in tags}
        requests = {"cpu": part.cpu} if "cpu" in left else {}
        keys_of = (frozenset(together), frozenset(marks), frozenset(avoids))
        return Member(part.name, allowed, requests, *keys_of, tuple(uses), welcome)


def _names(part: Part, pool: HostPool) -> bool:
    """Whether a clause of the element names the pool, or a host that the pool has."""
    return any(f"host({pool.name}{index})" in part.clauses for index in ("", *(f"[{at}]" for at in range(pool.size))))


def _read(clause: str) -> tuple[str, str]:
    found = _CLAUSE.fullmatch(clause)
    assert found
    return found[1], found[2] or ""


def _labels(machine: Machine) -> dict[str, str]:
    labels = {"disk": machine.disk, keys.TAG: machine.tag}
    return {key: value for key, value in labels.items() if value}


def _guest(machine: Machine) -> PodInfo:
    return bound_pod(machine.name, job="other", requests={"cpu": 1000 * machine.used})


def random_case(seed: int) -> Case:
    """The case of that number."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(
            f"node-{letter}", chance.randint(2, 8), chance.choice((0, 0, 1, 2)), chance.choice(("", "ssd", "hdd")),
            chance.choice(("", "x")),
        )
        for letter in "abcd"[: chance.randint(1, 4)]
    )  # fmt: skip
    pools = tuple(
        HostPool(name, chance.randint(1, 2), chance.choice(("Shared", "Exclusive")), chance.choice(((), (), ("x",))))
        for name in "PQ"[: chance.choice((0, 0, 1, 1, 2))]
    )
    count = chance.randint(1, 5)
    return Case(machines, tuple(_part(chance, at, machines, pools) for at in range(count)), pools)


def _part(chance: random.Random, at: int, machines: tuple[Machine, ...], pools: tuple[HostPool, ...]) -> Part:
    clauses = []
    if chance.random() < 0.45:
        clauses.append(f'hostExlocation("{chance.choice("ab")}")')
    tokens = chance.sample("cd", chance.choice((0, 0, 0, 1, 2)))
    clauses += [f'hostColocation("{token}")' for token in sorted(tokens)]
    if chance.random() < (0.05 if tokens else 0.25):
        clauses.append("hostIsolation")
    if pools and chance.random() < 0.4:
        pool = chance.choice(pools)
        clauses.append(f"host({pool.name}{chance.choice(('', '', f'[{pool.size - 1}]'))})")
    elif chance.random() < 0.12:
        clauses.append(f'host("{chance.choice(machines).name}")')
    return Part(f"pe-{at}", tuple(clauses), chance.randint(1, 4), chance.choice(("", "", "", "ssd")))


def random_wishes(seed: int) -> Case:
    """The case of that number, in which elements only prefer some of what they say, or prefer what there is not."""
    case = random_case(seed)
    chance = random.Random(~seed)  # noqa: S311 -- the same cases each time
    return replace(case, parts=tuple(_wishing(chance, part, case.pools) for part in case.parts))


def _wishing(chance: random.Random, part: Part, pools: tuple[HostPool, ...]) -> Part:
    kinds = ("host", "hostColocation", "hostExlocation", "hostIsolation")
    soft = frozenset(kind for kind in kinds if chance.random() < 0.4)
    clauses = part.clauses
    if "host" in soft and chance.random() < 0.5:
        hosts = ['host("gone")', 'host("10.9.9.9")', "host(R)", *(f"host({pool.name}{BEYOND})" for pool in pools)]
        hosts += [f"host({pool.name})" for pool in pools]
        clauses = (*(clause for clause in clauses if _read(clause)[0] != "host"), chance.choice(hosts))
    return replace(part, clauses=clauses, soft=soft)


# The changes that a fix names


def applied(case: Case, fix: str) -> Iterator[Case]:
    """The cases after the change, for each way to do it; refusals do not say which node is meant."""
    fix = uncounted(fix)
    if found := re.fullmatch(r"(?:drop|lower) (.*?)(?: to cpu (\d+)(m?))? \((?:it|all \d+) would fit\)", fix):
        cpu = int(found[2] or 0) / (1000 if found[3] else 1)
        yield replace(case, parts=tuple(case.without(part, found[1], cpu) for part in case.parts))
    elif found := re.fullmatch(r"give HostPool (\w) (\d+) hosts?|lower the size of HostPool (\w) to (\d+)", fix):
        yield resized(case, found[1] or found[3], int(found[2] or found[4]))
    elif found := ADDED.fullmatch(fix):
        yield grown(case, int(found["count"] or 1), int(found["cpu"] or 0), found["labels"] or "")
    elif found := re.fullmatch(r"label (?:one|(\d+)) more nodes? (\S+)=(\w+)", fix):
        yield from labelled(case, int(found[1] or 1), found[2], found[3])
    elif found := re.fullmatch(r"label node (\S+) (\S+)=(\w+)", fix):
        yield from (one for one in labelled(case, 1, found[2], found[3]) if _others_stay(case, one, found[1]))
    else:
        assert fix in ("no single change helps", "make more nodes eligible") or fix.endswith(
            (" could then have its hosts)", " would be eligible)")
        ), fix


def uncounted(fix: str) -> str:
    """The fix without how many nodes would do."""
    return HELPED.sub(lambda found: f" ({found['note']})" if found["note"] else "", fix)


def resized(case: Case, name: str, size: int) -> Case:
    """The case with that pool of that size."""
    return replace(case, pools=tuple(replace(pool, size=size) if pool.name == name else pool for pool in case.pools))


def grown(case: Case, count: int, cpu: int, labels: str = "") -> Case:
    """The case with so many more nodes that have these labels and no others."""
    said = dict(one.split("=") for one in labels.split(" and ") if one)
    disk, tag = said.pop("disk", ""), said.pop(keys.TAG, "")
    assert not said
    first = len(case.machines)  # a node that is added later has a name of its own
    more = [Machine(f"new-{first + at}", cpu, disk=disk, tag=tag) for at in range(count)]
    return replace(case, machines=(*case.machines, *more))


def labelled(case: Case, count: int, key: str, value: str) -> Iterator[Case]:
    for chosen in itertools.combinations(case.machines, count):
        yield replace(case, machines=tuple(_set(one, key, value) if one in chosen else one for one in case.machines))


def _others_stay(case: Case, after: Case, name: str) -> bool:
    """Whether all machines but that one are as they were."""
    return all(one.name == name or one in after.machines for one in case.machines)


def _set(machine: Machine, key: str, value: str) -> Machine:
    return replace(machine, disk=value) if key == "disk" else replace(machine, tag=value)
