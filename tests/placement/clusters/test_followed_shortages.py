"""What is advised about random apps that too few clusters can take is done, and is enough for as many as is said."""

import itertools
import random
import re
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import event, given

from tests.placement.clusters.cluster_worlds import GPU
from tests.placement.clusters.test_random_clusters import (
    APPS,
    CLUSTERS,
    RandomApp,
    RandomCluster,
    answer_about,
    together,
)
from tests.suite.example_count import examples, some_of
from webhook.placement.clusters.answer import ClustersAnswer

ROOMY = RandomCluster(((99, 99, False),))
"""A cluster that can take every app."""


def fixes(text: str) -> list[str]:
    """The alternatives at the end of a refusal."""
    return text.rpartition("Nearest fix: ")[2].removesuffix(".").split(", or ")


def requested(text: str) -> tuple[int, int]:
    """Cores and GPUs in words."""
    amounts = dict(part.split(" ") for part in text.split(", "))
    return int(amounts.get("cpu", 0)), int(amounts.get(GPU, 0))


def made_able(fix: str, one: RandomApp, clusters: Sequence[RandomCluster]) -> int:
    """How many clusters can take the app once the fix is followed, less as many as there must be then."""
    wanted, now = one.replication, [*clusters]
    if stated := re.fullmatch(r"in cluster c(\d), add (?:a node|(\d+) nodes) with (.*) free", fix):
        at, more = int(stated[1]), int(stated[2] or 1)
        now[at] = RandomCluster((*(now[at].nodes or ()), *[(*requested(stated[3]), False)] * more))
    elif stated := re.fullmatch(r"lower requests (.*) to (.*) \((\d) clusters? could take it\)", fix):
        asked, amounts = requested(stated[1]), dict(part.split(" ") for part in stated[2].split(", "))
        lower = int(amounts.get("cpu", asked[0])), int(amounts.get(GPU, asked[1]))
        one, wanted = one._replace(pods=tuple(lower if pod == asked else pod for pod in one.pods)), int(stated[3])
    elif stated := re.fullmatch(r"lower its replication count to (\d)", fix):
        wanted = int(stated[1])
    elif stated := re.fullmatch(r"add (\d) clusters? that can take it", fix):
        now += [ROOMY] * int(stated[1])
    else:
        assert re.fullmatch(r"make sure that \d clusters? can be read", fix), fix
        now = [ROOMY if other.nodes is None else other for other in now]
        wanted = min(wanted, sum(other.nodes is None for other in clusters))
    return sum(together([one], frozenset((0,)), other) for other in now) - wanted


@examples(150)
@given(APPS, CLUSTERS)
def test_an_app_has_as_many_clusters_as_its_refusal_says(apps: list[RandomApp], clusters: list[RandomCluster]) -> None:
    for name, text in answer_about(apps, clusters).refused.items():
        for fix in fixes(text) if text.startswith("App ") else ():
            event(" ".join(fix.split(" ")[:2]))
            assert made_able(fix, apps[int(name.removeprefix("app-"))], clusters) >= 0, text


def contending(seed: int) -> tuple[list[RandomApp], list[RandomCluster]]:
    """Apps of which few fit into one cluster together."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    apps = [
        RandomApp(((chance.randint(1, 3), 0),), chance.randint(1, 3), wishes=False) for _ in range(chance.randint(2, 4))
    ]
    return apps, [RandomCluster(((chance.randint(3, 4), 0, False),)) for _ in range(3)]


def followed(
    fixes_of_all: Iterable[str], apps: Sequence[RandomApp], clusters: Sequence[RandomCluster]
) -> ClustersAnswer:
    """The answer once these are followed, one of each refusal."""
    now, more = [*apps], [*clusters]
    for one in itertools.chain.from_iterable(re.split(" and (?=a|lower|[0-9])", fix) for fix in fixes_of_all):
        if stated := re.fullmatch(r"(?:add )?(?:a cluster|(\d) clusters) that can take app app-(\d)", one):
            just_it = RandomCluster(tuple((*pod, False) for pod in apps[int(stated[2])].pods))
            more += [just_it] * int(stated[1] or 1)
        else:
            stated = re.fullmatch(r"lower the replication count of app app-(\d) to (\d)", one)
            assert stated, one
            now[int(stated[1])] = now[int(stated[1])]._replace(replication=int(stated[2]))
    return answer_about(now, more)


@pytest.mark.examples
def test_apps_that_clash_have_enough_clusters_once_each_refusal_is_followed() -> None:
    clashing = 0
    for seed in range(some_of(300, every_day=8)):
        apps, clusters = contending(seed)
        clashes = [fixes(text) for text in {*answer_about(apps, clusters).refused.values()} if text.startswith("Apps ")]
        clashing += bool(clashes)
        for chosen in itertools.product(*clashes) if clashes else ():
            assert not followed(chosen, apps, clusters).refused, (seed, chosen)
    assert clashing > 1
