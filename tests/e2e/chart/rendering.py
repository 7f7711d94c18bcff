"""The manifests that helm renders from the chart, without a cluster."""

import copy
import functools
import json
import subprocess
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from tests.e2e.client.api import Object
from tests.e2e.programs import binaries

Values: TypeAlias = dict[str, Any]

CHART: Final = Path(__file__).parents[3] / "charts" / "streams-placement"
CI: Final = tuple(sorted((CHART / "ci").glob("*-values.yaml")))
"""One file for each source of certificates."""

RELEASE: Final = "streams-placement"
NAMESPACE: Final = "streams-system"

_SECONDS: Final = 180

_Loader: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The manifests are 100 kB, for which the one in Python takes longer than helm."""


@functools.cache
def _helm() -> str:
    return str(binaries.programs()["helm"])


def helm(*arguments: str, values: Values | None = None) -> subprocess.CompletedProcess[str]:
    """Run helm; ``values`` come last, and win."""
    command = (_helm(), *arguments, *(() if values is None else ("--values", "-")))
    given = json.dumps(values)
    return subprocess.run(command, check=False, capture_output=True, text=True, input=given, timeout=_SECONDS)  # noqa: S603 -- our own build of helm, no shell


def rendered(values: Values | None = None, *files: Path) -> str:
    """The manifests of an installation, as text."""
    return _rendered_once(json.dumps(values or {}), files)


def render(values: Values | None = None, *files: Path) -> list[Object]:
    """The same as objects, which belong to the caller."""
    return copy.deepcopy(_objects_once(json.dumps(values or {}), files))


@functools.cache
def _rendered_once(values: str, files: tuple[Path, ...]) -> str:
    """Many tests look at the same manifests, each at a part of its own; helm takes half a second for them."""
    chosen = [word for file in files for word in ("--values", str(file))]
    done = helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, *chosen, values=json.loads(values))
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def _objects_once(values: str, files: tuple[Path, ...]) -> list[Object]:
    return [one for one in yaml.load_all(_rendered_once(values, files), _Loader) if one]


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    """Those of some kinds."""
    return [one for one in objects if one["kind"] in kinds]


def only(objects: list[Object], kind: str) -> Object:
    """The one of that kind."""
    (found,) = of_kind(objects, kind)
    return found
