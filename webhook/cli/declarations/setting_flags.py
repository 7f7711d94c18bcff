"""Flags for the settings: name, type, default and help come from their declarations."""

import argparse
from collections.abc import Iterable
from typing import Any, Final, Literal, get_args, get_origin

from webhook.setting_fields import Declared, SettingFields, declared, flag, variable

_METAVARS: Final[dict[object, str]] = {int: "NUMBER", float: "SECONDS", str: "TEXT", str | None: "NAME"}


JUDGING: Final = (
    "host_binding", "unknown_annotations", "elastic", "scale_up", "node_shapes",
    "exclusive_effect", "exclusive_strangers",
    "excluded_namespaces", "poolable_nodes", "exclusive_quota", "pool_quota",
)  # fmt: skip
"""The settings on which verdicts depend, for commands that judge manifests by themselves."""

DEFAULT_NAMESPACE: Final = "default"
"""The namespace where neither a flag nor the context of the kubeconfig states one, as for kubectl."""


def add_settings(
    parser: argparse.ArgumentParser, names: Iterable[str], fields: type[SettingFields] = SettingFields
) -> None:
    """Declare a flag for each of these settings; without the flag the environment variable counts."""
    known = declared(fields)
    for name in names:
        setting = known[name]
        parser.add_argument(flag(name), default=argparse.SUPPRESS, help=_help(name, setting), **_kind(setting))


def add_namespace(parser: argparse.ArgumentParser, whose: str) -> None:
    """Declare ``-n`` of a command about a live cluster; ``whose`` says of what it is the namespace."""
    default = f"that of the context, else {DEFAULT_NAMESPACE}"
    parser.add_argument("-n", "--namespace", metavar="NAME", help=f"{whose} (default: {default}).")


def _kind(setting: Declared) -> dict[str, Any]:
    """Arguments of ``add_argument`` for the setting's type; ``Settings`` checks the value."""
    if setting.kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(setting.kind) is Literal:
        return {"choices": get_args(setting.kind)}
    return {"metavar": setting.rule.metavar or _METAVARS.get(setting.kind, "PATH")}


def _help(name: str, setting: Declared) -> str:
    shown = str(setting.default)
    default = {"None": "none", "": "none", "True": "yes", "False": "no"}.get(shown, shown)
    return f"{setting.rule.description} [{variable(name)}, default: {default}]".replace("%", "%%")
