"""Small clusters that have a bit of everything."""

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.placement.properties.clusters import SECRET, STRANGERS, TEAM, Cluster, digest
from tests.placement.properties.oracle.hardware import FPGA, GPU
from tests.placement.properties.oracle.job_pods import HOSTNAME
from tests.placement.properties.random_choices import RandomChoices, drawn
from webhook.placement.kube.pod import LabelSelector, Requirement
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Phase, Pool, PoolHost

GI = 2**30
NODES = tuple(f"{SECRET}{at}" for at in range(8))
TAGS = ("blue", "red")
ELEMENTS = ("a", "b", "c")
SPL_NAMES = ("P", "Q", "R")
PREFIX = "streams.ibm.com/"

TAINTS = (
    Taint("dedicated", "infra", "NoSchedule"),
    Taint("dedicated", "ml", "NoExecute"),
    Taint("dedicated", "ml", "PreferNoSchedule"),
    Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"),
    Taint(f"{PREFIX}exclusive", f"{TEAM}.p-0", "NoSchedule"),
    Taint(f"{PREFIX}exclusive", f"{STRANGERS}.x", "NoSchedule"),
    Taint(f"{PREFIX}exclusive", f"{STRANGERS}.x", "PreferNoSchedule"),
)
LABELS: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (6, "zone", ("a", "a", "b")),
    (6, "cores", ("8", "2", "-3", "+8", "many", "")),
    (5, f"{PREFIX}hostpool", TAGS),
    (5, "hostpool.streams.ibm.com/blue", ("",)),
    (5, "hostpool.streams.ibm.com/red", ("x",)),
    (1, "node-role.kubernetes.io/control-plane", ("",)),
)
"""How many times of eight a label is there, its key, and its values."""
SELECTOR = LabelSelector({"zone": "a"}, (Requirement("cores", "NotIn", ("2",)),))
KINDS = ("sized", "exclusive", "tagged", "selected", "literal", "all", "sized", "exclusive", "tagged")


def node(choices: RandomChoices, name: str) -> Node:
    """A node with or without each label, sometimes with a taint, a second address, another size."""
    at = name.removeprefix(SECRET)
    labels = {key: choices.pick(values) for times, key, values in LABELS if choices.chance(times)}
    if hostname := choices.pick([name] * 13 + ["shared", "shared", ""]):
        labels["kubernetes.io/hostname"] = hostname
    taints = choices.some(TAINTS, 2, 1) if choices.face(6) == 1 else ()
    allocatable = {"cpu": choices.pick([4000, 4000, 1000, 2000]), "memory": 4 * GI, "pods": 4}
    if choices.chance(4):
        allocatable |= choices.pick([{GPU: 1}, {"pods": 1}, {"memory": GI}, {GPU: 1, FPGA: 1}, {GPU: 2}, {FPGA: 1}])
    addresses = (f"10.0.0.{at}", f"fd00::{at}", *(["10.0.0.99"] if choices.chance(1) else ()))
    return Node(name, choices.pick("1" * 19 + "2") + at, labels, tuple(taints), addresses, allocatable)


def pool(choices: RandomChoices, at: int, names: Sequence[str]) -> Pool:
    """A pool that its controller has or has not dealt with, whose hosts may have gone since."""
    spl = SPL_NAMES[at] if at < len(SPL_NAMES) else choices.pick(SPL_NAMES)
    kind = choices.pick(KINDS)
    tags = choices.some(TAGS, 2) if kind not in {"literal", "all"} else []
    size = 1 + choices.face(3) if kind in {"sized", "exclusive"} else None
    hosts = tuple(choices.some([*NODES[:4], "10.0.0.1", "10.0.0.5", "fd00:0::6"], 3, 1)) if kind == "literal" else None
    phase = choices.pick([Phase.READY] * 12 + [Phase.PENDING] * 6 + [Phase.FAILED, Phase.RELEASING])
    count = size or len(hosts or ())
    given = (
        choices.some(names, count, count) if count <= len(names) and (phase is Phase.READY or choices.chance(1)) else []
    )
    given = list(dict.fromkeys(NODES[int(text[-1])] for text in hosts)) if hosts and given else given
    if phase is Phase.READY and len(given) < count:
        phase = Phase.PENDING
    return Pool(
        namespace=choices.pick([TEAM] * 19 + [STRANGERS]),
        name=f"{spl.lower()}-{at}",
        spl_name=spl,
        job=choices.pick([None] * 12 + ["j", "j", "k"]) if at < len(SPL_NAMES) else choices.pick(["j", None]),
        hosts=hosts,
        size=size,
        tags=tuple(tags),
        selector=SELECTOR if kind == "selected" else None,
        mode="Exclusive" if kind == "exclusive" else "Shared",
        elastic=choices.chance(1),
        phase=phase,
        assigned=tuple(PoolHost(index, name, "1" + name.removeprefix(SECRET)) for index, name in enumerate(given)),
    )


def bound(choices: RandomChoices, at: int, names: Sequence[str]) -> PodInfo:
    """A pod that holds something: of the job or not, on its way in or out, maybe on a node that is not there."""
    used = choices.pick([{"cpu": 500}, {"cpu": 1000}, {"cpu": 2000}, {"cpu": 500, GPU: 1}, {"cpu": 500}, {FPGA: 1}])
    requests = used | {"memory": GI // 2, "pods": 1}
    uid, job, where = f"{SECRET}pod-{at}", choices.pick(["j"] * 5 + ["k", ""]), choices.pick(names[:4])
    namespace = choices.pick([TEAM] * 5 + [STRANGERS])
    if not job:
        return PodInfo(uid, namespace, where, requests, guards=(HOSTNAME,) if requests.get("cpu") == 2000 else ())
    labels = {f"{PREFIX}job": job}
    for token in choices.some(["t", "u", "x", "y", "group"], 3, 1):
        kind = "hostexlocation" if token in "xy" else "hostcolocation"
        labels[f"{PREFIX}{kind}.{digest('t' + chr(10) + 'u' if token == 'group' else token)}"] = token
    if choices.chance(2):
        labels[f"{PREFIX}worker"] = "true"
    kept_away = [(key, value) for key, value in labels.items() if "hostexlocation" in key or key.endswith("/worker")]
    repels = tuple(mark for mark in kept_away if len(labels) % 2)  # the others only prefer it
    return PodInfo(
        uid=uid,
        namespace=namespace,
        node=where if choices.chance(7) else "",
        requests=requests,
        job=job,
        pe=choices.pick(ELEMENTS),
        pools=tuple(choices.some(SPL_NAMES, 1)),
        labels=labels,
        isolated=("Sink",) if choices.chance(2) else (),
        terminating=choices.chance(1),
        cpu_bound=choices.face(40) == 1,
        guards=(HOSTNAME,) if repels else (),
        repels=repels,
    )


TEXTS = ('hostColocation("t"), hostColocation("u")', 'hostColocation("t")', "hostIsolation", "host(P)", "host(")


def job(choices: RandomChoices, name: str) -> StreamsJob:
    """A Job object that may or may not say the same as its pods."""
    return StreamsJob(
        TEAM,
        name,
        tuple(
            Element(element, tuple((operator, choices.pick(TEXTS)) for operator in choices.some(["Sink", "Work"], 2)))
            for element in choices.some(ELEMENTS, 3)
        ),
    )


def cluster(choices: RandomChoices) -> Cluster:
    """Up to eight nodes, six pods, four pools, and the Job objects of some of the jobs."""
    counts = choices.part(5)
    names = choices.part(9).some(NODES, 8)
    known = names if counts.chance(6) and names else NODES  # nodes that pods and pools know of may have gone since
    return Cluster(
        tuple(node(choices.part(18), name) for name in names),
        tuple(bound(choices.part(17), at, known) for at in range(counts.face(7))),
        tuple(pool(choices.part(16), at, known) for at in range(counts.pick([3] * 10 + [4, 4, 2, 1]))),
        tuple(job(choices.part(16), name) for name in counts.part(2).some(["j", "k"], 2)),
    )


def clusters() -> st.SearchStrategy[Cluster]:
    """Small clusters.

    Hypothesis likes to try the bytes of one thing for those of another. They mean something there if both take equally
    many; otherwise it tries the simplest cluster of all, an empty one, again and again.
    """
    return drawn(360, cluster)
