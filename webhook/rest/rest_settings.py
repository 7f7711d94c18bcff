"""``RestSettings``: the settings of ``hpa-api``, as flags and environment variables (``docs/rest.md``, Settings)."""

from pathlib import Path
from typing import Final

from pydantic import Field, field_validator

from webhook.rest.storage.cluster_store import NamespaceMap
from webhook.settings import Settings

AUDIENCE: Final = "streams-placement-hpa-api"
"""Audience of tokens for this interface: what is sent here must be of no use at the API server itself."""


class RestSettings(Settings):
    """The settings of the REST interface; those that it shares with other programs have their names and variables."""

    host: str = Field("127.0.0.1", min_length=1, description="Listen address.")
    port: int = Field(8090, ge=0, le=65535, description="Listen port; 0 picks a free one.")
    store: Path | None = Field(
        None, description="SQLite file that stores the intents; without it they are objects of a cluster."
    )
    namespace: str = Field(
        "default",
        min_length=1,
        max_length=253,
        description="Namespace of the objects; {project} stands for the name of the project.",
    )
    token_file: Path | None = Field(
        None, description="File with the accepted tokens, one per line; without it, see --authorize."
    )
    authorize: bool = Field(
        default=False,
        description="Authenticate and authorize users through the API server; the default beyond loopback without "
        "--token-file.",
    )
    audience: str = Field(
        AUDIENCE,
        max_length=1024,
        description="Audience of tokens of the cluster; empty for that of the API server.",
    )
    max_rate: int = Field(
        10_000, ge=0, le=1_000_000, description="Requests per second that one client address may make; 0 for unlimited."
    )

    clusters: Path | None = Field(
        None, description="Folder with one snapshot folder per cluster, from which hpa-placement is answered."
    )
    contexts: str = Field(
        "",
        max_length=65_536,
        description="Contexts of the kubeconfig, such as edge-1,edge-2 or name=context, to answer hpa-placement from.",
    )
    cluster_timeout: float = Field(
        5.0, gt=0, le=60, description="Seconds in which a cluster must answer; no app is placed on one that does not."
    )
    cluster_parallel: int = Field(
        8, ge=1, le=1000, description="Clusters that are read and kept in memory concurrently."
    )

    @field_validator("namespace")
    @classmethod
    def _is_a_namespace(cls, text: str) -> str:
        NamespaceMap(text)
        return text
