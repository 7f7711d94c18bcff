"""``python -m tools.crds``: write the chart's CustomResourceDefinitions from ``webhook.cluster.crds``."""

from pathlib import Path
from typing import Any, Final

import yaml

from webhook.cluster.crds.definitions import DEFINITIONS

FOLDER: Final = Path(__file__).parents[1] / "charts" / "streams-placement" / "crds"

_HEAD: Final = "# Made by python -m tools.crds from webhook/cluster/crds/definitions.py.\n"

_WIDTH: Final = 120
"""Columns, as in all files of the repository."""


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice: kubectl and people read no anchors."""

    def ignore_aliases(self, _data: object) -> bool:
        """All of them."""
        return True


def files() -> dict[Path, str]:
    """The text of every file."""
    documents = (definition() for definition in DEFINITIONS)
    return {FOLDER / f"{one['spec']['names']['plural']}.yaml": _HEAD + _text(one) for one in documents}


def _text(document: dict[str, Any]) -> str:
    text: str = yaml.dump(document, Dumper=_Plain, sort_keys=False, width=_WIDTH)
    return text


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
