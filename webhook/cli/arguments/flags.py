"""Command line flags for the fields of ``Settings``: name, type, default and help come from the field's declaration."""

import argparse
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from pydantic.fields import FieldInfo

from kubeapi.client.kubeconfig import namespace_of_context
from webhook import settings
from webhook.cli.exits import WrongUse
from webhook.placement.kube.names import is_object_name
from webhook.placement.text.problem import quote
from webhook.settings import Settings

_METAVARS: Final[dict[object, str]] = {int: "NUMBER", float: "SECONDS", str: "TEXT", str | None: "NAME"}


JUDGING: Final = (
    "host_binding", "unknown_annotations", "elastic", "scale_up", "node_shapes",
    "exclusive_effect", "exclusive_strangers",
    "excluded_namespaces", "poolable_nodes", "exclusive_quota", "pool_quota",
)  # fmt: skip
"""The settings on which verdicts depend, for commands that judge manifests by themselves."""

DEFAULT_NAMESPACE: Final = "default"
"""The namespace where neither a flag nor the context of the kubeconfig states one, as for kubectl."""

_Model = TypeVar("_Model", bound=Settings)


def add(parser: argparse.ArgumentParser, fields: Iterable[str], model: type[Settings] = Settings) -> None:
    """Declare a flag for each of these fields of the model; without the flag the environment variable counts."""
    for name in fields:
        field = model.model_fields[name]
        parser.add_argument(settings.flag(name), default=argparse.SUPPRESS, help=_help(name, field), **_kind(field))


def read(arguments: argparse.Namespace) -> Settings:
    """The settings from flags and environment; raises :class:`WrongUse` if a value is wrong."""
    return read_as(arguments, Settings)


def read_as(arguments: argparse.Namespace, model: type[_Model]) -> _Model:
    """Settings of the type ``model``, read as by :func:`read`."""
    flags = {name: value for name, value in vars(arguments).items() if name in model.model_fields}
    try:
        return settings.read_as(flags, model)
    except settings.WrongSettingError as wrong:
        raise WrongUse(str(wrong)) from wrong


def add_namespace(parser: argparse.ArgumentParser, whose: str) -> None:
    """Declare ``-n`` of a command about a live cluster; ``whose`` says of what it is the namespace."""
    default = f"that of the context, else {DEFAULT_NAMESPACE}"
    parser.add_argument("-n", "--namespace", metavar="NAME", help=f"{whose} (default: {default}).")


def namespace(arguments: argparse.Namespace, chosen: Settings) -> str:
    """The namespace that the flag states, or else the context of the kubeconfig, as for kubectl."""
    stated: str | None = arguments.namespace
    return (namespace_of_context(chosen.context) or DEFAULT_NAMESPACE) if stated is None else stated


def check_name(name: str, hint: str = "") -> None:
    """Raise :class:`WrongUse` if no object can have that name; ``hint`` goes on with the sentence."""
    if not is_object_name(name):
        raise WrongUse(f"{quote(name)} is not an object name: use a-z, 0-9, '-' and '.'{hint}")


def _kind(field: FieldInfo) -> dict[str, Any]:
    """Arguments of ``add_argument`` for the field's type; ``Settings`` checks the value."""
    if field.annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(field.annotation) is Literal:
        return {"choices": get_args(field.annotation)}
    stated = field.json_schema_extra
    return {"metavar": stated["metavar"] if isinstance(stated, dict) else _METAVARS.get(field.annotation, "PATH")}


def _help(name: str, field: FieldInfo) -> str:
    default = {"None": "none", "": "none", "True": "yes", "False": "no"}.get(str(field.default), field.default)
    return f"{field.description} [{settings.variable(name)}, default: {default}]".replace("%", "%%")
