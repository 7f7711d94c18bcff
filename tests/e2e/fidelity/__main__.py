"""``python -m tests.e2e.fidelity``: random scenarios on a real control plane; ``make fidelity`` calls it.

Prints how often the product's verdict and the scheduler agree, and writes what they disagree about. The exit code is 1
if something was refused that runs, or bound where it must not be.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.fidelity.application_run import ApplicationRun
from tests.e2e.fidelity.device_group_run import DeviceGroupRun
from tests.e2e.fidelity.device_run import DeviceRun
from tests.e2e.fidelity.run import FidelityRun
from tests.e2e.programs import binaries
from tests.e2e.progress import say
from tests.fidelity.comparison import FALSE_REFUSAL, MISPLACED
from tests.fidelity.journal import Journal
from tests.fidelity.report import application_page, device_group_page, device_page, page


def main(argv: Sequence[str] | None = None) -> int:
    """Play, print, and write."""
    parser = argparse.ArgumentParser("python -m tests.e2e.fidelity", description="Compare verdicts with the scheduler.")
    parser.add_argument("--count", type=int, default=1000, help="how many scenarios")
    parser.add_argument("--devices", type=int, default=400, help="how many scenarios of devices")
    about = "how many scenarios of Jobs whose elements want devices, and of HostPools by devices"
    parser.add_argument("--device-groups", type=int, default=200, help=about)
    parser.add_argument("--applications", type=int, default=400, help="how many scenarios of applications")
    parser.add_argument("--seed", type=int, default=2026, help="which ones")
    about = "file of what was played, to which a run is added that goes on; each other family has one beside it"
    parser.add_argument("--journal", type=Path, help=about)
    parser.add_argument("--results", type=Path, help="file for the page about the run")
    parser.add_argument("--manifests", type=Path, help="folder for the smallest disagreements")
    chosen = parser.parse_args(argv)
    binaries.programs()
    journal = Journal(chosen.journal, chosen.seed)
    of_devices, of_groups, of_applications = (
        Journal(chosen.journal and chosen.journal.with_suffix(f".{family}.jsonl"), chosen.seed)
        for family in ("devices", "groups", "applications")
    )
    with tempfile.TemporaryDirectory(prefix="fidelity-") as folder, ControlPlane(Path(folder)) as plane:
        for run, count in (
            (FidelityRun(plane.admin, chosen.seed, journal), chosen.count),
            (DeviceRun(plane.admin, chosen.seed, of_devices), chosen.devices),
            (DeviceGroupRun(plane.admin, chosen.seed, of_groups), chosen.device_groups),
            (ApplicationRun(plane.admin, chosen.seed, of_applications), chosen.applications),
        ):
            run.all(count, loud=True)
            run.again()
            if chosen.manifests:
                chosen.manifests.mkdir(parents=True, exist_ok=True)
                for one, file in run.manifests(chosen.manifests):
                    run.journal.add([replace(one, manifest=file.name)])
                    say(f"{one.outcome}, scenario {one.number}: {file}")
    pages = (device_page(of_devices), device_group_page(of_groups), application_page(of_applications))
    found = "\n".join((page(journal, chosen.seed), *pages))
    sys.stdout.write(found)
    if chosen.results:
        chosen.results.write_text(found)
    wrong = [one for each in (journal, of_devices, of_groups, of_applications) for one in each.wrong]
    return int(any(one.outcome in {FALSE_REFUSAL, MISPLACED} for one in wrong))


if __name__ == "__main__":
    sys.exit(main())
