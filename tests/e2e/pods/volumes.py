"""Volumes of a pod as folders, refreshed as by a kubelet: files never change, a symbolic link is swapped."""

import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.e2e.client.api import Object
from tests.e2e.pods.pod_sources import Sources, UnsupportedError, field

Files = dict[str, bytes]

_DATA: Final = "..data"
"""The link that is swapped; ``pkg/volume/util/atomic_writer.go`` of Kubernetes has the same name for it."""


def contents(volume: Mapping[str, Any], pod: Object, address: str, sources: Sources, token: Callable[[], str]) -> Files:
    """The files of a volume by name; raises NotYetError while a Secret or ConfigMap is missing."""
    if "projected" in volume:
        files: Files = {}
        for source in volume["projected"].get("sources", ()):
            files |= contents(source, pod, address, sources, token)
        return files
    if "secret" in volume:
        one = volume["secret"]
        name = one.get("secretName") or one["name"]
        return _picked(one, sources.secret(name, optional=bool(one.get("optional"))))
    if "configMap" in volume:
        one = volume["configMap"]
        return _picked(one, sources.config_map(one["name"], optional=bool(one.get("optional"))))
    if "downwardAPI" in volume:
        items = volume["downwardAPI"].get("items", ())
        return {item["path"]: field(pod, item["fieldRef"]["fieldPath"], address).encode() for item in items}
    if "serviceAccountToken" in volume:
        return {volume["serviceAccountToken"]["path"]: token().encode()}
    raise UnsupportedError(f"volume {volume.get('name', '')}: {', '.join(key for key in volume if key != 'name')}")


def write(folder: Path, files: Files) -> None:
    """Make the folder show exactly these files, all of them from one moment to the next."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"..{secrets.token_hex(8)}"
    for name, data in files.items():
        file = fresh / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    fresh.mkdir(exist_ok=True)
    before = (folder / _DATA).resolve() if (folder / _DATA).exists() else None
    (folder / "..data_tmp").symlink_to(fresh.name)
    (folder / "..data_tmp").replace(folder / _DATA)
    tops = {name.split("/")[0] for name in files}
    for name in tops:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"{_DATA}/{name}")
    for shown in folder.iterdir():
        if not shown.name.startswith("..") and shown.name not in tops:
            shown.unlink()
    if before is not None:
        shutil.rmtree(before)


def _picked(source: Mapping[str, Any], files: Files) -> Files:
    """All files, or the ``items`` under their paths."""
    if "items" not in source:
        return files
    return {item["path"]: files[item["key"]] for item in source["items"] if item["key"] in files}
