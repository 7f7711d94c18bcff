"""The review of every example says what ``explain`` says: verdict, text, candidates, and what closes other nodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from tests.golden.examples import EXAMPLES
from tests.placementreview.asked import asked
from tests.suite.example_documents import example_documents_parsed_once
from tests.yaml_values import all_loaded
from webhook.app.explain import explaining
from webhook.cli import main
from webhook.placement.request.world import World
from webhook.placementreview.review import ReviewResult
from webhook.settings import read

CLUSTER: Final = str(EXAMPLES / "cluster")
FILES: Final = sorted(
    path
    for folder in (EXAMPLES, EXAMPLES / "applications")
    for path in folder.glob("*.yaml")
    if not path.name.endswith(".expected.yaml")
)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """The cluster of the examples."""
    with example_documents_parsed_once():
        yield explaining(read({"snapshot": CLUSTER}), [], lambda _: None)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_answered_as_it_is_explained(
    path: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = [one for one in all_loaded(path.read_text()) if one]
    namespace = documents[0]["metadata"].get("namespace") or "default"
    status = asked(world.inventory, *documents, namespace=namespace, policy=world.policy)
    main(["explain", "-o", "json", "--snapshot", CLUSTER, "-f", str(path)])
    explained = msgspec.json.decode(capsys.readouterr().out)
    assert [_of_review(one) for one in status.results if one.verdict != "NotJudged" and one.kind != "HPAIntent"] == [
        _of_explanation(one) for one in explained if one.get("asks", True)
    ]


def _of_review(result: ReviewResult) -> dict[str, Any]:
    candidates = list(result.candidates.nodes or ()) if result.candidates else []
    closed = sum(one.count for one in result.closed)
    return {"refused": result.verdict == "Refused", "message": result.message, "open": candidates, "closed": closed}


def _of_explanation(one: dict[str, Any]) -> dict[str, Any]:
    closed = sum(len(removed["nodes"]) for removed in one["removed"])
    return {
        "refused": one["verdict"] == "refused",
        "message": one["message"],
        "open": one["candidates"],
        "closed": closed,
    }
