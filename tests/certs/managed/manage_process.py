"""The program at work on a fake cluster as a process of its own, and what can be seen of it from outside."""

import asyncio
import base64
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple

from certs import options
from certs.certificate import issued
from certs.managed.bundle import read_bundle
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.secret import read_secret
from certs.managed.settings import named_kubeconfig
from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ANSWER_LIMIT, ObjectClient
from tests.certs.managed.fake import LEASE, MUTATING, SECRET, VALIDATING, FakeCluster, until
from tests.suite.untraced import COVERAGE

PROGRAM = Path(sys.executable).with_name("streams-placement-certs")
FLAGS = [
    *("--namespace", "ns", "--service", "web", "--secret", "pair", "--mutating", "m", "--validating", "v"),
    *("--interval", "0.1", "--propagation", "1", "--adoption", "1", "--lease-seconds", "3"),
]


class Finished(NamedTuple):
    """A cluster in which everything was made, and the process that made it and was asked to stop."""

    cluster: FakeCluster
    code: int | None
    messages: list[str]


@contextlib.asynccontextmanager
async def client_of(
    cluster: FakeCluster,
    *,
    fence: Callable[[], object] = lambda: None,
    seconds: float = 2.0,
    limit: int = ANSWER_LIMIT,
    server: str = "",
) -> AsyncIterator[ObjectClient]:
    """A client of that cluster, or of another ``server``, over a connection of its own."""
    async with Connection(named_kubeconfig(str(cluster.kubeconfig(server)), "")) as connection:
        yield ObjectClient(connection, fence=fence, seconds=seconds, limit=limit)


@contextlib.asynccontextmanager
async def manager(cluster: FakeCluster, *, traced: bool = True) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program, which is killed if it still runs in the end.

    A process that is killed does not write down what it ran, so ``traced`` is for those that end by themselves.
    """
    command = (PROGRAM, "manage", *FLAGS, "--kubeconfig", str(cluster.kubeconfig()))
    left_out = (options.PREFIX,) if traced else (options.PREFIX, COVERAGE)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    process = await asyncio.create_subprocess_exec(*command, env=inherited, stderr=asyncio.subprocess.PIPE)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def end(process: asyncio.subprocess.Process) -> tuple[int | None, list[str]]:
    """The exit code, and the messages of the log."""
    async with asyncio.timeout(15):
        _, errors = await process.communicate()
    return process.returncode, [json.loads(line)["message"] for line in errors.splitlines()]


@contextlib.asynccontextmanager
async def leader(cluster: FakeCluster, *, traced: bool = True) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that has looked at everything and found nothing to do."""
    async with manager(cluster, traced=traced) as process:
        await until(lambda: any(one.path == VALIDATING for one in cluster.seen))
        assert is_consistent(cluster)
        yield process


def held(cluster: FakeCluster) -> CertificateSecret:
    return read_secret(cluster.objects[SECRET]) if SECRET in cluster.objects else CertificateSecret()


def bundles(cluster: FakeCluster) -> set[bytes]:
    documents = [cluster.objects[path] for path in (MUTATING, VALIDATING) if path in cluster.objects]
    entries = [entry["clientConfig"].get("caBundle") for document in documents for entry in document["webhooks"]]
    return {base64.b64decode(entry or "") for entry in entries}


def is_consistent(cluster: FakeCluster) -> bool:
    own = held(cluster)
    return own.issuer is not None and own.following is None and bundles(cluster) == {own.issuer.certificate_pem}


def is_another(cluster: FakeCluster, before: CertificateSecret) -> bool:
    return is_consistent(cluster) and held(cluster).bundle != before.bundle


def is_served_to_all(cluster: FakeCluster) -> bool:
    leaf = held(cluster).leaf
    assert leaf is not None
    return all(any(issued(one, leaf.certificate) for one in read_bundle(bundle)) for bundle in bundles(cluster))


def take_away(cluster: FakeCluster, key: str) -> None:
    data = {name: value for name, value in cluster.objects[SECRET]["data"].items() if name != key}
    cluster.put(SECRET, {**cluster.objects[SECRET], "data": data})


def holder(cluster: FakeCluster) -> str:
    return str(cluster.objects.get(LEASE, {"spec": {}})["spec"].get("holderIdentity", ""))
