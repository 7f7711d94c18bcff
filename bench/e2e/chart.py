"""The installed chart, whose admission objects can be taken away and whose processes can be stopped."""

import time
from collections.abc import Sequence
from typing import Final

from bench.trouble import Trouble
from tests.e2e.client.api import Api, Object
from tests.e2e.pods.kubelet import Kubelet

GROUP: Final = "admissionregistration.k8s.io"

RESOURCES: Final = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}
"""Kinds of admission objects in the order in which they are deleted, with the resources that serve them."""

_PATH: Final = f"/apis/{GROUP}/v1"

_GONE: Final = 4.0
"""Seconds after a deletion until the API server has noticed it."""

_BACK: Final = 8.0
"""Seconds after the chart's return until its processes have read again what they missed."""


class Chart:
    """The chart as it was installed when this was made; it is there at first."""

    def __init__(self, admin: Api, kubelet: Kubelet) -> None:
        self._admin = admin
        self._kubelet = kubelet
        self._own = [
            (resource, each)
            for resource in RESOURCES.values()
            for each in admin.get(f"{_PATH}/{resource}")["items"]
            if "streams-placement" in each["metadata"]["name"]
        ]
        if not self._own:
            raise Trouble("the chart has no admission objects")
        self._there: Sequence[tuple[str, Object]] = self._own
        self._running = True

    def present(self) -> None:
        """The whole chart, and its processes."""
        self._become(self._own, running=True)

    def absent(self, others: Sequence[tuple[str, Object]] = (), *, running: bool = False) -> None:
        """Other admission objects instead of the chart's, or none; its processes stop if they are not ``running``."""
        self._become(others, running=running)

    def _become(self, wanted: Sequence[tuple[str, Object]], *, running: bool) -> None:
        if wanted == self._there and running is self._running:
            return
        for resource, each in self._there:
            self._admin.delete(f"{_PATH}/{resource}/{each['metadata']['name']}")
        if running is not self._running:
            for worker in self._kubelet.workers.values():
                worker.resume() if running else worker.pause()
            self._running = running
        for resource, each in reversed(wanted):
            self._admin.call("POST", f"{_PATH}/{resource}", new_object(each))
        self._there = wanted
        time.sleep(_BACK if wanted is self._own else _GONE)


def new_object(stored: Object) -> Object:
    """The object as it can be created again."""
    metadata = {key: stored["metadata"][key] for key in ("name", "labels", "annotations") if key in stored["metadata"]}
    return {
        "apiVersion": f"{GROUP}/v1",
        **{key: value for key, value in stored.items() if key not in ("metadata", "status")},
        "metadata": metadata,
    }
