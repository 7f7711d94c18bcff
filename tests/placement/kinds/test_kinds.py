"""Each kind of other operators: which pods its objects become, also in shapes that no manifest of the projects has."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.placement.kinds.expansion import application_document, assert_expanded
from tests.yaml_values import loaded
from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded
from webhook.placement.kinds.kind import OperatorKind

KINDS: Final = {chart_name(kind): kind for kind in application_kinds().values()}
CASES: Final = [
    pytest.param(KINDS[path.stem], case, id=f"{path.stem}: {case['from']}")
    for path in sorted((Path(__file__).parent / "cases").iterdir())
    for case in loaded(path.read_text())
]


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_an_object_becomes_the_pods_that_its_operator_makes(kind: OperatorKind, case: dict[str, Any]) -> None:
    assert_expanded(expanded(kind, application_document(kind, case), case.get("runtime")), case)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_cases(name: str) -> None:
    assert (Path(__file__).parent / "cases" / f"{name}.yaml").exists()
