"""``RequestStore``: the ProvisioningRequests that the watch brings, and the kind that is watched.

Where the API server does not serve them, or the role may not read them, they count as absent, and are asked for again
now and then: the cluster autoscaler may be installed later.
"""

from collections.abc import Callable

from webhook.cluster.objects.kinds import AnyKind, Kind
from webhook.cluster.objects.metadata import NAMESPACE, json_of
from webhook.controller.provisioningrequests.stored_request import StoredRequest, read_request
from webhook.placement.inventory.pool_index import Name
from webhook.placement.text.api_kinds import PROVISIONING_REQUEST


class RequestStore:
    """The requests by namespace and name; ``listeners`` are called with the name of the Job that controls one."""

    def __init__(self) -> None:
        self.all: dict[Name, StoredRequest] = {}
        self.listeners: list[Callable[[Name], object]] = []
        self._of_job: dict[Name, dict[str, None]] = {}
        self._in_namespace: dict[str, int] = {}

    def open(self, most: int) -> int:
        """How many are controlled by Jobs; of one namespace, whose users may make them, at most so many count."""
        return sum(min(count, most) for count in self._in_namespace.values())

    def open_in(self, namespace: str) -> int:
        """How many are controlled by Jobs of that namespace."""
        return self._in_namespace.get(namespace, 0)

    def of_job(self, job: Name) -> list[StoredRequest]:
        """The requests that a Job of that name controls, whatever its uid."""
        return [self.all[job[0], name] for name in self._of_job.get(job, ())]

    def put(self, request: StoredRequest) -> None:
        """A request was added or changed."""
        before = self.all.get(request.key)
        if before == request:
            return
        self.drop(request.key, tell=False)
        self.all[request.key] = request
        if request.job:
            self._of_job.setdefault((request.namespace, request.job), {})[request.name] = None
            self._in_namespace[request.namespace] = self.open_in(request.namespace) + 1
        for job in {one.job for one in (before, request) if one and one.job}:
            self._tell((request.namespace, job))

    def drop(self, key: Name, *, tell: bool = True) -> None:
        """A request is gone."""
        request = self.all.pop(key, None)
        if request is None or not request.job:
            return
        job = request.namespace, request.job
        names = self._of_job[job]
        del names[request.name]
        if not names:
            del self._of_job[job]
        self._in_namespace[request.namespace] -= 1
        if not self._in_namespace[request.namespace]:
            del self._in_namespace[request.namespace]
        if tell:
            self._tell(job)

    def _tell(self, job: Name) -> None:
        for listener in self.listeners:
            listener(job)


def request_kind(store: RequestStore) -> AnyKind:
    """ProvisioningRequests, read into the store."""
    kind: AnyKind = Kind(
        api=PROVISIONING_REQUEST,
        optional=True,
        spared=True,
        read=lambda item: (read_request(json_of(item)), []),
        key=lambda identity: f"{identity.namespace or NAMESPACE}/{identity.name}",
        value_key=lambda request: "/".join(request.key),
        put=lambda _, request: store.put(request),
        drop=lambda _, key: store.drop((key.partition("/")[0], key.partition("/")[2])),
    )
    return kind
