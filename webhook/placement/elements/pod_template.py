"""The shape of a template: the parts of it that the pod of a processing element is built on, with their types.

CustomResourceDefinitions keep a template unchecked, as the API server checks the pod that is made of it. What a pod is
built on has to have its type before.
"""

from typing import Any

import msgspec
from msgspec import Struct

from webhook.placement.kube.pod import Pod
from webhook.placement.kube.size_limits import NESTING_LIMIT

_PART = {"frozen": True, "gc": False, "rename": "camel"}


class _NamedPart(Struct, **_PART):
    """A variable of the environment."""

    name: str = ""


class _Capabilities(Struct, **_PART):
    add: tuple[str, ...] | None = None


class _SecurityContext(Struct, **_PART):
    capabilities: _Capabilities | None = None


class _TemplateContainer(Struct, **_PART):
    env: tuple[_NamedPart, ...] | None = None
    volume_mounts: tuple[dict[str, Any], ...] | None = None
    liveness_probe: dict[str, Any] | None = None
    security_context: _SecurityContext | None = None


class _TemplateSpec(Struct, **_PART):
    containers: tuple[_TemplateContainer, ...] | None = None
    volumes: tuple[dict[str, Any], ...] | None = None
    image_pull_secrets: tuple[dict[str, Any], ...] | None = None


class _StatedTemplate(Struct, **_PART):
    spec: _TemplateSpec | None = None


def read_template(template: object) -> Pod:
    """The template as placement reads it; raises ``msgspec.ValidationError`` where a part has another type."""
    msgspec.convert(template, _StatedTemplate)
    return msgspec.convert(template, Pod)


def nested_too_deeply(template: object) -> bool:
    """Whether lists and objects of the template are nested deeper than :data:`NESTING_LIMIT`; never recurses."""
    level = [template]
    for _ in range(NESTING_LIMIT):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def is_readable(template: object) -> bool:
    """Whether every part of the template has its type."""
    try:
        read_template(template)
    except msgspec.ValidationError:
        return False
    return True
