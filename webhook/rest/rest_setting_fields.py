"""The settings of ``hpa-api`` as they are declared, for flags and help (``docs/rest.md``, Settings)."""

from pathlib import Path
from typing import Annotated, Final

from webhook.setting_fields import SettingFields, SettingRule

AUDIENCE: Final = "streams-placement-hpa-api"
"""Audience of tokens for this interface: what is sent here must be of no use at the API server itself."""


class RestSettingFields(SettingFields):
    """The settings of the REST interface; those that it shares with other programs have their names and variables."""

    host: Annotated[str, SettingRule("Listen address.", min_length=1)] = "127.0.0.1"
    port: Annotated[int, SettingRule("Listen port; 0 picks a free one.", ge=0, le=65535)] = 8090
    store: Annotated[
        Path | None, SettingRule("SQLite file that stores the intents; without it they are objects of a cluster.")
    ] = None
    namespace: Annotated[
        str,
        SettingRule(
            "Namespace of the objects; {project} stands for the name of the project.", min_length=1, max_length=253
        ),
    ] = "default"
    token_file: Annotated[
        Path | None, SettingRule("File with the accepted tokens, one per line; without it, see --authorize.")
    ] = None
    authorize: Annotated[
        bool,
        SettingRule(
            "Authenticate and authorize users through the API server; the default beyond loopback without --token-file."
        ),
    ] = False
    audience: Annotated[
        str, SettingRule("Audience of tokens of the cluster; empty for that of the API server.", max_length=1024)
    ] = AUDIENCE
    max_rate: Annotated[
        int, SettingRule("Requests per second that one client address may make; 0 for unlimited.", ge=0, le=1_000_000)
    ] = 10_000
    clusters: Annotated[
        Path | None, SettingRule("Folder with one snapshot folder per cluster, from which hpa-placement is answered.")
    ] = None
    contexts: Annotated[
        str,
        SettingRule(
            "Contexts of the kubeconfig, such as edge-1,edge-2 or name=context, to answer hpa-placement from.",
            max_length=65_536,
        ),
    ] = ""
    cluster_timeout: Annotated[
        float,
        SettingRule("Seconds in which a cluster must answer; no app is placed on one that does not.", gt=0, le=60),
    ] = 5.0
    cluster_parallel: Annotated[
        int, SettingRule("Clusters that are read and kept in memory concurrently.", ge=1, le=1000)
    ] = 8
