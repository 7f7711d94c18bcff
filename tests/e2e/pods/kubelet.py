"""A replacement for the kubelet of the product's own pods: runs one process for each pod, from its spec.

What it does:

* takes every pod with a node and the label ``app.kubernetes.io/name: streams-placement`` (kwok ignores these);
* writes its Secret, ConfigMap, projected, downward-API and empty volumes into folders, and refreshes them by swapping a
  symbolic link, as a kubelet does, but at once rather than within a minute;
* writes token (a real one, bound to the pod), ``ca.crt`` and ``namespace`` of its ServiceAccount;
* runs ``command``, ``args``, ``env`` and ``envFrom`` as ``container.py`` describes;
* runs startup, readiness and liveness probes (HTTP and TCP) and reports the result, so that the EndpointSlices, and
  with them ``Forwarder``, follow;
* restarts a process that ended, or completes the pod, according to ``restartPolicy``;
* on deletion runs a ``preStop`` sleep, sends SIGTERM, after the grace period SIGKILL, and removes the pod.

What it does not: init containers, several containers, security contexts, limits, exec probes, evictions.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from tests.e2e.client.api import Object
from tests.e2e.client.watch_cache import Watching
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods import volumes
from tests.e2e.pods.addresses import next_pod_address
from tests.e2e.pods.container import PROGRAMS, Place, Run, run_of
from tests.e2e.pods.pod_sources import Sources
from tests.e2e.pods.pod_worker import PodWorker

LABEL: Final = "app.kubernetes.io/name=streams-placement"
"""As in ``stages.yaml``."""

_TOKEN_SECONDS: Final = 3607
"""The one figure for which the API server signs a token that lasts a year: ``pkg/serviceaccount/claims.go``."""

_STOP_SECONDS: Final = 15


class Kubelet:
    """``with Kubelet(plane, namespace) as kubelet``: its pods run.

    Args:
        plane: the control plane.
        namespace: where the pods are.
        pace: seconds here for each second of readiness probes, pauses and preStop hooks.
        programs: what runs in place of the first word of a command.
        environment: variables for every process; ``{address}``, ``{service_account}`` and ``{tag}`` are filled in.
    """

    def __init__(
        self,
        plane: ControlPlane,
        namespace: str,
        *,
        pace: float = 0.1,
        programs: Mapping[str, Sequence[str]] = PROGRAMS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.workers: dict[str, PodWorker] = {}
        """By the uid of the pod; those of pods that are gone stay, for their logs."""
        self._plane = plane
        self._pace = pace
        self._programs = programs
        self._environment = environment or {}
        self._tokens: dict[str, str] = {}
        self._written: dict[Path, volumes.Files] = {}
        self._over = False
        here = f"/api/v1/namespaces/{namespace}"
        self._secrets = Watching(plane.admin, f"{here}/secrets", self._wake)
        self._config_maps = Watching(plane.admin, f"{here}/configmaps", self._wake)
        self._pods = Watching(plane.admin, f"{here}/pods", self._wake, labelSelector=LABEL)
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kubelet", daemon=True)

    def __enter__(self) -> Self:
        for watch in (self._secrets, self._config_maps, self._pods):
            watch.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._news.set()
        self._thread.join(_STOP_SECONDS)
        for watch in (self._secrets, self._config_maps, self._pods):
            watch.stop()
        for worker in self.workers.values():
            worker.end()
        for worker in self.workers.values():
            worker.join(_STOP_SECONDS)

    def worker(self, pod_name: str) -> PodWorker:
        """The newest one with this name: its ``process`` can be killed, its ``place`` has folders and logs."""
        return next(one for uid, one in reversed(self.workers.items()) if one.name == pod_name)

    def logs(self) -> str:
        """The last words of every process."""
        return "\n".join(f"==> {one.name} <==\n{one.process.tail()}" for one in self.workers.values() if one.process)

    def _wake(self) -> None:
        self._news.set()

    def _run(self) -> None:
        while not self._over:
            self._news.wait()
            self._news.clear()
            if self._pods.listed.is_set():
                self._share({one["metadata"]["uid"]: one for one in self._pods.objects.values()})

    def _share(self, pods: Mapping[str, Object]) -> None:
        """Give every pod a worker, and every worker the news."""
        for uid, pod in pods.items():
            if uid not in self.workers and pod["spec"].get("nodeName") and _unfinished(pod):
                folder = self._plane.folder / "pods" / f"{pod['metadata']['name']}-{uid[:8]}"
                folder.mkdir(parents=True)
                place = Place(next_pod_address(), folder, self._plane.port)
                self.workers[uid] = PodWorker(self._plane.admin, pod, place, self._prepare, self._pace)
                self.workers[uid].start()
        for uid, worker in self.workers.items():
            worker.see(pods.get(uid))

    def _prepare(self, pod: Object, place: Place) -> Run:
        """Bring the volumes up to date; returns what to run. Called in the workers' threads."""
        sources = Sources(_by_name(self._secrets), _by_name(self._config_maps))
        account = {
            "token": self._token(pod).encode(),
            "ca.crt": self._plane.authority.read_bytes(),
            "namespace": pod["metadata"]["namespace"].encode(),
        }
        self._write(place.service_account, account)
        for volume in pod["spec"].get("volumes", ()):
            if "emptyDir" in volume:
                place.volume(volume["name"]).mkdir(exist_ok=True)
                continue
            files = volumes.contents(volume, pod, place.address, sources, lambda: self._token(pod))
            self._write(place.volume(volume["name"]), files)
        return run_of(pod, place, sources, self._programs, self._environment)

    def _write(self, folder: Path, files: volumes.Files) -> None:
        if self._written.get(folder) != files:
            volumes.write(folder, files)
            self._written[folder] = files

    def _token(self, pod: Object) -> str:
        """A token of the pod's ServiceAccount, asked for once; it dies with the pod if the pod names its account."""
        meta: dict[str, Any] = pod["metadata"]
        uid = str(meta["uid"])
        if uid not in self._tokens:
            name = pod["spec"].get("serviceAccountName")
            spec: dict[str, Any] = {"expirationSeconds": _TOKEN_SECONDS}
            if name:  # else the API server, without its plug-in for it, refuses to bind a token to the pod
                spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": uid}
            path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{name or 'default'}/token"
            request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
            self._tokens[uid] = self._plane.admin.call("POST", path, request).body["status"]["token"]
        return self._tokens[uid]


def _unfinished(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}


def _by_name(watch: Watching) -> dict[str, Object]:
    return {one["metadata"]["name"]: one for one in watch.objects.values()}
