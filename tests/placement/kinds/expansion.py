"""``assert_expanded``: an object becomes the pods that a case states, as the data of these tests write them down."""

from typing import Any

from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.kinds.kind import OperatorKind
from webhook.placement.kube.quantity import parse_quantity


def application_document(kind: OperatorKind, case: dict[str, Any]) -> dict[str, Any]:
    """The object of a case, in the first version that the kind's file is right for."""
    version = f"{kind.kind.group}/{kind.kind.versions[0]}"
    metadata = {"name": "app", "namespace": "apps", "labels": case.get("labels", {})}
    return {"apiVersion": version, "kind": kind.kind.kind, "metadata": metadata, "spec": case["spec"]}


def assert_expanded(application: OperatorApplication, case: dict[str, Any]) -> None:
    """The application has the components that the case states: names, numbers, and what each container requests.

    Of a component with ``fields`` the spec of the pod has these; a ``null`` stands for a field that is absent.
    """
    assert not application.not_judged
    assert not application.problems
    found = {one.name: [one.count, *_requests(one.pod)] for one in application.components}
    assert found == {name: [count, *map(_nano, amounts)] for name, (count, *amounts) in case["pods"].items()}
    assert {one.name for one in application.components if one.apart} == set(case.get("apart", ()))
    grows = {one.name: one.most for one in application.components if one.most > one.count}
    assert grows == case.get("most", {})
    assert application.suspended is case.get("suspended", False)
    for name, amounts in case.get("init", {}).items():
        pod = next(one.pod for one in application.components if one.name == name)
        assert _requests(pod, "initContainers") == [*map(_nano, amounts)]
    for name, fields in case.get("fields", {}).items():
        spec = next(one.pod["spec"] for one in application.components if one.name == name)
        assert {field: spec.get(field) for field in fields} == fields


def _requests(pod: dict[str, Any], field: str = "containers") -> list[dict[str, int | None]]:
    """What each container requests, in nano-units."""
    return [_nano(one.get("resources", {}).get("requests", {})) for one in pod["spec"].get(field, [])]


def _nano(amounts: dict[str, Any]) -> dict[str, int | None]:
    return {name: parse_quantity(amount) for name, amount in amounts.items()}
