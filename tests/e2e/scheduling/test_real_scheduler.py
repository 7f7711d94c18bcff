"""Random clusters and pods: what the product admits, the real scheduler binds where the clauses hold, or holds back.

The product is asked as the API server would ask it, about the objects that the API server shows; then the pod is
created as the product patched it. Every decision of the scheduler is compared with that of the model by which unit
tests judge the product (``tests/scheduling``), which is what makes the model one to trust.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from tests.e2e.api import Api, Object
from tests.e2e.plane import ControlPlane
from tests.e2e.scheduling.batch import Batch, chunks
from tests.e2e.scheduling.scripts import Script, scripts
from tests.placement.properties.dice import TIMES
from tests.scheduling import product
from tests.scheduling.meaning import broken
from tests.scheduling.product import Ruling
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster
from tests.scheduling.waiting import allowed, awaits, goes_past, needs_company, told_to_wait, with_its_job

Json = Mapping[str, Any]

CASES: Final = 300 * TIMES
ALONE: Final = 4 * TIMES
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
    chosen = [one for one in scripts(0, 40 * CASES) if one.looks_around][:ALONE]
    wrong = [found for one in chosen for found in played(api, [one])]
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


def _turn(batch: Batch, some: list[Script], number: int) -> Iterator[tuple[Script, str]]:
    """One pod of each script, or all that are created at once."""
    created = [(one, pod) for one in some for pod in (one.pods if one.at_once else (one.pods[number],))]
    before = {one.mark: batch.cluster(one.mark) for one in some}
    tries: list[tuple[Script, Ruling, Json, Object]] = []
    for (one, _), raw in zip(created, batch.completed([pod for _, pod in created]), strict=True):
        if raw is None:  # the API server itself refuses the pod as it was written
            continue
        ruling = product.admitted(raw, before[one.mark])
        final = ruling.pod or (
            product.admitted(raw, before[one.mark], product.ELASTIC).pod if ruling.wants_nodes else None
        )
        if final is not None:
            tries.append((one, ruling, raw, final))
    answers = batch.create([final for *_, final in tries])
    for (one, *_), answer in zip(tries, answers, strict=True):
        yield one, "" if answer.code == 201 else f"admitted, but the API server says: {answer.message}"
    stored = [case for case, answer in zip(tries, answers, strict=True) if answer.code == 201 and not awaits(case[3])]
    expected = [(final, not one.at_once and bool(_places(final, before[one.mark]))) for one, _, _, final in stored]
    ends = batch.decided(expected)
    for (one, ruling, raw, final), end in zip(stored, ends, strict=True):
        if one.at_once:
            yield one, _kept(raw, end, batch.cluster(one.mark))
        else:
            yield one, _compared(ruling, raw, final, end, before[one.mark])
    bound = {end["metadata"]["uid"] for end in ends if end["spec"].get("nodeName")}
    batch.forget(
        answer.body for answer in answers if answer.code == 201 and answer.body["metadata"]["uid"] not in bound
    )


def _places(final: Json, cluster: Cluster) -> list[str]:
    bound = final["spec"].get("nodeName")
    return [bound] if bound else possible(final, cluster)


def _compared(ruling: Ruling, raw: Json, final: Json, end: Json, before: Cluster) -> str:
    """What is wrong with the end of a pod that was created alone; empty if nothing is."""
    place, places = end["spec"].get("nodeName"), _places(final, before)
    if (place not in places) if place else places:
        return f"the model says {places}, the scheduler {place or end['status']['conditions']}"
    if place and broken(raw, before.by_name[place], before):
        return f"bound to {place}, which breaks {broken(raw, before.by_name[place], before)}"
    idle = len(before.pods) == len(with_its_job(raw, before).pods)
    if place and ruling.pod is None and idle and not goes_past(raw) and place in allowed(raw, before):
        return f"refused, but it runs on {place}: {ruling.message}"
    silent = ruling.pod is not None and not told_to_wait(ruling.warnings) and not needs_company(raw)
    return "admitted without a word, but alone it waits" if silent and not place and not before.pods else ""


def _kept(raw: Json, end: Json, now: Cluster) -> str:
    """What is wrong with one of several that were created at once: a clause that does not hold beside the others."""
    place = end["spec"].get("nodeName")
    if not place or goes_past(raw):
        return ""
    others = now.only(lambda pod: pod["metadata"]["uid"] != end["metadata"]["uid"])
    found = broken(raw, now.by_name[place], others)
    return f"bound to {place} at once with others, which breaks {found}" if found else ""
