"""Settings of Flink in ``flinkConfiguration``: single values, maps, lists of maps, and extended resources.

Sources: Flink's operator, ``ConfigObjectNode``; Flink, ``Configuration``, ``ConfigurationUtils``,
``StructuredOptionsSplitter``, ``KubernetesToleration`` and ``ExternalResourceUtils``. A value that Flink cannot read
counts as absent.

A text is read as YAML first (``{disk: ssd}``), and else in the older form (``disk:ssd``), as Flink 2 does. What YAML
reads as a map or a list of maps is no valid label or toleration in the older form, so the version makes no difference.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from webhook.placement.annotations.yaml_text import parse_yaml

Value: TypeAlias = Any
"""A decoded JSON value."""

_LONGEST: Final = 253 + 1 + 63
"""Characters of the longest key of a label: its prefix is a DNS name."""

_RESOURCES: Final = 16
"""Extended resources that are looked up: a node has a few kinds of devices."""

_SECONDS: Final = "tolerationSeconds"
_FIELDS: Final = {field.lower(): field for field in ("key", "operator", "value", "effect", _SECONDS)}
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_PARTS: Final = {
    delimiter: re.compile(rf"""(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^'"{delimiter}]*))({delimiter}|\Z)""")
    for delimiter in ",:;"
}
"""A part of a text with its delimiter: quoted, where quotes are doubled, or plain."""


def setting(settings: Value, name: Value) -> Value:
    """The setting of that name, as a key with dots, or in objects that have the parts of the name as their keys.

    Of several the one with the longest first key counts, which comes last in the order of keys. A list is one text with
    semicolons, in which an entry that is no scalar is empty.
    """
    if not isinstance(settings, dict) or not isinstance(name, str):
        return None
    if (value := settings.get(name)) is not None and not isinstance(value, dict):
        return ";".join(_text(one) or "" for one in value) if isinstance(value, list) else value
    ends = [at for at, letter in enumerate(name) if letter == "."]
    inner = (setting(settings.get(name[:end]), name[end + 1 :]) for end in reversed(ends))
    return next((value for value in inner if value is not None), None)


def setting_map(settings: Value, name: Value) -> dict[str, str] | None:
    """The map of that name: ``a:b,c:d`` or ``{a: b, c: d}`` as its value, or an entry for each longer name.

    ``None`` if there is none.
    """
    value = setting(settings, name)
    if value is not None:
        return (_texts(_yaml(value)) or _map(value)) if isinstance(value, str) else None
    return dict(_longer(settings, f"{name}.")) or None


def setting_tolerations(settings: Value, name: Value) -> list[dict[str, Value]] | None:
    """The tolerations of that name: ``key:a,operator:Exists;key:b,value:c``, or a list of maps in YAML.

    ``None`` if there are none.
    """
    value = setting(settings, name)
    if not isinstance(value, str):
        return None
    listed = _yaml(value)
    entries = [*map(_texts, listed)] if isinstance(listed, list) else [*map(_map, _split(value, ";") or ())]
    tolerations = [one for entry in entries if entry and (one := _toleration(entry)) is not None]
    return tolerations if tolerations and len(tolerations) == len(entries) else None


def setting_resources(settings: Value, names: Value) -> dict[str, Value] | None:
    """Amounts of the extended resources of a TaskManager, whose names are the list of that name; ``None`` if none.

    The resource ``gpu`` has its settings below ``external-resource.gpu``: an ``amount``, and what Kubernetes calls it.
    """
    value = setting(settings, names)
    if not isinstance(value, str):
        return None
    listed = _yaml(value)
    amounts: dict[str, Value] = {}
    for one in (listed if isinstance(listed, list) else _split(value, ";") or ())[:_RESOURCES]:
        if not isinstance(one, str) or len(one) > _LONGEST:
            continue
        resource = setting(settings, f"external-resource.{one}.kubernetes.config-key")
        amount = _text(setting(settings, f"external-resource.{one}.amount")) or ""
        if isinstance(resource, str) and resource.strip() and _WHOLE.fullmatch(amount) and int(amount) > 0:
            amounts[resource] = int(amount)
    return amounts or None


def _longer(settings: Value, prefix: str) -> Iterator[tuple[str, str]]:
    """What follows the prefix in the names of settings, with their values, those of nested objects first."""
    waiting: list[tuple[str, Value]] = [("", settings)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            start = f"{name}." if name else ""
            waiting += ((f"{start}{key}", inner) for key, inner in value.items() if _leads(f"{start}{key}", prefix))
        elif name.startswith(prefix) and (text := _text(value)) is not None:
            yield name.removeprefix(prefix), text


def _leads(name: str, prefix: str) -> bool:
    """Whether settings in the object of that name, or this one, may have the prefix."""
    return prefix.startswith(f"{name}.") or (name.startswith(prefix) and len(name) <= len(prefix) + _LONGEST)


def _text(value: Value) -> str | None:
    """A value as a text; ``None`` for a list, and where there is none."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int, float)) else None


def _yaml(text: str) -> Value:
    """What the text is in YAML; ``None`` if it cannot be read."""
    return parse_yaml(text, "")[0]


def _texts(value: Value) -> dict[str, str] | None:
    """The map with texts as its values; ``None`` for any other value."""
    return value if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()) else None


def _map(text: str) -> dict[str, str] | None:
    """The entries of a map in a text; ``None`` if one is no pair."""
    entries: dict[str, str] = {}
    for pair in _split(text, ",") or [""]:
        match _split(pair, ":"):
            case [key, value]:
                entries[key] = value
            case _:
                return None
    return entries


def _toleration(entries: dict[str, str]) -> dict[str, Value] | None:
    """A toleration of which the names of fields may be in any case; ``None`` if it cannot be read."""
    made: dict[str, Value] = {_FIELDS[key.lower()]: value for key, value in entries.items() if key.lower() in _FIELDS}
    if _SECONDS in made:
        if not _WHOLE.fullmatch(made[_SECONDS]):
            return None
        made[_SECONDS] = int(made[_SECONDS])
    return made


def _split(text: str, delimiter: str) -> list[str] | None:
    """The parts of a text between delimiters; ``None`` if quotes are elsewhere than around a part."""
    parts, at, end = [], 0, delimiter
    while end:
        part = _PARTS[delimiter].match(text, at)
        if part is None:
            return None
        single, double, plain, end = part.groups()
        quoted = ((single, "'"), (double, '"'))
        parts.append(next((one.replace(mark * 2, mark) for one, mark in quoted if one is not None), plain))
        at = part.end()
    return parts
