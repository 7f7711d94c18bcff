"""``RestSettings``: the settings of ``hpa-api``, as flags and environment variables (``docs/rest.md``, Settings)."""

from pydantic import field_validator

from webhook.rest.rest_setting_fields import RestSettingFields
from webhook.rest.storage.cluster_store import NamespaceMap
from webhook.settings import Settings


class RestSettings(RestSettingFields, Settings):
    """The settings of the REST interface; those that it shares with other programs have their names and variables."""

    @field_validator("namespace")
    @classmethod
    def _is_a_namespace(cls, text: str) -> str:
        NamespaceMap(text)
        return text
