"""The commands on the pages that need a cluster (``sh on-cluster``) do what the pages show, or at least succeed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import commands, pattern, run
from tests.docs.pages import blocks
from tests.e2e.chart.installation import installed
from tests.e2e.controlplane.background_plane import NODES
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node

BLOCKS = blocks("sh on-cluster")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The cluster of ``make cluster``: its nodes, and the chart as it is by default."""
    with ControlPlane(tmp_path_factory.mktemp("pages")) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in range(1, NODES + 1)])
        with installed(running):
            yield running


@pytest.mark.parametrize("page", dict.fromkeys(block.page for block in BLOCKS), ids=lambda page: page.name)
def test_the_commands_of_a_page_write_what_it_shows(
    page: Path, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block after the other, as a reader types them, until one does something else than the page shows."""
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig()))
    for block in (found for found in BLOCKS if found.page == page):
        shown = list(commands(block))
        if not shown:
            assert run(f"set -e; {{\n{block.text}}} && echo done")[-1:] == ["done"], block
        for command in shown:
            written = run(command.text)
            if not pattern(command.shown).fullmatch("".join(f"{line}\n" for line in written)):
                assert written == command.shown, f"{block}: {command.text}"


def test_there_are_commands_to_run() -> None:
    assert len(BLOCKS) >= 4
