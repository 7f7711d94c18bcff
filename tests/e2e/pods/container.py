"""Runs the container of a pod as a plain process, with command, arguments and environment of the pod's spec.

Three things are rewritten, because a plain process has no file system and no network of its own:
the path of a mount becomes the folder that stands for the volume; a wildcard address to listen on becomes the
loopback address of this pod; and the first word of the command becomes the program of the working copy.
"""

import dataclasses
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.e2e.client.api import Object
from tests.e2e.pods.addresses import loopback
from tests.e2e.pods.pod_sources import NotYetError, Sources, UnsupportedError, referred

SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"

PROGRAMS: Final[Mapping[str, Sequence[str]]] = {
    "": (sys.executable, "-m", "webhook"),
    "streams-placement": (sys.executable, "-m", "webhook"),
    "streams-placement-certs": (sys.executable, "-m", "certs"),
}
"""What runs instead of the first word of ``command``; "" is for a container that leaves that to its image."""

_INHERITED: Final = ("PATH", "LANG", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
"""What a process needs of the test run: programs, and coverage of its own."""

_CLONE: Final = str(Path(__file__).resolve().parents[3])

_WILDCARD: Final = re.compile(r"(?<![\w.:\[])(?:0\.0\.0\.0|\[::\]|::)(?=:\d|$)")

_REFERENCE: Final = re.compile(r"\$\$|\$\(([\w.-]+)\)")


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where a pod is: its address in the API, its folder, and the API server that its processes may talk to."""

    address: str
    folder: Path
    api_port: int

    def volume(self, name: str) -> Path:
        """The folder that stands for a volume."""
        return self.folder / "volumes" / name

    @property
    def service_account(self) -> Path:
        """The folder with token, ca.crt and namespace."""
        return self.volume("..serviceaccount")


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """A command with its environment, ready for a process."""

    command: list[str]
    environment: dict[str, str]


def run_of(
    pod: Object, place: Place, sources: Sources, programs: Mapping[str, Sequence[str]], extra: Mapping[str, str]
) -> Run:
    """How to run the container of a pod.

    ``extra`` environment may say ``{address}``, ``{service_account}``, and ``{tag}`` for that of the image.
    """
    container = _only_container(pod)
    declared = _declared(container, pod, place, sources)
    words = [_expanded(word, declared) for word in (*container.get("command", ("",)), *container.get("args", ()))]
    if words[0] not in programs:
        raise NotYetError(f"there is no program for the command {words[0]!r}")
    here = _here(container, place)
    known = {
        "address": loopback(place.address),
        "service_account": str(place.service_account),
        "tag": container.get("image", "").rpartition(":")[2],
    }
    environment = {
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        "PYTHONPATH": _CLONE,
        "HOME": str(place.folder),
        "TMPDIR": str(place.folder),
        "HOSTNAME": pod["metadata"]["name"],
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(place.api_port),
        **{name: _at(value, here) for name, value in declared.items()},
        **{name: value.format_map(known) for name, value in extra.items()},
    }
    return Run([*programs[words[0]], *(_at(word, here) for word in words[1:])], environment)


def _only_container(pod: Object) -> Object:
    spec = pod["spec"]
    if len(spec["containers"]) != 1 or spec.get("initContainers"):
        raise UnsupportedError("pods with other than one container")
    found: Object = spec["containers"][0]
    return found


def _declared(container: Object, pod: Object, place: Place, sources: Sources) -> dict[str, str]:
    """``envFrom`` and ``env`` of a container, in the order in which later ones win."""
    found: dict[str, str] = {}
    for one in container.get("envFrom", ()):
        for name, entries in (("secretRef", sources.secret), ("configMapRef", sources.config_map)):
            if name in one:
                texts = entries(one[name]["name"], optional=bool(one[name].get("optional")))
                found |= {one.get("prefix", "") + key: value.decode() for key, value in texts.items()}
    for one in container.get("env", ()):
        value: str | None = _expanded(one.get("value", ""), found)
        if "valueFrom" in one:
            value = referred(one["valueFrom"], pod, place.address, sources)
        if value is not None:
            found[one["name"]] = value
    return found


def _expanded(text: str, environment: Mapping[str, str]) -> str:
    """``$(NAME)`` replaced where the name is known, and ``$$`` by one dollar, as Kubernetes does it."""
    return _REFERENCE.sub(lambda m: "$" if m[1] is None else environment.get(m[1], m[0]), text)


def _here(container: Mapping[str, Any], place: Place) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of what a word may name, with what stands for it here; the longest paths first."""
    paths = {SERVICE_ACCOUNT: place.service_account}
    for mount in container.get("volumeMounts", ()):
        if "subPath" in mount:
            raise UnsupportedError("volumeMounts with subPath")
        paths[mount["mountPath"].rstrip("/")] = place.volume(mount["name"])
    longest_first = sorted(paths, key=len, reverse=True)
    mounts = [(re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w.-])"), str(paths[path])) for path in longest_first]
    return [*mounts, (_WILDCARD, loopback(place.address))]


def _at(text: str, here: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, replacement in here:
        text = pattern.sub(replacement.replace("\\", r"\\"), text)
    return text
