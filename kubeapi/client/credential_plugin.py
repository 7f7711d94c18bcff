"""``run_plugin``: runs a client-go credential plugin, which prints an ``ExecCredential`` with a token or a certificate.

See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins and client-go,
``plugin/pkg/client/auth/exec/exec.go``.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from kubeapi.client.decoding import ERRORS, inspect_types, reason
from kubeapi.client.kubeconfig_file import Plugin, StatedCluster

V1BETA1: Final = "client.authentication.k8s.io/v1beta1"
VERSIONS: Final = ("client.authentication.k8s.io/v1", V1BETA1)
"""The versions of ``ExecCredential`` that kubectl accepts."""


class PluginCluster(Struct, rename="kebab", omit_defaults=True):
    """The cluster that a plugin with ``provideClusterInfo`` is told; ``certificate_authority_data`` is PEM."""

    server: str
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    config: object = None


class _Spec(Struct, omit_defaults=True):
    interactive: bool
    cluster: PluginCluster | None = None


class _Question(Struct, rename="camel"):
    api_version: str
    spec: _Spec
    kind: str = "ExecCredential"


class PluginCredential(Struct, rename="camel"):
    """``status`` of the plugin's answer; ``expiration_timestamp`` ``None`` is never."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Annotated[datetime, Meta(tz=True)] | None = None


class _Answer(Struct, rename="camel"):
    api_version: str
    status: PluginCredential | None = None


def told(cluster: StatedCluster, authority: bytes, extension: object) -> PluginCluster:
    """What a plugin is told of its cluster; ``extension`` is the cluster's value for the plugin."""
    return PluginCluster(
        cluster.server,
        tls_server_name=cluster.tls_server_name,
        insecure_skip_tls_verify=cluster.insecure_skip_tls_verify,
        certificate_authority_data=authority,
        proxy_url=cluster.proxy_url,
        disable_compression=cluster.disable_compression,
        config=extension,
    )


def run_plugin(
    plugin: Plugin, cluster: PluginCluster | None, *, isatty: Callable[[int], bool] = os.isatty
) -> PluginCredential:
    """Run the plugin and return its credentials. Raises ``ValueError`` if it is misconfigured, missing, or fails.

    Where standard error is a terminal, the plugin writes to it; elsewhere the last line of it is part of the error.
    """
    command = shutil.which(plugin.command)
    interactive = _interactive(plugin, isatty)
    if command is None:
        hint = f"; {' '.join(plugin.install_hint.split())}" if plugin.install_hint else ""
        raise ValueError(f"the credential plugin {plugin.command} is not installed{hint}")
    done = subprocess.run(  # noqa: S603 -- the kubeconfig is the user's own, and names the program
        [command, *plugin.args],
        env=_environment(plugin, _Question(plugin.api_version, _Spec(interactive, cluster))),
        stdin=None if interactive else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if isatty(2) else subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        lines = (done.stderr or b"").decode(errors="replace").strip().splitlines()
        why = f": {lines[-1]}" if lines else ""
        raise ValueError(f"the credential plugin {plugin.command} failed with exit code {done.returncode}{why}")
    return _credential(plugin, done.stdout)


def _interactive(plugin: Plugin, isatty: Callable[[int], bool]) -> bool:
    """Whether the plugin gets standard input."""
    if not plugin.command:
        raise ValueError("exec names no command")
    if plugin.api_version not in VERSIONS:
        raise ValueError(f"exec has apiVersion {plugin.api_version or '(none)'}, not one of {', '.join(VERSIONS)}")
    mode = plugin.interactive_mode or ("IfAvailable" if plugin.api_version == V1BETA1 else "")
    if not mode:
        raise ValueError(f"exec of {plugin.api_version} must state interactiveMode: Never, IfAvailable or Always")
    if mode == "Always" and not isatty(0):
        raise ValueError(f"the credential plugin {plugin.command} needs a terminal, and standard input is not one")
    return mode != "Never" and isatty(0)


def _environment(plugin: Plugin, question: _Question) -> Mapping[str, str]:
    return {
        **os.environ,
        **{variable.name: variable.value for variable in plugin.env},
        "KUBERNETES_EXEC_INFO": msgspec.json.encode(question).decode(),
    }


def _credential(plugin: Plugin, printed: bytes) -> PluginCredential:
    """The credentials that a plugin has printed."""
    name = f"the credential plugin {plugin.command}"
    try:
        answer = msgspec.json.decode(printed, type=_Answer)
    except ERRORS as error:
        raise ValueError(f"{name} printed no ExecCredential: {reason(error)}") from None
    if answer.api_version != plugin.api_version:
        raise ValueError(f"{name} answers in {answer.api_version}, and exec states {plugin.api_version}")
    status = answer.status or PluginCredential()
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ValueError(f"{name} printed only one of clientCertificateData and clientKeyData")
    if not status.token and not status.client_key_data:
        raise ValueError(f"{name} printed neither a token nor a certificate")
    return status


inspect_types(__name__)  # threads that read several clusters import this module when they need it first
