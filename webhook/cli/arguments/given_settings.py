"""The settings that a command was given by flags and environment, and the namespace that it is about."""

import argparse
from typing import TypeVar

from kubeapi.client.kubeconfig import namespace_of_context
from webhook import settings
from webhook.cli.declarations.setting_flags import DEFAULT_NAMESPACE
from webhook.cli.exits import WrongUse
from webhook.placement.kube.names import is_object_name
from webhook.placement.text.problem import quote
from webhook.settings import Settings

_Model = TypeVar("_Model", bound=Settings)


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


def namespace(arguments: argparse.Namespace, chosen: Settings) -> str:
    """The namespace that the flag states, or else the context of the kubeconfig, as for kubectl."""
    stated: str | None = arguments.namespace
    return (namespace_of_context(chosen.context) or DEFAULT_NAMESPACE) if stated is None else stated


def check_name(name: str, hint: str = "") -> None:
    """Raise :class:`WrongUse` if no object can have that name; ``hint`` goes on with the sentence."""
    if not is_object_name(name):
        raise WrongUse(f"{quote(name)} is not an object name: use a-z, 0-9, '-' and '.'{hint}")
