"""``python -m tools.values HELM-DOCS``: write the table of values in the chart's README, as helm-docs makes it.

helm-docs takes a comment as the description of a value if it begins with ``# --``. The comments of ``values.yaml`` go
without these marks, since ``helm show values`` shows them to people; helm-docs reads a copy that has them.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

CHART: Final = Path(__file__).parents[1] / "charts" / "streams-placement"
README: Final = CHART / "README.md"

_HEAD: Final = "| value | default | meaning |\n|---|---|---|\n"
_TEMPLATE: Final = (
    _HEAD + "{{ range .Values }}| `{{ .Key }}` | {{ default .AutoDefault .Default }} |"
    " {{ default .AutoDescription .Description }} |\n{{ end }}"
)
_SECONDS: Final = 60


def table(program: Path) -> str:
    """The table, with a row for each value that has a comment, in their order."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "Chart.yaml").write_text((CHART / "Chart.yaml").read_text())
        (folder / "values.yaml").write_text(marked((CHART / "values.yaml").read_text()))
        (folder / "table.gotmpl").write_text(_TEMPLATE)
        names = ("--template-files", "table.gotmpl", "--output-file", "table.md")
        command = (str(program), "--chart-search-root", name, *names, "--sort-values-order", "file")
        subprocess.run(command, check=True, timeout=_SECONDS, capture_output=True)  # noqa: S603 - helm-docs, no shell
        return (folder / "table.md").read_text().rstrip() + "\n"


def marked(values: str) -> str:
    """The text with the marks of helm-docs at each comment directly above a value, or a group that has no others."""
    return re.sub(r"^( *)# (?=.*\n\1[A-Za-z]+:(?: *\S|\n *[^#\s]))", r"\1# -- ", values, flags=re.MULTILINE)


def with_table(readme: str, rows: str) -> str:
    """The README with this table in place of the one that it has; raises ``ValueError`` if it has none."""
    standing = re.search(rf"^{re.escape(_HEAD)}(?:\|.*\n)*", readme, re.MULTILINE)
    if standing is None:
        raise ValueError(f"the README has no table that begins with {_HEAD!r}")
    return readme[: standing.start()] + rows + readme[standing.end() :]


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(), table(Path(sys.argv[1]))))
