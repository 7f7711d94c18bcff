"""``python -m tests.e2e.fleet_crds FILE...``: objects for fleet managers against these managers' own definitions.

The files are the CustomResourceDefinitions PropagationPolicy of Karmada and Placement of Open Cluster Management, from
a checkout of each project. A local API server gets them, and then everything that ``streams-placement clusters -o
karmada`` and ``-o ocm`` write about the examples, with strict field validation; and for each object one with a field
that does not exist, and one with a number as a text, which must be refused.
"""

import argparse
import copy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.progress import say

_CLONE: Final = Path(__file__).resolve().parents[2]
_FORMS: Final = (("karmada",), ("karmada", "--divide"), ("ocm",))
_SECONDS: Final = 180


def objects() -> Iterator[dict[str, Any]]:
    """Everything that is written about the examples."""
    for form in _FORMS:
        command = [sys.executable, "-m", "webhook", "clusters", "-f", "examples/apps/emco.yaml"]
        command += ["--clusters", "examples/clusters", "-o", *form]
        done = subprocess.run(  # noqa: S603 -- this program
            command, check=True, capture_output=True, text=True, timeout=_SECONDS, cwd=_CLONE
        )
        yield from yaml.safe_load_all(done.stdout)


def spoiled(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object with mistakes that its definition must find."""
    unknown, number = copy.deepcopy(one), copy.deepcopy(one)
    unknown["spec"]["clusterz"] = []
    if one["kind"] == "Placement":
        number["spec"]["numberOfClusters"] = "one"
    else:
        number["spec"]["placement"]["spreadConstraints"][0]["minGroups"] = "one"
    yield from (unknown, number)


def check(plane: ControlPlane) -> tuple[int, int]:
    """How many checks passed, and how many failed."""
    passed = failed = 0
    for one in objects():
        for thing, wanted in ((one, True), *((bad, False) for bad in spoiled(one))):
            text = yaml.safe_dump(thing)
            done = plane.kubectl(
                "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text
            )
            right = (done.returncode == 0) == wanted
            passed, failed = passed + right, failed + (not right)
            if not right:
                say(f"{thing['kind']} {thing['metadata']['name']}: {done.stderr or done.stdout}")
    return passed, failed


def main() -> int:
    """Check everything; returns 1 if a check failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.fleet_crds", description=__doc__, allow_abbrev=False)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder) / "plane") as plane:
        plane.kubectl("create", "namespace", "edge")
        for file in files:
            done = plane.kubectl("create", "-f", str(file))
            if done.returncode:
                say(done.stderr)
                return 1
        done = plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        say(done.stdout.strip())
        passed, failed = check(plane)
    say(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
