"""The manifest of the plugin, by which Krew finds the archive of a platform and checks it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tools.krew.archive import PROGRAM, PYTHONS, Platform

NAME: Final = "streams-placement"
"""The name of the plugin, and of its manifest's file."""

_SHORT: Final = "Explain where pods of streaming jobs can run, and why not"
"""At most some 50 characters, without a full stop, by Krew's guide."""

_DESCRIPTION: Final = """\
Shows the verdict of the admission webhook streams-placement for a manifest:
which nodes can run each pod, which rule removes each of the others, and the
nearest fix if no node is left. Plans whole jobs, shows their state, and finds
the clusters that can take an application. Reads a cluster with the rights of
its user, or a folder with the output of kubectl.
"""

_CAVEATS: Final = """\
It needs Python {pythons} on the PATH.
For completion, write this file to a folder on the PATH and make it executable:
  kubectl streams-placement completion kubectl > kubectl_complete-streams_placement
"""


def manifest(version: str, homepage: str, url: str, archives: Mapping[Platform, Path]) -> str:
    """The manifest as YAML; ``url`` is the folder that the archives are published in."""
    platforms = [_platform(platform, f"{url.rstrip('/')}/{path.name}", path) for platform, path in archives.items()]
    document = {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": NAME},
        "spec": {
            "version": f"v{version}",
            "homepage": homepage,
            "shortDescription": _SHORT,
            "description": _DESCRIPTION,
            "caveats": _CAVEATS.format(pythons=f"{', '.join(PYTHONS[:-1])} or {PYTHONS[-1]}"),
            "platforms": platforms,
        },
    }
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=120)
    return text


def _platform(platform: Platform, uri: str, path: Path) -> dict[str, Any]:
    return {
        "selector": {"matchLabels": {"os": platform.os, "arch": platform.arch}},
        "uri": uri,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bin": PROGRAM,
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
