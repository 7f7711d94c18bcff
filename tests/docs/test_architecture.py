"""``docs/architecture.md`` agrees with the code: its layers, and every module and function that a diagram names."""

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any, Final, cast

import pytest
from msgspec import Raw

from tests.builders import Json, cluster, nodes, pod, review
from tests.docs.pages import ROOT, Block, blocks, page
from webhook.app.cluster_source import Cluster
from webhook.app.serve import mutator, validator
from webhook.cluster.objects.kinds import NODES
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.cluster.watch.store import Store
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy

PAGE: Final = ROOT / "docs" / "architecture.md"

CONTRACTS: Final[list[dict[str, Any]]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
ROOMS: Final = {
    contract["containers"][0].removeprefix("webhook."): [
        name for layer in contract["layers"] for name in layer.split(" | ")
    ]
    for contract in CONTRACTS
    if contract["type"] == "layers"
}
"""Each package whose subpackages are layered, and these from top to bottom."""

DIAGRAMS: Final = blocks("mermaid", (PAGE,))

_REFERENCE: Final = re.compile(r"(?P<file>\w[\w/]*\.py): (?P<names>\w+(?:\.\w+)?(?:, \w+(?:\.\w+)?)*)")
"""A module and names in it, as boxes of a diagram have them: ``server/logs.py: review``."""
_BOX: Final = re.compile(r"(?P<name>\w+)(?:\(\[|\[|\{)\".*?\"(?:\]\)|\]|\})")
"""A box with its text, in any of the three shapes of the page: ``decide["..."]``, ``asks{"..."}``, ``end(["..."])``."""


def file_of(name: str) -> Path:
    """A module that a page names from its program's package, or from the root of the repository."""
    return ROOT / "webhook" / name if (ROOT / "webhook" / name).exists() else ROOT / name


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """The functions, classes, methods and constants of a module: ``decide``, ``Memo.find``, ``KINDS``."""
    found = set()
    for statement in ast.parse(path.read_text()).body:
        found |= set(_named(statement))
        if isinstance(statement, ast.ClassDef):
            found |= {f"{statement.name}.{name}" for inner in statement.body for name in _named(inner)}
    return frozenset(found)


def _named(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def references(diagram: Block) -> list[tuple[str, str]]:
    return [(found["file"], name) for found in _REFERENCE.finditer(diagram.text) for name in found["names"].split(", ")]


REFERENCES: Final = sorted({reference for diagram in DIAGRAMS for reference in references(diagram)})


def test_there_is_a_diagram_for_each_data_flow() -> None:
    headings = re.findall(r"^## (.+)$(?:(?!^## )(?:.|\n))*?^```mermaid$", PAGE.read_text(), re.MULTILINE)
    assert headings == ["A review", "A node event", "A HostPool", "A Job"]


def test_what_a_diagram_names_is_in_the_code() -> None:
    assert [(file, name) for file, name in REFERENCES if name not in names_in(file_of(file))] == []


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=str)
def test_a_diagram_names_no_module_without_a_function(diagram: Block) -> None:
    assert len(re.findall(r"\.py\b", diagram.text)) == len(list(_REFERENCE.finditer(diagram.text)))
    assert len(references(diagram)) > 8


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=str)
def test_every_arrow_of_a_diagram_leads_from_a_box_to_a_box(diagram: Block) -> None:
    boxes = {found["name"] for found in _BOX.finditer(diagram.text)}
    arrows = [_BOX.sub(r"\g<name>", line) for line in diagram.text.splitlines() if "-->" in line]
    ends = {end.split(" -- ")[0].strip() for line in arrows for end in line.split("-->")}
    assert ends == boxes


@pytest.mark.parametrize("package", sorted(ROOMS.keys() - {"webhook"}))
def test_the_table_of_a_package_lists_its_layers_from_top_to_bottom(package: str) -> None:
    _, table = page("architecture.md").split(f"\n| `{package}` | what is there |\n|---|---|\n")
    listed = [
        name for row in table.partition("\n\n")[0].splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[0])
    ]
    assert listed == ROOMS[package]


def test_the_picture_of_the_layers_has_every_layer() -> None:
    (picture,) = (block for block in blocks("text", (PAGE,)) if block.text.startswith("cli "))
    first_words = re.findall(r"^[ └├│─]*(\w+)", picture.text, re.MULTILINE)
    layers = [name for name in ROOMS["webhook"] if name != "__main__"]
    assert [word for word in first_words if word in layers] == layers


def test_every_module_that_the_page_names_is_there() -> None:
    prose = re.sub(r"^```.*?^```$", "", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    named = {name for name in re.findall(r"`([\w/]+/\w+\.py)`", prose) if not name.endswith("/zone.py")}
    assert [name for name in sorted(named) if not file_of(name.removeprefix("webhook/")).is_file()] == []


# What is called


def called(work: Callable[[], object]) -> set[tuple[str, str]]:
    """The modules of ``webhook``, and the functions in them, that are called meanwhile."""
    found = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT / 'webhook'}/"):
            found.add((frame.f_code.co_filename.removeprefix(f"{ROOT / 'webhook'}/"), frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def shown(heading: str, *packages: str) -> set[tuple[str, str]]:
    """What the diagram under a heading names in these packages."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2]
    (diagram,) = (each for each in DIAGRAMS if each.text == section.partition("```mermaid\n")[2].partition("```\n")[0])
    return {(file, name) for file, name in references(diagram) if file.startswith(packages)}


def reviews(inventory: Inventory, *pods: Json) -> Callable[[], object]:
    """The reviews of these pods at both paths."""
    source = cast("Cluster", SimpleNamespace(inventory=inventory))
    paths = [path(source, Policy(), ReviewQueries()) for path in (mutator, validator)]
    return lambda: [answer(review(each)) for answer in paths for each in pods]


def test_reviews_pass_what_their_diagram_shows() -> None:
    admitted, refused, silent = pod('hostExlocation("t")'), pod('host("nowhere")'), pod(job=None, pe=None)
    passed = called(reviews(cluster(nodes(2)), admitted, refused, silent))
    data = {("admission/validate.py", "CHECKS"), ("admission/answer.py", "Answer")}
    named = shown("A review", "admission/", "placement/") - data
    assert named - passed == set()


@pytest.mark.parametrize("inventory", [Inventory(), ObservedInventory(Inventory())], ids=["webhook", "controller"])
def test_an_event_of_a_node_passes_what_its_diagram_shows(inventory: Inventory | ObservedInventory) -> None:
    store = Store(NODES, inventory, lambda _: None)
    passed = called(lambda: store.put(Raw(b'{"metadata": {"name": "node-a"}, "status": {}}')))
    named = shown("A node event", "cluster/watch/store.py", "cluster/objects/nodes.py", "placement/inventory/")
    if isinstance(inventory, ObservedInventory):
        named |= shown("A node event", "controller/hostpools/observed_inventory.py")
    assert named - passed == set()


def test_every_step_of_the_decision_core_is_a_function() -> None:
    (steps,) = (block for block in blocks("text", (PAGE,)) if block.text.startswith("pod, namespace, World "))
    files = [*(ROOT / "webhook" / "placement").rglob("*.py"), *(ROOT / "webhook" / "admission").rglob("*.py")]
    defined = {name.rpartition(".")[2] for file in files for name in names_in(file)}
    assert set(re.findall(r"──(\w+)──▶", steps.text)) - defined == set()
