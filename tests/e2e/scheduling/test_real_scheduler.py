"""Random clusters and pods: the real scheduler binds what the product admits, on nodes where the clauses hold.

The product is called as by the API server, about the objects that the API server returns; then the pod is created as
the product patched it. Every decision of the scheduler is compared with that of the model that unit tests use
(``tests/scheduling``), which shows how far the model can be trusted.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.scheduling.batch import Batch, chunks
from tests.e2e.scheduling.scripts import Script, scripts
from tests.scheduling import product_answers
from tests.scheduling.clause_meaning import broken
from tests.scheduling.passing_conditions import allowed, awaits, goes_past, needs_company, told_to_wait, with_its_job
from tests.scheduling.product_answers import Replica, Ruling
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster
from tests.suite.example_count import EVERY_DAY, TIMES

pytestmark = pytest.mark.early

Json = Mapping[str, Any]

CASES: Final = 150 if EVERY_DAY else round(300 * TIMES)
ALONE: Final = round(4 * max(1, TIMES))
"""Scripts that need a control plane to themselves."""

_SIDE_BY_SIDE: Final = 60


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A control plane of its own, without nodes."""
    with ControlPlane(tmp_path_factory.mktemp("dice")) as plane:
        yield plane.admin


def test_what_is_admitted_or_refused_is_what_the_real_scheduler_makes_of_it(api: Api) -> None:
    chosen = [one for one in scripts(0, CASES) if not one.looks_around]
    wrong = [found for some in chunks(chosen, _SIDE_BY_SIDE) for found in played(api, some)]
    assert not wrong, report(wrong)


def test_so_it_is_for_pods_that_count_nodes_they_do_not_select(api: Api) -> None:
    chosen = (one for one in scripts(0, 40 * CASES) if one.looks_around)
    wrong = [found for one in itertools.islice(chosen, ALONE) for found in played(api, [one])]
    assert not wrong, report(wrong)


def report(wrong: list[tuple[Script, str]]) -> str:
    """How many there are, and the simplest of them."""
    shortest, why = min(wrong, key=lambda found: len(repr(found[0])))
    others = ", ".join(f"{one.number}: {text}" for one, text in wrong[:20])
    return f"{len(wrong)} wrong ({others}); the shortest: {why}\n{shortest!r}"


def played(api: Api, some: Sequence[Script]) -> list[tuple[Script, str]]:
    """What is wrong in these scripts, which happen side by side."""
    wrong: list[tuple[Script, str]] = []
    with Batch(api, {one.mark: one.cluster for one in some}) as batch:
        for number in range(4):
            turn = [one for one in some if number < len(one.pods) and not (one.at_once and number)]
            wrong += [(one, why) for one, why in _turn(batch, turn, number) if why]
    return wrong


class Try(NamedTuple):
    """A pod as the webhook sees it, what becomes of it there, and as it is then created.

    One that is refused for want of a node is created as if nodes came for it.
    """

    script: Script
    before: Cluster
    reviewed: Json
    ruling: Ruling
    created: Object


def _turn(batch: Batch, some: Sequence[Script], number: int) -> Iterator[tuple[Script, str]]:
    """One pod of each script, or all that are created at once."""
    tries = list(_reviewed(batch, some, number))
    answers = batch.create([one.created for one in tries])
    taken = [(one, answer.body) for one, answer in zip(tries, answers, strict=True) if answer.code == 201]
    for one, answer in zip(tries, answers, strict=True):
        if answer.code != 201:
            yield one.script, f"admitted, but the API server says: {answer.message}"
    tried = [one for one, _ in taken if not awaits(one.created)]
    sure = [not one.script.at_once and bool(_places(one.created, one.before)) for one in tried]
    ends = batch.decided([(one.created, bound) for one, bound in zip(tried, sure, strict=True)])
    for one, end in zip(tried, ends, strict=True):
        yield one.script, _kept(one, end, batch) if one.script.at_once else _compared(one, end)
    bound = {end["metadata"]["uid"] for end in ends if end["spec"].get("nodeName")}
    batch.forget(body for _, body in taken if body["metadata"]["uid"] not in bound)


def _reviewed(batch: Batch, some: Sequence[Script], number: int) -> Iterator[Try]:
    """What is created, after the product was asked about it as it stands."""
    created = [(one, pod) for one in some for pod in (one.pods if one.at_once else (one.pods[number],))]
    clusters = {one.mark: batch.cluster(one.mark) for one in some}
    moments = {one.mark: Replica(clusters[one.mark], one.wanted) for one in some}
    for (one, _), pod in zip(created, batch.completed([pod for _, pod in created]), strict=True):
        if pod is None:  # the API server itself refuses it
            continue
        before = clusters[one.mark]
        ruling = product_answers.admitted(pod, before, moment=moments[one.mark])
        final = ruling.pod
        if final is None and ruling.wants_nodes:
            final = product_answers.admitted(pod, before, product_answers.ELASTIC).pod
        if final is not None:
            yield Try(one, before, pod, ruling, final)


def _places(final: Json, cluster: Cluster) -> list[str]:
    bound = final["spec"].get("nodeName")
    return [bound] if bound else possible(final, cluster)


def _compared(one: Try, end: Json) -> str:
    """What is wrong with the end of a pod that was created alone; empty if nothing is."""
    place, places = end["spec"].get("nodeName"), _places(one.created, one.before)
    if (place not in places) if place else places:
        return f"the model says {places}, the scheduler {place or end['status']['conditions']}"
    found = broken(one.reviewed, one.before.by_name[place], one.before) if place else []
    if goes_past(one.reviewed):  # where others keep apart from is for the scheduler to find, which the pod avoids
        found = [what for what in found if what != "run-apart-from"]
    if found:
        return f"bound to {place}, which breaks {found}"
    if one.ruling.pod is None:
        idle = len(one.before.pods) == len(with_its_job(one.reviewed, one.before).pods)
        runs = place and idle and not goes_past(one.reviewed) and place in allowed(one.reviewed, one.before)
        return f"refused, but it runs on {place}: {one.ruling.message}" if runs else ""
    return "admitted without a word, but alone it waits" if not place and _must_run(one) else ""


def _must_run(one: Try) -> bool:
    """Whether nothing else is there that the pod might wait for, and no word of its waiting was said."""
    if told_to_wait(one.ruling.warnings) or needs_company(one.reviewed):
        return False
    own = {pod["metadata"]["name"] for pod in one.script.pods}
    if not all(pod["metadata"]["name"] in own for pod in one.before.pods):
        return False
    if one.script.workload is None:
        return not one.before.pods
    empty = one.script.cluster.only(lambda _: False)
    ruling = product_answers.submitted(one.script.workload, empty)
    return ruling.pod is not None and not told_to_wait(ruling.warnings)


def _kept(one: Try, end: Json, batch: Batch) -> str:
    """What is wrong with one of several that were created at once: a clause that does not hold beside the others."""
    place = end["spec"].get("nodeName")
    if not place or goes_past(one.reviewed):
        return ""
    now = batch.cluster(one.script.mark)
    others = now.only(lambda pod: pod["metadata"]["uid"] != end["metadata"]["uid"])
    found = broken(one.reviewed, now.by_name[place], others)
    return f"bound to {place} at once with others, which breaks {found}" if found else ""
