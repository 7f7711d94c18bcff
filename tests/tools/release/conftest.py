"""A repository with the files of this one as they are now, committed, and a release of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.docs.pages import ROOT
from tests.suite.untraced import untraced_processes
from tests.tools.release.keys import pem, public_pem
from tests.tools.release.repositories import commit, git
from tools.release.__main__ import main, release

HOMEPAGE: Final = "https://example.com/streams-placement"
"""The page of the project that a signed release names."""


@pytest.fixture(autouse=True, scope="module")
def _untraced() -> Iterator[None]:
    """Packages are built and installed from copies of the sources."""
    with untraced_processes():
        yield


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What would be committed here, in a repository of its own."""
    if not (ROOT / ".git").exists():
        pytest.skip("packages are made of a commit, and this is no clone")
    folder = tmp_path_factory.mktemp("repository")
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_symlink() | (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    commit(folder)
    return folder


@pytest.fixture(scope="session")
def released(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the packages."""
    folder = tmp_path_factory.mktemp("released")
    with untraced_processes():
        release(repository, folder)
    return folder


@pytest.fixture(scope="session")
def signed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``made``, where the packages name a page and are signed, and the ``public`` key."""
    folder, key = tmp_path_factory.mktemp("signed"), ec.generate_private_key(ec.SECP256R1())
    (folder / "key").write_bytes(pem(key))
    (folder / "public").write_bytes(public_pem(key))
    words = ("--homepage", HOMEPAGE, "--key", str(folder / "key"))
    with untraced_processes():
        assert main(["--repository", str(repository), "--output", str(folder / "made"), *words]) == 0
    return folder
