"""Each kind of other operators: which pods its objects become, by examples of the projects themselves."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded
from webhook.placement.kinds.kind import OperatorKind
from webhook.placement.kube.quantity import parse_quantity

KINDS: Final = {chart_name(kind): kind for kind in application_kinds().values()}
CASES: Final = [
    pytest.param(KINDS[path.stem], case, id=f"{path.stem}: {case['from']}")
    for path in sorted((Path(__file__).parent / "cases").iterdir())
    for case in yaml.safe_load(path.read_text())
]


def document(kind: OperatorKind, spec: object) -> dict[str, Any]:
    version = f"{kind.kind.group}/{kind.kind.versions[0]}"
    return {
        "apiVersion": version,
        "kind": kind.kind.kind,
        "metadata": {"name": "app", "namespace": "apps"},
        "spec": spec,
    }


def requests(pod: dict[str, Any], field: str = "containers") -> list[dict[str, int | None]]:
    """What each container requests, in nano-units."""
    return [_nano(one.get("resources", {}).get("requests", {})) for one in pod["spec"].get(field, [])]


def _nano(amounts: dict[str, Any]) -> dict[str, int | None]:
    return {name: parse_quantity(amount) for name, amount in amounts.items()}


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_an_object_becomes_the_pods_that_its_operator_makes(kind: OperatorKind, case: dict[str, Any]) -> None:
    application = expanded(kind, document(kind, case["spec"]), case.get("runtime"))
    assert not application.not_judged
    assert not application.problems
    found = {one.name: [one.count, *requests(one.pod)] for one in application.components}
    assert found == {name: [count, *map(_nano, amounts)] for name, (count, *amounts) in case["pods"].items()}
    assert {one.name for one in application.components if one.apart} == set(case.get("apart", ()))
    grows = {one.name: one.most for one in application.components if one.most > one.count}
    assert grows == case.get("most", {})
    assert application.suspended is case.get("suspended", False)
    for name, amounts in case.get("init", {}).items():
        pod = next(one.pod for one in application.components if one.name == name)
        assert requests(pod, "initContainers") == [*map(_nano, amounts)]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_examples(name: str) -> None:
    assert (Path(__file__).parent / "cases" / f"{name}.yaml").exists()
