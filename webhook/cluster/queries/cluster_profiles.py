"""ClusterProfile objects of a hub: the clusters of a fleet, by the Cluster Inventory API (KEP-4322).

Only what says where a cluster is gets read; credentials are not in these objects.
"""

from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client.object_client import ObjectClient

_PATH: Final = "/apis/multicluster.x-k8s.io/v1alpha1"


class ClusterProfile(Struct, frozen=True):
    """A cluster of the fleet: its name, and the addresses of its API server, by any of the ways to access it."""

    namespace: str
    name: str
    servers: tuple[str, ...] = ()


class _ProfileMetadata(Struct, frozen=True):
    name: str
    namespace: str = ""


class _Endpoint(Struct, frozen=True):
    server: str = ""


class _Provider(Struct, frozen=True):
    cluster: _Endpoint = _Endpoint()


class _ProfileStatus(Struct, frozen=True, rename="camel"):
    access_providers: list[_Provider] | None = None
    credential_providers: list[_Provider] | None = None


class _Profile(Struct, frozen=True):
    metadata: _ProfileMetadata
    status: _ProfileStatus = _ProfileStatus()


class _ProfileList(Struct, frozen=True):
    items: list[_Profile] | None = None


async def read_profiles(client: ObjectClient, namespace: str = "") -> list[ClusterProfile]:
    """The profiles of the namespace, or of all namespaces, sorted.

    Raises ``ApiError``, and ``msgspec.ValidationError`` for an answer that is not such a list.
    """
    where = f"/namespaces/{namespace}" if namespace else ""
    answer = await client.read(f"{_PATH}{where}/clusterprofiles")
    profiles = msgspec.json.decode(answer, type=_ProfileList).items or ()
    return sorted((_read(one) for one in profiles), key=lambda profile: (profile.namespace, profile.name))


def _read(one: _Profile) -> ClusterProfile:
    providers = (*(one.status.access_providers or ()), *(one.status.credential_providers or ()))
    servers = dict.fromkeys(provider.cluster.server.rstrip("/") for provider in providers if provider.cluster.server)
    return ClusterProfile(one.metadata.namespace, one.metadata.name, tuple(servers))
