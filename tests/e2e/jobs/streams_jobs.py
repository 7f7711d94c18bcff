"""Jobs of Streams, their processing elements and pods, as tests create and read them."""

import functools
from collections.abc import Mapping
from typing import Any, Final

from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.polling import until

JOBS: Final = "streamsjobs"
ELEMENTS: Final = "streamspes"
POOLS: Final = "streamshostpools"

TEMPLATE: Final[Object] = {"spec": {"containers": [{"name": "main", "image": "example.invalid/main"}]}}
"""A template whose pods kwok pretends to run."""


def elements(*names: str, **options: Any) -> list[Object]:
    """Processing elements of these names, with a template."""
    return [{"name": name, "template": TEMPLATE, **options} for name in names]


class Jobs:
    """Jobs of one namespace."""

    def __init__(self, api: Api, space: str) -> None:
        self.api = api
        self.space = space
        self._root = f"/apis/streams.ibm.com/v1/namespaces/{space}"

    def path(self, resource: str, name: str = "") -> str:
        """Where objects of the resource are, or one of them."""
        return f"{self._root}/{resource}/{name}".rstrip("/")

    def submit(self, name: str, processing_elements: list[Object], **spec: Any) -> Object:
        """A Job that was created."""
        job = {
            "apiVersion": "streams.ibm.com/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": self.space},
            "spec": {"processingElements": processing_elements, **spec},
        }
        created: Object = self.api.call("POST", self.path(JOBS), job).body
        return created

    def submitted(self, name: str, processing_elements: list[Object], **spec: Any) -> bool:
        """Whether the Job could be created."""
        try:
            self.submit(name, processing_elements, **spec)
        except RefusedError:
            return False
        return True

    def job(self, name: str) -> Object:
        """The Job."""
        found: Object = self.api.get(self.path(JOBS, name))
        return found

    def element(self, name: str) -> Object:
        """The processing element."""
        found: Object = self.api.get(self.path(ELEMENTS, name))
        return found

    def pods(self, element: str = "") -> list[Object]:
        """Pods of all jobs, or of one processing element."""
        query = {"labelSelector": f"streams.ibm.com/pe={element}" if element else "streams.ibm.com/job"}
        found: list[Object] = self.api.get(f"/api/v1/namespaces/{self.space}/pods", **query)["items"]
        return found

    def running_pod(self, element: str, *, other_than: str = "") -> Object:
        """The pod of the element, once it is the only one and runs; with another uid."""

        def found() -> Object | None:
            pods = self.pods(element)
            runs = len(pods) == 1 and pods[0]["status"].get("phase") == "Running"
            return pods[0] if runs and pods[0]["metadata"]["uid"] != other_than else None

        return until(found, f"the pod of {element} runs, and no other", 40)

    def phase(self, resource: str, name: str, wanted: str, seconds: float = 40) -> Object:
        """The object, once its phase is that."""
        last: dict[str, Any] = {}

        def found() -> Object | None:
            one = self.api.find(self.path(resource, name)) or {}
            last.update(one.get("status", {}))
            return one if one.get("status", {}).get("phase") == wanted else None

        try:
            return until(found, f"{resource} {name} is {wanted}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; its status: {last}") from None

    def end(self, pod: Object, phase: str, exit_code: int) -> None:
        """Let the pod's container end."""
        over = {"exitCode": exit_code, "reason": "Completed" if not exit_code else "Error"}
        status = {
            "name": pod["spec"]["containers"][0]["name"],
            "ready": False,
            "image": "x",
            "imageID": "",
            "restartCount": 0,
        }
        change = {"status": {"phase": phase, "containerStatuses": [{**status, "state": {"terminated": over}}]}}
        self.api.patch(f"{self.pod_path(pod)}/status", change, content="application/merge-patch+json")

    def pod_path(self, pod: Object) -> str:
        """Where the pod is."""
        return f"/api/v1/namespaces/{self.space}/pods/{pod['metadata']['name']}"

    def delete_pod(self, pod: Object) -> None:
        """As kubectl deletes it."""
        self.api.delete(self.pod_path(pod))

    def _none(self, path: str) -> bool:
        return not self.api.get(path)["items"]

    def gone(self, *resources: str) -> None:
        """Wait until there is nothing of these resources, and no pod of a job."""
        for resource in resources:
            until(functools.partial(self._none, self.path(resource)), f"no {resource} are left", 60)
        until(lambda: not self.pods(), "no pods are left", 60)


def conditions(found: Object) -> Mapping[str, Object]:
    """The conditions of an object by type."""
    return {one["type"]: one for one in found.get("status", {}).get("conditions", ())}
