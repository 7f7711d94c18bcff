"""Texts of a pod that are filled in when the pod is made, such as ``{{inputs.parameters.zone}}`` of Argo Workflows."""

from collections.abc import Iterator
from typing import Any, Final

from webhook.placement.text import keys

_ELSEWHERE: Final = frozenset(
    {
        "args", "command", "env", "envFrom", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "readinessProbe",
        "source", "startupProbe", "workingDir",
    }
)  # fmt: skip
"""Fields of containers on which no placement depends; labels may have the same names."""

_CONTAINERS: Final = frozenset({"containers", "initContainers"})

_VALUES: Final = 8_000
"""Values and names of fields of a pod that are looked at; one of a hundred containers has some thousand."""


def filled_in_later(template: dict[str, Any], placeholder: str) -> str:
    """The first text with the placeholder on which the placement of the pod depends; empty if there is none."""
    metadata = template["metadata"]
    said = [
        value
        for field in ("annotations", "labels")
        for key, value in (metadata.get(field) or {}).items()
        if isinstance(key, str) and key.startswith(keys.PREFIX)
    ]
    return next((text for text in _texts([said, template["spec"]]) if placeholder in text), "")


def _texts(root: object) -> Iterator[str]:
    """All texts in it that count, in the order in which they are written, of the first :data:`_VALUES` values."""
    pending = [root]
    for _ in range(_VALUES):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            pending += reversed(value)
        elif isinstance(value, dict):
            for field, inner in reversed(value.items()):
                pending += [_placed(inner) if field in _CONTAINERS else inner, field]


def _placed(containers: object) -> object:
    """The containers without the fields on which no placement depends."""
    if not isinstance(containers, list):
        return containers
    return [
        {field: value for field, value in one.items() if field not in _ELSEWHERE} if isinstance(one, dict) else one
        for one in containers
    ]
