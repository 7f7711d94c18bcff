"""``why`` (``docs/why.md``): reads one object and its cluster from the API server, with the rights of the user."""

import asyncio
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.admission.unstructured import Unstructured
from webhook.app.application_kinds import application_kinds
from webhook.app.cluster_source import PATIENCE, configuration_of, listener, live, seen, watched_kinds
from webhook.app.references import kinds_with, read_references
from webhook.cluster.objects.kinds import NODES, PODS, STORAGE
from webhook.cluster.queries.object_facts import ObjectFacts, ObjectRef, forbidden, read_object_facts, read_objects
from webhook.placement.kinds.kind import GroupKind
from webhook.placement.request.world import World
from webhook.placement.text.api_kinds import BATCH_JOB, DEPLOYMENT, POD, REPLICA_SET, STATEFUL_SET, VERSION, ApiKind
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings, policy_of


class Found(Struct, frozen=True):
    """The object, and the cluster as a world; ``None`` where nodes or pods may not be read. ``unread`` are resources.

    ``now`` of the facts is the time of the API server.
    """

    facts: ObjectFacts
    world: World | None
    unread: tuple[str, ...]


async def found(settings: Settings, wanted: ObjectRef, tell: Callable[[str], object]) -> Found:
    """Read the object and the cluster. ``tell`` learns of every object of the cluster that could not be used.

    Raises UnknownObjectError if it does not exist, FatalError if there is no cluster or it cannot be read.
    """
    configuration = await asyncio.to_thread(configuration_of, settings)
    try:
        async with Connection(configuration) as connection:
            reader = ObjectClient(connection)
            facts = await read_object_facts(reader, wanted, made_by_operators(wanted.kind))
            closed = await forbidden(reader, (kind.api for kind in (*watched_kinds(settings), *STORAGE)))
    except ApiError as failure:
        raise FatalError(f"{wanted.kind.name} {wanted.name} could not be read: {failure}") from failure
    unread = tuple(dict.fromkeys((*facts.unread, *(kind.full_resource for kind in closed))))
    if {NODES.api, PODS.api} & set(closed):
        return Found(facts, None, unread)
    kinds = [kind for kind in (*watched_kinds(settings), *STORAGE) if kind.api not in closed]
    cluster = await seen(live(settings, listener(tell), kinds), PATIENCE)
    cluster.references.update(await read_references(settings, [facts.document]))
    policy = replace(policy_of(settings), kinds=kinds_with(cluster.references))
    return Found(facts, World(cluster, policy), unread)


def made_by_operators(kind: ApiKind) -> tuple[ApiKind, ...]:
    """The kinds of objects that are made of an application of the kind, its pods last; none of any other kind."""
    application = application_kinds().get((kind.group, kind.name))
    if application is None:
        return ()
    return (*map(api_kind, application.through), DEPLOYMENT, REPLICA_SET, STATEFUL_SET, BATCH_JOB, POD)


def api_kind(stated: GroupKind) -> ApiKind:
    """The kind as the API server has it, in one of the versions that are stated."""
    return ApiKind(stated.group, stated.kind, stated.resource, tuple(one for one in stated.versions if one != VERSION))


async def objects(settings: Settings, wanted: Iterable[ObjectRef]) -> list[Unstructured]:
    """The objects that exist and may be read; raises FatalError if the API server does not say."""
    configuration = await asyncio.to_thread(configuration_of, settings)
    try:
        async with Connection(configuration) as connection:
            return await read_objects(ObjectClient(connection), wanted)
    except ApiError as failure:
        raise FatalError(f"the cluster could not be read: {failure}") from failure
