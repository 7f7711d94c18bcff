"""The page of conditions, and the list of policies in the chart's README, are those of the chart."""

import re

from tests.e2e.chart.rendering import CHART, of_kind, render
from tests.e2e.programs import binaries
from tools.conditions import PAGE, PURPOSES, page, rendered


def test_the_page_is_what_the_chart_has() -> None:
    manifests = rendered(binaries.programs()["helm"])
    assert PAGE.read_text() == page(manifests), "run make conditions"


def test_everything_that_has_a_purpose_is_on_the_page() -> None:
    assert re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE) == [*PURPOSES]


def test_the_readme_of_the_chart_has_every_policy_and_their_number() -> None:
    readme = (CHART / "README.md").read_text()
    listed = re.findall(r"^\| `\.\.\.-(\w+)` \|", readme.partition("refuses by itself\n")[2], re.MULTILINE)
    assert listed == [name.removeprefix("policy ") for name in PURPOSES if name.startswith("policy ")]
    assert len(of_kind(render(), "ValidatingAdmissionPolicy")) == 10
    assert "| ten ValidatingAdmissionPolicies; nine with" in readme
    fewer = {"settings": {"guardNodes": "off"}, "rbac": {"authorizeJobs": False}}
    assert len(of_kind(render(fewer), "ValidatingAdmissionPolicy")) == 8
