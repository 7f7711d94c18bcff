"""Repositories of git for tests, untouched by the settings of whoever runs them."""

import os
import subprocess
from pathlib import Path
from typing import Final

COMMITTED: Final = "2026-01-02T03:04:06+00:00"
"""An even second: archives of ZIP know no others."""


def git(folder: Path, *words: str) -> str:
    environment = {"GIT_COMMITTER_DATE": COMMITTED, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    command = ("git", "-C", str(folder), *who, *words)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(command, env=inherited | environment, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 -- git
    return done.stdout


def commit(folder: Path) -> None:
    """Commit all files of the folder."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "All of it")
