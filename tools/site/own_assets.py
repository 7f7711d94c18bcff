"""A built site that loads nothing from outside: scripts that its theme would load from elsewhere are its own files."""

import os
import shutil
from pathlib import Path
from typing import Final

_WORKER_ELSEWHERE: Final = "https://unpkg.com/iframe-worker/shim"
"""What the theme loads so that search works in pages opened from a file; ``assets/worker-in-page.js`` does that."""

_DIAGRAM: Final = 'class="mermaid"'

_POLICY: Final = (
    "default-src 'none'; connect-src 'self' file:; frame-src 'self' about:; img-src 'self' file: data:; "
    "script-src 'self' file: 'unsafe-inline'; style-src 'self' file: 'unsafe-inline'; worker-src 'self' file: blob:"
)
"""What a browser may load for a page: the theme's scripts know addresses elsewhere for things that no page has."""


def take_in(site: Path, mermaid: Path) -> None:
    """Change every page of a site; ``mermaid`` is the script that draws diagrams, for the pages that have some."""
    scripts = site / "assets"
    shutil.copy(mermaid, scripts / "mermaid.js")
    (site / "404.html").unlink()  # its links begin at the root of a server, and nobody knows where the site will lie
    for path in site.rglob("*.html"):
        path.write_text(changed(path.read_text(), os.path.relpath(site, path.parent)))


def changed(page: str, root: str) -> str:
    """The page with scripts of the site in place of those elsewhere, and a rule that nothing else is loaded."""
    head = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    if _DIAGRAM in page:
        head += f'\n<script src="{root}/assets/mermaid.js"></script>'
    search = f'<script src="{root}/assets/pasted-search.js"></script>\n</head>'  # after the worker that it changes
    page = page.replace(_WORKER_ELSEWHERE, f"{root}/assets/worker-in-page.js")
    return page.replace("<head>", head, 1).replace("</head>", search, 1)
