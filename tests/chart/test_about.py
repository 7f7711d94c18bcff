"""What a catalogue of charts shows about the chart is true."""

import base64
from typing import Any
from xml.etree import ElementTree as ET

import msgspec

from tests.builders import cluster
from tests.docs.pages import ROOT
from tests.yaml_values import loaded
from tools.crds import files
from webhook.placement.objects.pool_spec import HostPoolSpec, problems_of_spec
from webhook.placementreview.submission import wrong

ABOUT: dict[str, Any] = loaded((ROOT / "charts" / "streams-placement" / "Chart.yaml").read_text())


def noted(name: str) -> Any:
    """The value of an annotation of the catalogue, which is YAML itself."""
    return loaded(ABOUT["annotations"][f"artifacthub.io/{name}"])


def test_the_licence_is_that_of_the_repository() -> None:
    assert ABOUT["annotations"]["artifacthub.io/license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_the_icon_is_a_picture_that_needs_no_other_server() -> None:
    kind, _, text = ABOUT["icon"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert ET.fromstring(base64.b64decode(text, validate=True)).tag.endswith("svg")  # noqa: S314 -- our own file


def test_every_definition_is_listed() -> None:
    defined = [loaded(text) for text in files().values()]
    versions = {
        (each["metadata"]["name"], each["spec"]["names"]["kind"], version["name"])
        for each in defined
        for version in each["spec"]["versions"]
    }
    assert {(each["name"], each["kind"], each["version"]) for each in noted("crds")} == versions


def test_the_examples_are_right() -> None:
    examples = noted("crdsExamples")
    assert [each["kind"] for each in examples] == ["HostPool", "Job"]
    pool, job = examples
    assert list(problems_of_spec(msgspec.convert(pool["spec"], HostPoolSpec))) == []
    assert wrong(job, cluster()) == []
