"""The settings of an installation, read from environment variables and flags, with defaults (``docs/operations.md``).

Every field is an environment variable and also a flag of the commands that use it. ``webhook/setting_fields.py``
declares the fields.
"""

import os
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar, get_args

from pydantic import ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from webhook.placement.inventory.foreign_pods import parse_namespaces
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import parse_quota
from webhook.placement.kube.selection.selector_text import parse_selector
from webhook.placement.nodegroups.node_shapes import node_shapes
from webhook.placement.objects.jobs.job_resources import parse_requests
from webhook.placement.text.problem import quote
from webhook.setting_fields import PREFIX, SettingFields, flag, variable

_URL: Final = re.compile(r"https?://[^\s/]+(/\S*)?")


class Settings(SettingFields, BaseSettings):
    """The settings of one installation. An unset or empty variable stands for the default."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 -- named by pydantic, which passes all of them by their names
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 -- see above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 -- see above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then variables; each field is looked for only if there is a variable with the prefix.

        That look takes some milliseconds, which most commands need not wait for.
        """
        stated = any(name.upper().startswith(PREFIX) for name in os.environ)
        return (init_settings, env_settings) if stated else (init_settings,)

    @field_validator("element_requests")
    @classmethod
    def _are_requests(cls, text: str) -> str:
        parse_requests(text)
        return text

    @field_validator("traces_endpoint")
    @classmethod
    def _is_a_url(cls, text: str) -> str:
        if text and not _URL.fullmatch(text):
            raise ValueError("it should be a URL such as http://collector:4318/v1/traces")
        return text

    @field_validator("poolable_nodes")
    @classmethod
    def _is_a_selector(cls, text: str) -> str:
        parse_selector(text)
        return text

    @field_validator("excluded_namespaces")
    @classmethod
    def _are_namespaces(cls, text: str) -> str:
        parse_namespaces(text)
        return text

    @field_validator("node_shapes")
    @classmethod
    def _are_shapes(cls, text: str) -> str:
        node_shapes(text)
        return text

    @field_validator("exclusive_quota", "pool_quota")
    @classmethod
    def _is_a_quota(cls, text: str) -> str:
        parse_quota(text)
        return text


def policy_of(settings: Settings) -> Policy:
    """The settings that change decisions, as the core takes them; ``ValueError`` for an invalid selector."""
    everybody = settings.strict or settings.exclusive_strangers == "all"
    excluded = parse_namespaces(settings.excluded_namespaces)
    return Policy(
        host_binding=settings.host_binding,
        unknown_annotations=settings.unknown_annotations,
        elastic=settings.elastic,
        scale_up=settings.scale_up,
        node_shapes=node_shapes(settings.node_shapes),
        unsatisfiable_pods=settings.unsatisfiable_pods,
        audit=settings.mode == "audit",
        verify_pods=settings.verify_pods,
        exclusive_effect=settings.exclusive_effect,
        poolable=parse_selector(settings.poolable_nodes),
        quota=parse_quota(settings.exclusive_quota),
        pool_quota=parse_quota(settings.pool_quota),
        guard_nodes=settings.guard_nodes,
        guard_bindings=settings.guard_bindings or settings.strict,
        strict=settings.strict,
        spared=excluded if everybody else None,
        excluded=excluded,
        controller_account=settings.controller_account,
        element_requests=parse_requests(settings.element_requests),
        described_devices=settings.claim_templates,
        reviewed=frozenset(map(_group_and_kind, _listed(settings.reviewed_kinds))),
        operator_accounts=frozenset(_listed(settings.operator_accounts)),
    )


def _listed(text: str) -> list[str]:
    """The parts between commas that are not empty."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _group_and_kind(name: str) -> tuple[str, str]:
    """Group and kind of a name such as ``RayCluster.ray.io``."""
    kind, _, group = name.partition(".")
    return group, kind


class WrongSettingError(ValueError):
    """Settings that break their rules; the text has a sentence for each, with the name of the variable or flag."""


_Model = TypeVar("_Model", bound=Settings)


def read(flags: Mapping[str, str | bool]) -> Settings:
    """Settings from the flags, by field, and for all other fields from the environment.

    Raises :class:`WrongSettingError` with all mistakes.
    """
    return read_as(flags, Settings)


def read_as(flags: Mapping[str, str | bool], model: type[_Model]) -> _Model:
    """Settings of the type ``model``, read as by :func:`read`."""
    values: dict[str, Any] = dict(flags)
    try:
        return model(**values)
    except ValidationError as trouble:
        raise WrongSettingError("; ".join(_sentence(error, flags, model) for error in trouble.errors())) from None


def _sentence(error: Mapping[str, Any], flags: Mapping[str, str | bool], model: type[Settings]) -> str:
    field = str(error["loc"][0])
    name = flag(field) if field in flags else variable(field)
    return f"{name} is {quote(str(error['input']))}, but {_rule(field, error, model)}"


def _rule(field: str, error: Mapping[str, Any], model: type[Settings]) -> str:
    """The rule that a value breaks: the list of choices, the bounds of a number, or the sentence of a validator."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "literal_error":
        *others, last = get_args(model.model_fields[field].annotation)
        return f"it should be {', '.join(others)} or {last}"
    return f"it should {error['msg'].partition(',')[0].partition(' should ')[2]}"
