"""What ``convert`` makes of other systems' files, at a real API server: admitted or refused as the originals say."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import JOBS, Jobs

FOLDER: Final = Path(__file__).parents[3] / "examples" / "convert"
EXAMPLES: Final = sorted(FOLDER.glob("*.expected.yaml"))

REFUSAL: Final = re.compile(
    r"placement\.streams\.ibm\.com\" denied the request: .* cannot (hold: |be completed: |run even by themselves )"
)

PROGRAM: Final = """
composite Main {
  graph
    stream<int32 i> First = Beacon() { config placement: host(Source), hostExlocation("apart"); }
    stream<int32 i> Second = Functor(First) { config placement: host(Source), hostExlocation("apart"); }
    () as Third = FileSink(Second) { config placement: %s; }
  config hostPool: Source = createPool({tags = ["source"]}, Sys.Shared);
}
"""


APPLICATIONS: Final = {
    "regions.spl": [{"Source", "Parsed"}, {"Sink"}],
    "sensors.adl": [{"Read"}, {"Write"}],
    "collector.sab": [{"Read", "Parse", "Flows", "Sums", "Batch", "Post"}],
}
"""Applications with operators that their rules put into one processing element, or keep alone."""


def converted(text: str, folder: Path) -> str:
    """What the command makes of a program."""
    file = folder / "main.spl"
    file.write_text(text)
    return converted_file(file)


def converted_file(file: Path) -> str:
    """What the command makes of a file."""
    done = subprocess.run(  # noqa: S603 -- the program of this repository
        [sys.executable, "-m", "webhook", "convert", str(file)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_a_program_runs_as_its_rules_say(plane: ControlPlane, jobs: Jobs, tmp_path: Path) -> None:
    manifests = converted(PROGRAM % 'host(Source), hostExlocation("apart")', tmp_path)
    made = plane.kubectl("apply", "--namespace", jobs.space, "--filename", "-", stdin=manifests)
    assert made.returncode == 0, made.stderr
    jobs.phase(JOBS, "main", "Running")
    assert {pod["spec"]["nodeName"] for pod in jobs.pods()} == {"node-0", "node-1", "node-2"}


def test_a_program_whose_rules_cannot_hold_is_refused(plane: ControlPlane, jobs: Jobs, tmp_path: Path) -> None:
    """Four operators are apart, and their pool has three hosts."""
    apart = 'host(Source), hostExlocation("apart")'
    program = PROGRAM.replace("graph", f"graph () as Fourth = FileSink() {{ config placement: {apart}; }}")
    manifests = converted(program % apart, tmp_path)
    refused = plane.kubectl("apply", "--namespace", jobs.space, "--filename", "-", stdin=manifests)
    assert refused.returncode == 1
    assert refused.stderr.partition("denied the request: ")[2].startswith(
        'Fourth: host(Source), Fourth: hostExlocation("apart"), First: host(Source), First: hostExlocation("apart") '
        "and 4 more cannot all hold: no fusion of 4 operators fits on the cluster.\n"
    )
    assert jobs.api.find(jobs.path(JOBS, "main")) is None


@pytest.mark.parametrize("file", APPLICATIONS)
def test_an_application_is_converted_fused_and_run(plane: ControlPlane, jobs: Jobs, file: str) -> None:
    """From SPL, from a compiled description and from a bundle; the hosts and tags are those of this cluster."""
    manifests = converted_file(FOLDER / file).replace("- ib\n", "- source\n")
    for theirs, ours in (("worker-1", "node-4"), ("worker-2", "node-5")):
        manifests = manifests.replace(theirs, ours)
    made = plane.kubectl("apply", "--namespace", jobs.space, "--filename", "-", stdin=manifests)
    assert made.returncode == 0, made.stderr
    name = file.partition(".")[0]
    job = jobs.phase(JOBS, name, "Running")
    fused = [set(one["operators"]) for one in job["status"]["fusion"]["processingElements"]]
    assert len(fused) == len(jobs.pods()) < sum(map(len, fused))
    for together in APPLICATIONS[file]:
        [element] = [one for one in fused if one & together]
        assert together <= element
    stated = {one["name"] for one in job["spec"]["operators"]}
    assert {operator.partition("[")[0] for one in fused for operator in one} == stated
    assert all(pod["status"]["phase"] == "Running" for pod in jobs.pods())


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name.removesuffix(".expected.yaml"))
def test_every_example_has_the_shape_that_the_api_server_wants(plane: ControlPlane, jobs: Jobs, file: Path) -> None:
    """Strictly: a field that no schema knows is an error. This small cluster refuses some of them."""
    manifests = file.read_text().replace("  namespace: default\n", "")
    done = plane.kubectl(
        "create", "--dry-run=server", "--validate=strict", "--namespace", jobs.space, "--filename", "-", stdin=manifests
    )
    errors = [line for line in done.stderr.splitlines() if line.lower().startswith("error")]
    assert all(REFUSAL.search(line) for line in errors), done.stderr
    assert len(errors) + len(done.stdout.splitlines()) == len(list(filter(None, yaml.safe_load_all(manifests))))
