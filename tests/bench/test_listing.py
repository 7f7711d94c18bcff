"""The benchmark's API server lists what the generator writes, page by page, as the product reads it."""

from pathlib import Path

import msgspec
import pytest

from bench.generated.generator import PAGE, pages
from bench.generated.topology import Scale
from bench.servers.listing import VERSION, page
from kubeapi.client.api_types import Page

SCALE = Scale(100, 600)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, content in pages(SCALE):
        (tmp_path / name).write_bytes(content)
    return sorted(tmp_path.glob("pods-*.json"))


def read(files: list[Path], number: int) -> Page:
    return msgspec.json.decode(page(files, number), type=Page)


def test_every_page_leads_to_the_next_but_the_last(files: list[Path]) -> None:
    assert [read(files, number).metadata.following for number in range(len(files))] == ["1", "2", ""]


def test_a_page_is_as_long_as_the_product_asks_for(files: list[Path]) -> None:
    assert [len(read(files, number).items or ()) for number in range(len(files))] == [PAGE, PAGE, 100]


def test_every_page_is_of_the_same_version(files: list[Path]) -> None:
    assert {read(files, number).metadata.version for number in range(len(files))} == {VERSION}


def test_where_there_are_no_files_there_is_an_empty_page() -> None:
    found = read([], 0)
    assert (found.items, found.metadata.following, found.metadata.version) == ((), "", VERSION)
