"""``make docs``: build the documentation as a site; fails if a link leads nowhere or anything comes from outside."""

import argparse
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Final

from tools.site.built import problems
from tools.site.own_assets import take_in
from tools.site.staging import Stage, StagingError

_REPOSITORY: Final = Path(__file__).parents[2]
_HOME: Final = Path(__file__).parent
_SECONDS: Final = 300
"""For the generator; it takes two."""


class BuildError(Exception):
    """A site that cannot be built, or that would be wrong."""


def build(target: Path, work: Path) -> None:
    """Build the site into a folder, which is replaced only by a site without a problem."""
    shutil.rmtree(work, ignore_errors=True)
    pages, html = work / "pages", work / "html"
    Stage(_REPOSITORY, pages).write()
    shutil.copytree(_HOME / "assets", pages / "assets")
    shutil.copy(_HOME / "zensical.toml", work)
    generate(work)
    take_in(html, Path(str(resources.files("mermaidx"))) / "assets" / "mermaid.js")
    if faults := problems(html):
        raise BuildError("\n".join(faults))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(html, target)


def generate(work: Path) -> None:
    """Run the generator, whose words are shown if it fails; it fails for every link that it cannot follow."""
    command = (str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--config-file", "zensical.toml")
    done = subprocess.run(  # noqa: S603 - the generator, beside this Python
        command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_SECONDS, check=False
    )
    if done.returncode:
        raise BuildError(_plain(done.stdout))


def _plain(words: str) -> str:
    """What the generator says, without its colours, and without the traceback with which it ends."""
    return re.sub(r"\x1b\[[0-9;]*m", "", words).partition("Traceback (most recent call last)")[0].rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Build, and say where; returns an exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build the site of the documentation.")
    parser.add_argument("--to", type=Path, default=_REPOSITORY / "site", help="the folder, which is replaced")
    target = parser.parse_args(arguments).to
    try:
        build(target, _REPOSITORY / ".cache" / "site")
    except (StagingError, BuildError) as error:
        print(f"the site was not built:\n{error}", file=sys.stderr)  # noqa: T201 - a command
        return 1
    print(f"{len(list(target.rglob('*.html')))} pages: {target / 'index.html'}")  # noqa: T201 - a command
    return 0


if __name__ == "__main__":
    sys.exit(main())
