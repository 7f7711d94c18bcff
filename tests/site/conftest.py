"""One site, built for all tests, in a folder of its own."""

from pathlib import Path

import pytest

from tests.site.site_search import SiteSearch
from tools.site.__main__ import build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder / "html", folder / "work")
    return folder / "html"


@pytest.fixture(scope="session")
def search(site: Path) -> SiteSearch:
    return SiteSearch(site)
