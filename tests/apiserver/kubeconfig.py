"""Ways to a server: a kubeconfig with one context, written as kubectl writes it, and credentials that never change."""

import base64
import json
from pathlib import Path
from typing import Any

from kubeapi.client.access import Access


class Kubeconfig:
    """A file at ``path``; ``user`` and ``cluster`` add to what it says. Without an authority the system's are used."""

    def __init__(
        self, path: Path, *, server: str, authority: bytes = b"", context: str = "test", token: str = ""
    ) -> None:
        self.path = path
        self.server = server
        self._authority = base64.b64encode(authority).decode() or None
        self._context = context
        self.write(token=token or "secret")

    def write(self, *, cluster: dict[str, Any] | None = None, **user: object) -> None:
        name = self._context
        stated = {"server": self.server, "certificate-authority-data": self._authority, **(cluster or {})}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "clusters": [{"name": name, "cluster": {key: value for key, value in stated.items() if value is not None}}],
            "users": [{"name": name, "user": user}],
        }
        self.path.write_text(json.dumps(content))


class Given:
    """Credentials that never change."""

    reread = 60.0

    def __init__(self, access: Access) -> None:
        self._access = access

    def read(self) -> Access:
        return self._access

    def renewed(self) -> Access:
        return self._access
