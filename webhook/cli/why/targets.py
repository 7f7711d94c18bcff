"""The object that the user names, as kubectl takes it: ``NAME`` of a pod, ``TYPE/NAME``, or both as two words."""

from collections.abc import Mapping, Sequence
from typing import Final

from webhook.app.application_kinds import application_kinds
from webhook.app.why import api_kind
from webhook.cli.arguments import given_settings
from webhook.cli.exits import WrongUse
from webhook.cluster.queries.object_facts import ObjectRef
from webhook.placement.text.api_kinds import (
    BATCH_JOB,
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    HOST_POOL,
    PARALLEL_REGION,
    POD,
    PROCESSING_ELEMENT,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    STATEFUL_SET,
    STREAMS_JOB,
    ApiKind,
)
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import quote

_SHORT: Final[Mapping[ApiKind, tuple[str, ...]]] = {
    POD: ("po",),
    DEPLOYMENT: ("deploy",),
    REPLICA_SET: ("rs",),
    STATEFUL_SET: ("sts",),
    DAEMON_SET: ("ds",),
    BATCH_JOB: (),
    CRON_JOB: ("cj",),
    REPLICATION_CONTROLLER: ("rc",),
    HOST_POOL: ("sthp", "hostpool", "hostpools"),
    STREAMS_JOB: ("stj",),
    PROCESSING_ELEMENT: ("stp", "pe", "pes", "processingelement", "processingelements"),
    PARALLEL_REGION: ("stpr", "parallelregion", "parallelregions"),
}
"""The kinds that can be asked about, and kubectl's short names of them: of ours those that their definitions have."""

_APPLICATIONS: Final = tuple(api_kind(one.kind) for one in application_kinds().values())
"""The kinds of other operators; of Jobs those of Kubernetes are meant where a word has no group."""

TYPES: Final[Mapping[str, ApiKind]] = {
    word: kind
    for kind, short in (*((one, ()) for one in _APPLICATIONS), *_SHORT.items())
    for word in (kind.resource, kind.resource.removesuffix("s"), kind.full_resource, *short)
}
"""Every word for a kind, in lower case."""

_POOL_HINT: Final = "; for a HostPool that is its metadata.name, not the spec.name by which pods ask for it"
"""Why a user may write a name with capitals: ``MyPool`` in ``host(MyPool)`` is the ``spec.name``."""


def target_of(words: Sequence[str], namespace: str) -> ObjectRef:
    """The object that the words name; raises :class:`WrongUse` if they name none."""
    kind, name = _split(words)
    given_settings.check_name(name, _POOL_HINT if kind == HOST_POOL else "")
    given_settings.check_name(namespace)
    return ObjectRef(kind, namespace, name)


def _split(words: Sequence[str]) -> tuple[ApiKind, str]:
    """Kind and name: ``deployment/x``, ``deployment x``, or the name of a pod alone."""
    first, slash, name = words[0].partition("/")
    if len(words) > (1 if slash else 2):
        raise WrongUse(f"one object at a time: {words[0] if slash else ' '.join(words[:2])}")
    if not slash and len(words) == 1:
        return POD, first
    kind = TYPES.get(first.lower())
    if kind is None:
        near = nearest(first.lower(), sorted(TYPES))
        hint = f", did you mean {near}?" if near else ": pod, deployment, statefulset, hostpool, streamsjob and others"
        raise WrongUse(f"{quote(first)} is not a supported kind of object{hint}")
    return kind, name if slash else words[1]
