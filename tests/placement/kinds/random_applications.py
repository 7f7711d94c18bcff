"""Random objects of all kinds of other operators, written down pod by pod first: what the product has to read of them.

Each kind has a writer, which lays templates and numbers out as the projects' types have it. Nothing of the product's
expansion is used.
"""

import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from tests.builders import NAMESPACE
from tests.placement.planning.exhaustive import Instance, Member, Node
from webhook.app.application_kinds import application_kinds

Json: TypeAlias = dict[str, Any]
JOB: Final = "app"
CORES: Final = 8
"""Cores of a node at most."""

MEMORY: Final = 1 << 37
"""Bytes of a node: enough for whatever overhead an operator adds."""


def millicores(cores: float) -> int:
    """Thousandths of these cores, of which sums are exact."""
    return round(1000 * cores)


@dataclass(frozen=True)
class Machine:
    """A node: cores, the label ``disk``, and bytes."""

    name: str
    cpu: float
    disk: str
    memory: int = MEMORY


@dataclass(frozen=True)
class Part:
    """``count`` equal pods: their clauses, cores, the disk that they select; ``apart`` from the time of all others.

    One that is isolated has a ``name``, by which it is told from all others. A container that the operator adds to each
    takes ``least`` thousandths of a core.
    """

    count: int
    clauses: tuple[str, ...]
    cpu: float
    disk: str
    apart: bool = False
    name: str = ""
    least: int = 0

    @property
    def metadata(self) -> Json:
        """The metadata of a template of these pods."""
        labels = {"streams.ibm.com/job": JOB, **({"streams.ibm.com/pe": self.name} if self.name else {})}
        said = {"streams.ibm.com/placement": ", ".join(self.clauses)} if self.clauses else {}
        return {"labels": labels, "annotations": said}

    def with_only(self, kept: Collection[str]) -> "Part":
        """The same pods with only those of their clauses, the selected disk and the cores that have these texts."""
        clauses = tuple(clause for clause in self.clauses if clause in kept)
        disk = self.disk if f"nodeSelector disk={self.disk}" in kept else ""
        requested = any(re.match(f"requests cpu {self.cores}(,|$)", text) for text in kept)
        return replace(self, clauses=clauses, disk=disk, cpu=self.cpu if requested else 0)

    @property
    def cores(self) -> str:
        """The cores as a quantity."""
        return f"{self.cpu:.0f}" if self.whole else f"{millicores(self.cpu)}m"

    @property
    def whole(self) -> bool:
        """Whether they request whole cores."""
        return self.cpu == int(self.cpu)

    @property
    def resources(self) -> Json:
        """The resources of their container."""
        return {"requests": {"cpu": self.cores}}

    @property
    def selector(self) -> Json:
        """The labels of nodes that they select."""
        return {"disk": self.disk} if self.disk else {}

    def template(self, container: str = "main") -> Json:
        """A template of these pods."""
        spec: Json = {"containers": [{"name": container, "image": "i", "resources": self.resources}]}
        return {"metadata": self.metadata, "spec": {**spec, "nodeSelector": self.selector}}


@dataclass(frozen=True)
class Case:
    """A cluster and an object; ``runtime`` is the one that it refers to.

    ``writing`` is the seed of what the object has beside its parts.
    """

    machines: tuple[Machine, ...]
    kind: tuple[str, str]
    parts: tuple[Part, ...]
    document: Json
    runtime: Json | None
    writing: int = 0

    def instances(self) -> list[Instance]:
        """What has to be placed at a time: all parts that run together, and each of the others by itself."""
        together = [at for at, part in enumerate(self.parts) if not part.apart]
        alone = [[at] for at, part in enumerate(self.parts) if part.apart]
        return [self.instance({at: self.parts[at].count for at in chosen}) for chosen in (together, *alone) if chosen]

    def instance(self, counts: Mapping[int, int], kept: Mapping[int, Collection[str]] | None = None) -> Instance:
        """So many pods of the parts at these places at the same time; with ``kept`` only these texts of each count."""
        nodes = tuple(Node(one.name, {"cpu": millicores(one.cpu)}) for one in self.machines)
        chosen = {at: (replace(self.parts[at], count=count), (kept or {}).get(at)) for at, count in counts.items()}
        return Instance(
            nodes, tuple(member for at, each in chosen.items() for member in self._members(f"part-{at}", *each))
        )

    def with_parts(self, parts: tuple[Part, ...]) -> "Case":
        """The case with an object that is written from parts that took the place of its own, and is else the same."""
        written = _WRITERS[self.kind][0](parts, random.Random(self.writing))  # noqa: S311 -- the same each time
        document = {**self.document, "spec": written.spec}
        return replace(self, parts=written.parts, document=document, runtime=written.runtime)

    def _elements(self) -> set[str]:
        """What pods are by their label ``pe``, or else by the part that they belong to."""
        return {f"element {one.name}" if one.name else f"part-{at} itself" for at, one in enumerate(self.parts)}

    def _members(self, name: str, part: Part, kept: Collection[str] | None) -> list[Member]:
        if kept is not None:
            part = part.with_only(kept)
        allowed = {one.name for one in self.machines if part.disk in {"", one.disk}}
        own = f"element {part.name}" if part.name else f"{name} itself"
        marks, avoids, together = {own}, set(), set()
        for clause in part.clauses:
            family, _, argument = clause.rstrip(")").partition("(")
            token = argument.strip('"')
            if family == "host":
                allowed &= {token}
            elif family == "hostExlocation":
                marks.add(token)
                avoids.add(token)
            elif family == "hostColocation":
                together.add(token)
            else:
                avoids |= self._elements() - {own}
        sets = (frozenset(together), frozenset(marks), frozenset(avoids))
        return [
            Member(f"{name}-{at}", frozenset(allowed), {"cpu": max(millicores(part.cpu), part.least)}, *sets)
            for at in range(part.count)
        ]


def random_application(seed: int) -> Case:
    """The case of that number; the kinds take turns."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(f"node-{letter}", chance.randint(2, CORES), chance.choice(("", "ssd")))
        for letter in "abcd"[: chance.randint(1, 4)]
    )
    kind = list(_WRITERS)[seed % len(_WRITERS)]
    _, counts = _WRITERS[kind]
    parts = tuple(_part(chance, at, counts[at % len(counts)], machines) for at in range(chance.randint(1, len(counts))))
    names = {"name": "app", "namespace": NAMESPACE}
    version = application_kinds()[kind].kind.versions[0]
    document = {"apiVersion": f"{kind[0]}/{version}", "kind": kind[1], "metadata": names}
    return Case(machines, kind, (), document, None, chance.getrandbits(32)).with_parts(parts)


def _part(chance: random.Random, at: int, most: int, machines: Sequence[Machine]) -> Part:
    clauses, count, name = [], chance.randint(1, most), ""
    if chance.random() < 0.5:
        clauses.append(f'hostExlocation("{chance.choice("ab")}")')
    if chance.random() < 0.25:
        clauses.append(f'hostColocation("{chance.choice("cd")}")')
    elif chance.random() < (0.3 if count == 1 else 0.1):
        clauses.append("hostIsolation")
        name = f"pe-{chance.choice((0, at, at))}"
    if chance.random() < 0.12:
        clauses.append(f'host("{chance.choice(machines).name}")')
    return Part(count, tuple(clauses), chance.randint(1, 3), chance.choice(("", "", "", "ssd")), name=name)


@dataclass(frozen=True)
class Written:
    """The spec of an object, the parts as it has them, and the object that it refers to."""

    spec: Json
    parts: tuple[Part, ...]
    runtime: Json | None = None


Writer: TypeAlias = Callable[[tuple[Part, ...], random.Random], Written]
"""Of the parts that it has written, and equal chances, a writer makes the same object once more."""

MANY: Final = 3


def _flink(parts: tuple[Part, ...], chance: random.Random) -> Written:
    managers, workers = parts[0], parts[-1]
    slots = chance.randint(1, 4)
    spec = {
        "jobManager": {"podTemplate": managers.template("flink-main-container"), "replicas": managers.count},
        "taskManager": {"podTemplate": workers.template("flink-main-container"), "resource": {"cpu": workers.cpu}},
        "flinkConfiguration": {"taskmanager.numberOfTaskSlots": str(slots)},
        "job": {"parallelism": slots * workers.count - chance.randint(0, slots - 1)},
    }
    spec["jobManager"]["resource"] = {"cpu": managers.cpu}
    return Written(spec, (managers, workers))


def _spark_part(part: Part) -> Json:
    cores: Json = {"cores": int(part.cpu)} if part.whole else {"coreRequest": part.cores}
    return {"labels": part.metadata["labels"], "annotations": part.metadata["annotations"],
            "nodeSelector": part.selector, **cores}  # fmt: skip


def _spark(parts: tuple[Part, ...], chance: random.Random) -> Written:
    driver, executors = parts[0], parts[-1]
    spec = {"driver": _spark_part(driver), "executor": {**_spark_part(executors), "instances": executors.count}}
    if chance.random() < 0.5:
        spec["dynamicAllocation"] = {"enabled": True, "minExecutors": executors.count, "maxExecutors": 9}
        spec["executor"]["instances"] = 7
    return Written(spec, (_times(driver, 1), executors))


def _times(part: Part, count: int) -> Part:
    return replace(part, count=count)


def _ray(parts: tuple[Part, ...], chance: random.Random) -> Written:
    head, *workers = parts
    workers = [replace(part, least=200) for part in workers]  # their init container waits for the head
    groups = [
        {"groupName": f"g{at}", "replicas": part.count, "minReplicas": part.count, "template": part.template()}
        for at, part in enumerate(workers)
    ]
    if chance.random() < 0.3:
        groups.append({"groupName": "no", "replicas": 3, "suspend": True, "template": head.template()})
    return Written(
        {"headGroupSpec": {"template": head.template()}, "workerGroupSpecs": groups}, (_times(head, 1), *workers)
    )


def _ray_job(parts: tuple[Part, ...], chance: random.Random) -> Written:
    *others, submitter = parts
    if not others:
        return Written(
            {"rayClusterSpec": _ray(parts, chance).spec, "submissionMode": "HTTPMode"}, (_times(submitter, 1),)
        )
    cluster = _ray(tuple(others), chance)
    spec = {"rayClusterSpec": cluster.spec, "submitterPodTemplate": submitter.template("ray-job-submitter")}
    return Written(spec, (*cluster.parts, _times(submitter, 1)))


def _job_set(parts: tuple[Part, ...], chance: random.Random) -> Written:
    jobs, made = [], []
    for at, part in enumerate(parts):
        apart = at > 0 and chance.random() < 0.3
        pods = {
            "parallelism": part.count,
            "completions": chance.choice((None, part.count, 9)),
            "template": part.template(),
        }
        one: Json = {"name": f"j{at}", "template": {"spec": pods}}
        if apart:
            one["dependsOn"] = [{"name": "j0", "status": "Complete"}]
        jobs.append(one)
        made.append(replace(part, apart=apart))
    return Written({"replicatedJobs": jobs}, tuple(made))


def _leader_workers(parts: tuple[Part, ...], chance: random.Random) -> Written:
    leader, worker = parts[0], parts[-1]
    replicas, size = chance.randint(1, 2), chance.randint(1, 3)
    if leader.name or (size > 1 and worker.name):  # of a pod with a name there is one
        replicas, size = 1, min(size, 2)
    worker = worker if size > 1 else leader
    spec = {
        "replicas": replicas,
        "leaderWorkerTemplate": {
            "size": size, "leaderTemplate": leader.template(), "workerTemplate": worker.template(),
        },
    }  # fmt: skip
    workers = [_times(worker, replicas * (size - 1))] if size > 1 else []
    return Written(spec, (_times(leader, replicas), *workers))


def _roles(parts: tuple[Part, ...], chance: random.Random) -> Written:
    """A role of leaders with workers, and one of leaders by a template of their own, at first that of such workers."""
    leader, worker, other = parts[0], parts[-2 if len(parts) > 2 else -1], parts[-1]
    slices, size = (1, 1) if leader.name or worker.name else (chance.randint(1, 2), chance.randint(1, 2))
    pods = {"size": size, "leaderTemplate": leader.template(), "workerTemplate": worker.template()}
    grouped = {"name": "grouped", "spec": {"replicas": 1, "leaderWorkerTemplate": pods}}
    alone: Json = {"name": "alone", "spec": {"leaderWorkerTemplate": {"workerTemplate": other.template()}}}
    if slices == 1 and chance.random() < 0.3:
        alone["scaling"] = {"mode": "External"}
        alone["spec"]["replicas"] = 7
    workers = [_times(worker, slices * (size - 1))] if size > 1 else []
    return Written(
        {"slices": slices, "roles": [grouped, alone]}, (_times(leader, slices), *workers, _times(other, slices))
    )


def _replica_specs(field: str, names: Sequence[str]) -> Writer:
    def written(parts: tuple[Part, ...], _chance: random.Random) -> Written:
        shown = dict(zip(names, parts, strict=False))
        if field == "pytorchReplicaSpecs" and "Worker" in shown:  # whose init container waits for the master
            shown["Worker"] = replace(shown["Worker"], least=50)
        specs = {name: {"replicas": part.count, "template": part.template()} for name, part in shown.items()}
        return Written({field: specs}, tuple(shown.values()))

    return written


def _volcano(parts: tuple[Part, ...], chance: random.Random) -> Written:
    made, stated = [], []
    for at, part in enumerate(parts):
        more = chance.choice((0, 0, 2))
        task = {"name": f"t{at}", "replicas": part.count + more, "template": part.template()}
        stated.append({**task, "minAvailable": part.count} if more else task)
        made.append(part)
    return Written({"tasks": stated}, tuple(made))


def _kafka(parts: tuple[Part, ...], _chance: random.Random) -> Written:
    fields = ("cruiseControl", "kafkaExporter")
    shown = [replace(part, count=1, disk="") for part in parts]
    spec = {
        field: {"resources": part.resources, "template": {"pod": {"metadata": part.metadata}}}
        for field, part in zip(fields, shown, strict=False)
    }
    return Written(spec, tuple(shown))


def _node_pool(parts: tuple[Part, ...], _chance: random.Random) -> Written:
    part = replace(parts[0], disk="")
    pod = {"metadata": part.metadata}
    return Written({"replicas": part.count, "resources": part.resources, "template": {"pod": pod}}, (part,))


def _workflow(parts: tuple[Part, ...], chance: random.Random) -> Written:
    steps, templates, made = [], [], []
    for at, part in enumerate(parts):
        own = {"name": "x", "image": "i", "resources": part.resources}
        templates.append({"name": f"t{at}", "metadata": part.metadata, "nodeSelector": part.selector, "container": own})
        steps.append({"name": f"s{at}", "template": f"t{at}", "withItems": [1] * chance.randint(1, 3)})
        made.append(replace(part, count=1, apart=True))
    unused = {"name": "unused", "container": {"resources": {"requests": {"cpu": "99"}}}}
    if chance.random() < 0.5:
        main: Json = {"name": "main", "steps": [[step] for step in steps]}
    else:
        main = {"name": "main", "dag": {"tasks": steps}}
    return Written({"entrypoint": "main", "templates": [unused, *templates, main]}, tuple(made))


def _train(parts: tuple[Part, ...], chance: random.Random) -> Written:
    loader, trainer = parts[0], parts[-1]
    step = "trainer.kubeflow.org/trainjob-ancestor-step"
    bare = Part(1, (), 0, trainer.disk).template("node")
    node = {"name": "node", "template": {"metadata": {"labels": {step: "trainer"}}, "spec": {"template": bare}}}
    own = {"name": "node", "template": {"spec": {"template": {"metadata": trainer.metadata}}}}
    jobs, made = [node], [trainer]
    if len(parts) > 1:
        first = {"metadata": {"labels": {step: "dataset-initializer"}}, "spec": {"template": loader.template("load")}}
        jobs.insert(0, {"name": "dataset-initializer", "template": first})
        made.insert(0, _times(loader, 1))
        if chance.random() < 0.5:
            node["dependsOn"] = [{"name": "dataset-initializer", "status": "Complete"}]
            made[-1] = replace(trainer, apart=True)
    spec = {
        "runtimeRef": {"name": "torch"},
        "trainer": {"numNodes": trainer.count, "resourcesPerNode": trainer.resources},
        "runtimePatches": [{"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [own]}}}}],
    }
    runtime = {"spec": {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}}}
    return Written(spec, tuple(made), runtime)


def _inside(field: str, writer: Writer) -> Writer:
    def written(parts: tuple[Part, ...], chance: random.Random) -> Written:
        inner = writer(parts, chance)
        return Written({field: inner.spec}, inner.parts, inner.runtime)

    return written


_WRITERS: Final[Mapping[tuple[str, str], tuple[Writer, tuple[int, ...]]]] = {
    ("flink.apache.org", "FlinkDeployment"): (_flink, (2, MANY)),
    ("flink.apache.org", "FlinkBlueGreenDeployment"): (_inside("template", _inside("spec", _flink)), (2, MANY)),
    ("sparkoperator.k8s.io", "SparkApplication"): (_spark, (1, MANY)),
    ("sparkoperator.k8s.io", "ScheduledSparkApplication"): (_inside("template", _spark), (1, MANY)),
    ("ray.io", "RayCluster"): (_ray, (1, MANY, 2)),
    ("ray.io", "RayJob"): (_ray_job, (1, MANY, 1)),
    ("ray.io", "RayCronJob"): (_inside("jobTemplate", _ray_job), (1, MANY, 1)),
    ("ray.io", "RayService"): (_inside("rayClusterConfig", _ray), (1, MANY, 2)),
    ("jobset.x-k8s.io", "JobSet"): (_job_set, (2, 2, 2)),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (_leader_workers, (1, 1)),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): (_roles, (1, 1)),
    ("kubeflow.org", "PyTorchJob"): (_replica_specs("pytorchReplicaSpecs", ("Master", "Worker")), (1, MANY)),
    ("kubeflow.org", "MPIJob"): (_replica_specs("mpiReplicaSpecs", ("Launcher", "Worker")), (1, MANY)),
    ("batch.volcano.sh", "Job"): (_volcano, (2, 2, 2)),
    ("kafka.strimzi.io", "Kafka"): (_kafka, (1, 1)),
    ("kafka.strimzi.io", "KafkaNodePool"): (_node_pool, (MANY,)),
    ("kafka.strimzi.io", "KafkaConnect"): (_node_pool, (MANY,)),
    ("argoproj.io", "Workflow"): (_workflow, (MANY, MANY, MANY)),
    ("argoproj.io", "CronWorkflow"): (_inside("workflowSpec", _workflow), (MANY, MANY)),
    ("trainer.kubeflow.org", "TrainJob"): (_train, (1, MANY)),
}
"""How each kind is written, and at most how many pods each of its parts has."""

KINDS: Final = frozenset(_WRITERS)
