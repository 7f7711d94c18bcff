"""Accounts of clients of the API server: names with tokens, and a kubeconfig for each."""

import dataclasses
import json
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

CLUSTER: Final = "streams-placement-e2e"


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """A user of the API server. ``name`` is what tests and kubeconfig files call it."""

    name: str
    user: str
    groups: tuple[str, ...] = ()
    token: str = dataclasses.field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)


def service_account(reference: str) -> Identity:
    """The identity of a ServiceAccount, given as ``namespace/name``; the object itself need not exist."""
    namespace, _, name = reference.partition("/")
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return Identity(reference, f"system:serviceaccount:{namespace}:{name}", groups)


def identities(node: str, accounts: Sequence[str]) -> dict[str, Identity]:
    """All of them by name: an administrator, a plain user, a kubelet, the parts of the plane, and ServiceAccounts."""
    known = (
        Identity("admin", "kubernetes-admin", ("system:masters",)),
        Identity("user", "jane", ("developers",)),
        Identity("node", f"system:node:{node}", ("system:nodes",)),
        Identity("scheduler", "system:kube-scheduler"),
        Identity("controllers", "system:kube-controller-manager"),
        Identity("kwok", "kwok", ("system:masters",)),  # writes the status of every node and pod, unlike a kubelet
        *map(service_account, accounts),
    )
    return {one.name: one for one in known}


def write_tokens(file: Path, known: Iterable[Identity]) -> None:
    """The file for ``--token-auth-file``: token, user, uid, groups."""
    lines = [f'{one.token},{one.user},uid-{one.user},"{",".join(one.groups)}"\n' for one in known]
    file.write_text("".join(lines))
    file.chmod(0o600)


def write_kubeconfig(folder: Path, identity: Identity, server: str, authority: Path) -> Path:
    """A kubeconfig in JSON, which every client reads as the YAML that it also is."""
    file = folder / f"{identity.name.replace('/', '.')}.kubeconfig"
    names = {"cluster": CLUSTER, "user": identity.name}
    cluster = {"server": server, "certificate-authority": str(authority)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CLUSTER, "cluster": cluster}],
        "users": [{"name": identity.name, "user": {"token": identity.token}}],
        "contexts": [{"name": CLUSTER, "context": names}],
        "current-context": CLUSTER,
    }
    file.write_text(json.dumps(config, indent=2))
    file.chmod(0o600)
    return file
