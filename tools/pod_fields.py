"""``python -m tools.pod_fields``: write the table of the fields of a pod template from the models of ``kubernetes``."""

import re
import textwrap
from pathlib import Path
from typing import Any, Final

from kubernetes.client import models

FILE: Final = Path(__file__).parents[1] / "webhook" / "placement" / "kube" / "pod_fields.py"

_ROOT: Final = "V1PodTemplateSpec"
_TYPE: Final = re.compile(r"(?:List\[)?(\w+)\]?")
"""A type, or a list of it; maps have keys of the user's own."""

_WIDTH: Final = 120

_HEAD: Final = '''"""The fields of a pod template and of all that is in it. Made by ``python -m tools.pod_fields``.

Each line has the name of a type and its fields. A field that is an object is followed by its type, one that is a list
of objects by their type and ``[]``.
"""

from typing import Final

ROOT: Final = "{root}"

TABLE: Final = """
{table}
"""
'''


def fields(name: str) -> dict[str, str]:
    """The fields of a model, each with its own model, and ``[]`` for a list; empty for texts, numbers and maps."""
    model: Any = getattr(models, name)
    kinds = {}
    for attribute, kind in model.openapi_types.items():
        match = _TYPE.fullmatch(kind)
        inner = match[1] if match and hasattr(getattr(models, match[1], None), "openapi_types") else ""
        kinds[model.attribute_map[attribute]] = inner and inner + "[]" * kind.startswith("List[")
    return kinds


def table() -> dict[str, dict[str, str]]:
    """The fields of all models that a pod template is made of."""
    fields_of: dict[str, dict[str, str]] = {}
    pending = [_ROOT]
    while pending:
        name = pending.pop()
        if name not in fields_of:
            fields_of[name] = fields(name)
            pending += [inner.removesuffix("[]") for inner in fields_of[name].values() if inner]
    return {name: fields_of[name] for name in sorted(fields_of)}


def text() -> str:
    """The module."""
    lines = []
    for name, known in table().items():
        words = [
            f"{_short(name)}:",
            *(f"{field}={_short(inner)}" if inner else field for field, inner in known.items()),
        ]
        lines += textwrap.wrap(" ".join(words), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return _HEAD.format(root=_short(_ROOT), table="\n".join(lines))


def _short(name: str) -> str:
    return re.sub(r"^(Core)?V1", "", name)


if __name__ == "__main__":
    FILE.write_text(text())
