"""CPU time of one decision in this process, and that of a plain loop over the nodes.

Times are CPU time of this thread, in microseconds, so other load on the machine does not count.
"""

import gc
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import thread_time_ns
from typing import TypeVar

from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from bench.generated import bodies
from bench.generated.generator import fill, inventory
from bench.generated.topology import NAMESPACE, Scale
from bench.reviews import nodeloop
from webhook.admission.mutate import mutate
from webhook.admission.review import read_review
from webhook.app.cluster_source import settle
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.text import keys

ROUNDS = 1000
"""Times that every body of the mixed set is decided: 120 of the 12,000 durations are beyond the 99th percentile."""

LOOP_ROUNDS = 3
"""The same for the loop, which takes a hundred times as long and varies little."""

POLICY = Policy()
_POD = Decoder(Pod)

_Argument = TypeVar("_Argument")


class Times(Struct, frozen=True):
    """A distribution of durations in microseconds."""

    median: float
    p99: float

    def __str__(self) -> str:
        return f"p50 {self.median:,.0f} µs, p99 {self.p99:,.0f} µs"


class Evaluation(Struct, frozen=True):
    """What was measured at one scale; ``kinds`` are medians of the decision by kind of review."""

    cached: Times
    parsed: Times
    mutated: Times
    looped: Times
    kinds: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """How many times as long as the decision the loop takes, at the median."""
        return self.looped.median / self.cached.median


def measure(scale: Scale, rounds: int = ROUNDS) -> Evaluation:
    """Decide the mixed set against a cluster of that scale."""
    cluster, objects = inventory(scale), nodeloop.Objects()
    fill(objects, scale)
    raw = bodies.mixed()
    pods = {name: _POD.decode(read_review(body).object) for name, body in raw.items()}
    threshold = gc.get_threshold()
    settle()  # as the server does once it has read the cluster
    try:
        decided = _durations(lambda pod: _decide(pod, cluster), _repeated(pods.values(), rounds))
        return Evaluation(
            cached=times(decided),
            parsed=times(_durations(lambda pod: _decide(pod, cluster), _never_seen(pods.values(), rounds))),
            mutated=times(_durations(lambda body: mutate(body, cluster, POLICY), _repeated(raw.values(), rounds))),
            looped=times(_durations(lambda pod: _loop(pod, objects), _repeated(pods.values(), LOOP_ROUNDS))),
            kinds={name: times(decided[at :: len(pods)]).median for at, name in enumerate(pods)},
        )
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()


def times(durations: Iterable[float]) -> Times:
    """Median and 99th percentile."""
    ordered = sorted(durations)
    return Times(ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100])


def _decide(pod: Pod, cluster: Inventory) -> None:
    decide(pod, NAMESPACE, World(cluster, POLICY))


def _loop(pod: Pod, objects: nodeloop.Objects) -> None:
    nodeloop.candidates(pod, NAMESPACE, objects)


def _durations(call: Callable[[_Argument], object], arguments: Iterator[_Argument]) -> list[float]:
    found = []
    for argument in arguments:
        before = thread_time_ns()
        call(argument)
        found.append((thread_time_ns() - before) / 1000)
    return found


def _repeated(arguments: Iterable[_Argument], rounds: int) -> Iterator[_Argument]:
    return itertools.chain.from_iterable(itertools.repeat(tuple(arguments), rounds))


def _never_seen(pods: Iterable[Pod], rounds: int) -> Iterator[Pod]:
    """The pods over and over, the white space at the end of their placement different each time."""
    for number, pod in enumerate(_repeated(pods, rounds)):
        assert pod.metadata is not None
        assert pod.metadata.annotations is not None
        ending = f"{number:b}".translate({ord("0"): " ", ord("1"): "\t"})
        annotations = {**pod.metadata.annotations, keys.PLACEMENT: pod.metadata.annotations[keys.PLACEMENT] + ending}
        yield replace(pod, metadata=replace(pod.metadata, annotations=annotations))
