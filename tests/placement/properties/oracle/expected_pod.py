"""What a pod must say in the end, written down from the documents of the wire format, not from the product's code."""

from collections.abc import Iterator, Mapping

import msgspec

from tests.placement.properties.clusters import Cluster, Json, digest
from tests.placement.properties.oracle.hardware import Need
from tests.placement.properties.oracle.job_pods import HOSTNAME
from tests.placement.properties.oracle.node_check import MEMBERSHIP, Oracle
from tests.placement.properties.oracle.request import PREFIX, OracleRequest
from tests.placement.properties.oracle.selectors import holds, selector_holds
from webhook.placement.objects.pool import Pool
from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName


class Intended:
    """Everything that the clauses of one pod stand for; ``judge`` knows its job."""

    def __init__(self, judge: Oracle, cluster: Cluster) -> None:
        self.judge, self.cluster = judge, cluster
        self.asked: OracleRequest = judge.asked

    def labels(self) -> dict[str, str]:
        """A label for each token, for a group of several, and for each isolated operator of the job's others."""
        found = {
            f"{PREFIX}{name.value.lower()}.{digest(token)}": token
            for name in (ClauseName.COLOCATION, ClauseName.EXLOCATION)
            for token in self._tokens(name)
        }
        found |= {_isolation(operator): operator for operator in self.isolated_others()}
        found |= {f"{PREFIX}worker": "true"} if self.asked.uniform != "none" else {}
        group = self._group()
        return found if len(group) < 2 else found | {_group_key(group): "group"}

    def near(self) -> tuple[list[Json], list[Json]]:
        """Required and preferred terms of the pod affinity."""
        group, others = self._group(), self._others("all-same-node", "near")
        if not group:
            return others
        key, value = (_group_key(group), "group")
        if len(group) == 1:
            value = next(iter(group))
            key = f"{PREFIX}hostcolocation.{digest(value)}"
        found = self._split("hostColocation", [self._term({"key": key, "operator": "In", "values": [value]})])
        return found[0] + others[0], found[1] + others[1]

    def away(self) -> tuple[list[Json], list[Json]]:
        """Required and preferred terms of the pod anti-affinity."""
        exlocated = [
            self._term({"key": f"{PREFIX}hostexlocation.{digest(token)}", "operator": "In", "values": [token]})
            for token in self._tokens(ClauseName.EXLOCATION)
        ]
        isolated = [
            self._term({"key": _isolation(operator), "operator": "In", "values": [operator]})
            for operator in self._operators()
        ]
        told = {operator for pe, operator in self._modelled() if pe == self.asked.pe}
        if isolated and not told.issuperset(self._operators()):
            others = {"key": f"{PREFIX}pe", "operator": "NotIn", "values": [self.asked.pe]}
            isolated.append(self._term(*([others] if self.asked.pe else [])))
        one, two = self._split("hostExlocation", exlocated), self._split("hostIsolation", isolated)
        three = self._others("all-separate-nodes", "away")
        return one[0] + two[0] + three[0], one[1] + two[1] + three[1]

    def _others(self, uniform: str, side: str) -> tuple[list[Json], list[Json]]:
        """The terms of a uniform mapping, and of the company on one side."""
        worker = self._term({"key": f"{PREFIX}worker", "operator": "In", "values": ["true"]})
        required, preferred = self._split("uniform", [worker] if self.asked.uniform == uniform else [])
        company: list[Json] = [
            {"labelSelector": {"matchExpressions": needs}, "topologyKey": HOSTNAME}
            for found, needs in self.asked.company
            if found == side
        ]
        return required + company, preferred

    def mapping_holds(self, labels: Mapping[str, str]) -> bool:
        """Whether the affinity may match a node of these labels, as far as worker mapping and hardware go."""
        hardware = all(labels.get(key) == value for key, value in self.asked.equipment.labels.items())
        return hardware and ("mapping" in self.asked.soft or all(holds(need, labels) for need in self.asked.mapped))

    def seen(self, labels: Mapping[str, str]) -> bool:
        """Whether the scheduler sees who else is on a node of these labels, if the pod requires something of them."""
        names = (ClauseName.COLOCATION, ClauseName.EXLOCATION, ClauseName.ISOLATION)
        uniform = any(self.asked.uniformly(how) for how in ("all-same-node", "all-separate-nodes"))
        hosts = [node.labels.get(HOSTNAME) for node in self.cluster.nodes]
        own = HOSTNAME in labels and (labels[HOSTNAME] != "" and hosts.count(labels[HOSTNAME]) < 2)
        return own or not (uniform or self.asked.company or any(map(self.asked.of, names)))

    def resources(self) -> dict[str, dict[Need, int]]:
        """Requests and limits of the containers in the end."""
        given = self.asked.equipment.given | self.judge.granted()[0]
        # Who asks for what it wants already has it, with the limit that belongs to it.
        given |= self.asked.had
        requests = {need: found[0] for need, found in given.items()}
        limits = {need: found[1] for need, found in given.items() if found[1] is not None}
        return {"requests": self.asked.own | requests, "limits": limits}

    def tolerations(self) -> list[Json]:
        """The taint of each exclusive pool."""
        values = dict.fromkeys(f"{pool.namespace}.{pool.name}" for _, pool in self.asked.pools if pool.exclusive)
        return [
            {"key": f"{PREFIX}exclusive", "operator": "Equal", "value": value, "effect": "NoSchedule"}
            for value in values
        ]

    def node_name(self) -> str:
        """The node that the pod is bound to, if it is."""
        own: str = self.asked.spec.get("nodeName") or ""
        meant = [found.name for found in self.cluster.nodes if self.judge.named(found)]
        return own or (meant[0] if self.asked.binds and meant else "")

    def isolated_others(self) -> set[str]:
        """The operators with ``hostIsolation`` in the job's other processing elements."""
        if not self.asked.job:
            return set()
        live = {(pod.pe, operator) for pod in self.judge.job_pods for operator in pod.isolated}
        known = live.union(self._modelled())
        return {
            operator
            for pe, operator in known
            if (pe != self.asked.pe if self.asked.pe else operator not in self._operators())
        }

    def clause_holds(self, clause: PlacementClause, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the affinity may match a node of that name and labels, as far as this clause goes."""
        if clause not in self.asked.of(ClauseName.HOST):
            return True
        if isinstance(clause.argument, str):
            meant = [found.name for found in self.cluster.nodes if self.judge.is_host(found, clause.argument)]
            return self.asked.binds or name in (meant or [clause.argument])
        return all(
            self._member(pool, clause.argument, labels)
            and self.judge.tagged(labels, pool)
            and (pool.selector is None or selector_holds(msgspec.to_builtins(pool.selector), labels))
            for found, pool in self.asked.pools
            if found == clause and isinstance(clause.argument, PoolName)
        )

    def _member(self, pool: Pool, named: PoolName, labels: Mapping[str, str]) -> bool:
        label = labels.get(MEMBERSHIP + digest(f"{pool.namespace}/{pool.name}"))
        return not pool.sized or (label is not None if named.index is None else label == str(named.index))

    def _modelled(self) -> Iterator[tuple[str, str]]:
        """Processing element and operator of each isolation in the Job object."""
        for element, operator, clauses in self.judge.model_clauses():
            for clause in clauses:
                if clause.name is ClauseName.ISOLATION:
                    yield element, clause.operator or operator or element

    def _clauses(self, name: ClauseName) -> list[PlacementClause]:
        return [clause for clause in self.asked.clauses if clause.name is name]

    def _tokens(self, name: ClauseName) -> list[str]:
        return list(dict.fromkeys(str(clause.argument) for clause in self._clauses(name)))

    def _operators(self) -> list[str]:
        return list(dict.fromkeys(clause.operator or self.asked.pe for clause in self._clauses(ClauseName.ISOLATION)))

    def _group(self) -> set[str]:
        return self.judge.group(set(self._tokens(ClauseName.COLOCATION)))

    def _term(self, *expressions: Json) -> Json:
        of_job = {"key": f"{PREFIX}job", "operator": "In", "values": [self.asked.job]}
        return {"labelSelector": {"matchExpressions": [*expressions, of_job]}, "topologyKey": HOSTNAME}

    def _split(self, name: str, terms: list[Json]) -> tuple[list[Json], list[Json]]:
        if name in self.asked.soft:
            return [], [{"weight": 100, "podAffinityTerm": term} for term in terms]
        return terms, []


def _isolation(operator: str) -> str:
    return f"{PREFIX}hostisolation.{digest(operator)}"


def _group_key(group: set[str]) -> str:
    return f"{PREFIX}hostcolocation.{digest(chr(10).join(sorted(group)))}"
