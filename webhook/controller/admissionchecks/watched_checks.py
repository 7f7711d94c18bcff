"""The kinds of Kueue that are watched, for a :class:`~webhook.cluster.watch.live.LiveCluster`.

Where the API server does not serve them, or the role may not read them, they count as absent, and are asked for again
now and then: Kueue may be installed later.
"""

from webhook.cluster.objects.kinds import AnyKind, Kind
from webhook.cluster.objects.metadata import NAMESPACE, json_of
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.records import read_check, read_workload
from webhook.placement.text.api_kinds import ADMISSION_CHECK, KUEUE_WORKLOAD


def check_kinds(store: CheckStore) -> tuple[AnyKind, ...]:
    """AdmissionChecks and Workloads."""
    checks: AnyKind = Kind(
        api=ADMISSION_CHECK,
        optional=True,
        spared=True,
        read=lambda item: (read_check(json_of(item)), []),
        key=lambda identity: identity.name,
        value_key=lambda check: check.name,
        put=lambda _, check: store.put_check(check),
        drop=lambda _, name: store.drop_check(name),
    )
    workloads: AnyKind = Kind(
        api=KUEUE_WORKLOAD,
        optional=True,
        spared=True,
        title="Workload of Kueue",
        read=lambda item: (read_workload(json_of(item)), []),
        key=lambda identity: f"{identity.namespace or NAMESPACE}/{identity.name}",
        value_key=lambda workload: "/".join(workload.key),
        put=lambda _, workload: store.put_workload(workload),
        drop=lambda _, key: store.drop_workload((key.partition("/")[0], key.partition("/")[2])),
    )
    return checks, workloads
