"""Each rule of fusion has a file of examples: a Job that is fused, one that is separated, one that is refused.

The page shows what ``explain`` says of each, and ``test_commands.py`` runs that.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.docs.pages import ROOT, page
from tests.golden.examples import POLICY, snapshot
from tests.placement.planning.at_once import AtOnce
from webhook.cluster.snapshot.manifests import read_manifests
from webhook.placement.fusion.graph import RULES
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.operators.fused_job import ModelVerdict, judge_model
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World

FILES = sorted((ROOT / "examples" / "fusion").glob("*.yaml"))
BY_RULE = {
    "partition_isolation": "partition-isolation",
    "partition_exlocation": "partition-exlocation",
    "host": "host",
    "host_exlocation": "host-exlocation",
    "host_isolation": "host-isolation",
    "equal_options": "options",
    "channels": "channels",
}
"""The file of each rule that keeps operators apart; elements that stay while a region is scaled are no one's clause."""


@pytest.fixture(scope="module")
def cluster() -> Inventory:
    return snapshot()


def verdicts(path: Path, cluster: Inventory) -> Iterator[tuple[str, ModelVerdict]]:
    """The name of each Job of a file, and the verdict on it."""
    for document in read_manifests(path):
        name = document["metadata"]["name"]
        spec = msgspec.convert(document["spec"], JobSpec)
        yield name, finished(judge_model(("default", name), spec, World(cluster, POLICY), AtOnce()))


def test_every_rule_has_a_file() -> None:
    rules = {rule.__module__.rpartition(".")[2] for rule in RULES} - {"kept_elements"}
    assert rules == BY_RULE.keys()
    assert set(BY_RULE.values()) <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_jobs_of_a_rule_are_fused_separated_and_refused(path: Path, cluster: Inventory) -> None:
    """In one element there are two operators, or two elements have one rule between them, or there is no fusion."""
    (one, fused), (two, separated), (three, refused) = verdicts(path, cluster)
    assert (one, two, three) == ("fused", "separated", "refused")
    assert not fused.verdict.refused
    assert fused.fusion is not None
    assert max(len(element.operators) for element in fused.fusion.processing_elements) > 1
    assert not separated.verdict.refused
    assert separated.fusion is not None
    assert separated.fusion.made > 1
    assert refused.verdict.refused


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_page_shows_what_is_said_of_each_file(path: Path) -> None:
    assert f"$ streams-placement explain -f examples/fusion/{path.name} --snapshot" in page("fusion-rules.md")
