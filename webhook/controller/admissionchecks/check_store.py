"""``CheckStore``: the AdmissionChecks of this controller, and the Workloads with checks, as the watches bring them."""

from collections.abc import Callable

from webhook.controller.admissionchecks.records import CheckedWorkload, PlacementCheck
from webhook.placement.inventory.pool_index import Name


class CheckStore:
    """AdmissionChecks by name and Workloads by namespace and name; the ``on_`` lists hold listeners.

    A listener of a Workload is called with its key, one of a check with its name.
    """

    def __init__(self) -> None:
        self.checks: dict[str, PlacementCheck] = {}
        self.workloads: dict[Name, CheckedWorkload] = {}
        self.on_check: list[Callable[[str], object]] = []
        self.on_workload: list[Callable[[Name], object]] = []

    @property
    def active(self) -> frozenset[str]:
        """The names of the checks that are answered."""
        return frozenset(name for name, check in self.checks.items() if check.active)

    def put_check(self, check: PlacementCheck) -> None:
        """An AdmissionCheck was added or changed."""
        if self.checks.get(check.name) != check:
            self.checks[check.name] = check
            self._tell_of_check(check.name)

    def drop_check(self, name: str) -> None:
        """An AdmissionCheck is gone."""
        if self.checks.pop(name, None) is not None:
            self._tell_of_check(name)

    def put_workload(self, workload: CheckedWorkload) -> None:
        """A Workload was added or changed."""
        self.workloads[workload.key] = workload
        self._tell_of_workload(workload.key)

    def drop_workload(self, key: Name) -> None:
        """A Workload is gone, or has no checks any more."""
        if self.workloads.pop(key, None) is not None:
            self._tell_of_workload(key)

    def _tell_of_check(self, name: str) -> None:
        for listener in self.on_check:
            listener(name)

    def _tell_of_workload(self, key: Name) -> None:
        for listener in self.on_workload:
            listener(key)
