"""A kubeconfig with one context, written as kubectl writes it."""

import base64
import json
from pathlib import Path
from typing import Any


class Kubeconfig:
    """A file at ``path``; ``user`` and ``cluster`` add to what it says."""

    def __init__(self, path: Path, *, server: str, authority: bytes, context: str = "test") -> None:
        self.path = path
        self.server = server
        self._authority = base64.b64encode(authority).decode()
        self._context = context
        self.write(token="secret")

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
