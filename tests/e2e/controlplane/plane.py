"""A control plane: etcd, API server, scheduler, controller-manager and kwok, started and ended together."""

import contextlib
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.e2e.client.api import Api
from tests.e2e.controlplane import cluster_controllers
from tests.e2e.controlplane.apiserver import apiserver, certificate, write_front_proxy, write_signing_keys
from tests.e2e.controlplane.component import Component
from tests.e2e.controlplane.etcd import etcd
from tests.e2e.controlplane.identities import identities, write_kubeconfig, write_tokens
from tests.e2e.polling import until
from tests.e2e.programs import binaries
from tests.e2e.programs.ports import free_ports
from tests.e2e.programs.signals import orderly_end

STAGES: Final = Path(__file__).with_name("stages.yaml")

_COMMAND_SECONDS: Final = 300
"""For one call of kubectl or helm, which may wait for something itself."""


class ControlPlane:
    """``with ControlPlane(folder) as plane:`` - everything is ready inside, and nothing is left afterwards.

    Args:
        folder: an empty folder for data, keys, kubeconfigs and logs.
        service_accounts: ``namespace/name`` of each that gets a token and a kubeconfig of its own.
        node: the node whose kubelet the identity ``node`` is.
        stages: kwok's stages; a file of its own can make pods fail.
        admission: the configuration of the API server's admission plug-ins, if it has one.
        tracing: the configuration of the API server's traces, if it sends any.
    """

    def __init__(
        self,
        folder: Path,
        *,
        service_accounts: Sequence[str] = (),
        node: str = "node-1",
        stages: Path = STAGES,
        admission: Path | None = None,
        tracing: Path | None = None,
    ) -> None:
        self.folder = folder.absolute()
        self.identities = identities(node, service_accounts)
        self.start_seconds = 0.0
        self._stages = stages
        self._admission = admission
        self._tracing = tracing
        self._apis: dict[str, Api] = {}
        self._exit = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ending:
            ending.enter_context(orderly_end())
            ending.callback(self.stop)
            self._prepare()
            self._start()
            self._exit = ending.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    def stop(self) -> None:
        """Kill what runs, the API server after what talks to it: nothing of a test outlives the test."""
        with contextlib.ExitStack() as ending:  # goes on after an exception
            for component in self._components[:2]:
                ending.callback(component.kill)
            for api in self._apis.values():
                ending.callback(api.close)
            for component in self._components[2:]:
                ending.callback(component.kill)

    def api(self, name: str) -> Api:
        """The API server, as an identity sees it: ``admin``, ``user``, ``node`` or ``namespace/serviceaccount``."""
        if name not in self._apis:
            self._apis[name] = Api(self.port, self.authority, self.identities[name])
        return self._apis[name]

    def kubeconfig(self, name: str = "admin") -> Path:
        """The kubeconfig of an identity."""
        return self._kubeconfigs[name]

    def kubectl(self, *arguments: str, user: str = "admin", stdin: str = "") -> subprocess.CompletedProcess[str]:
        """What kubectl prints, and how it ends; look at ``returncode``."""
        return self._command("kubectl", arguments, user, stdin)

    def helm(self, *arguments: str, user: str = "admin") -> subprocess.CompletedProcess[str]:
        """The same of helm."""
        return self._command("helm", arguments, user, "")

    def pids(self) -> list[int]:
        """The process ids of what runs."""
        return [component.process.pid for component in self._components if component.process.pid]

    def logs(self) -> str:
        """The last words of every component."""
        return "\n".join(f"==> {file.name} <==\n{_tail(file)}" for file in sorted(self.folder.glob("*.log")))

    def _prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._programs = programs = binaries.programs()
        store, peer, self.port, *others = free_ports(6)
        self.url = f"https://127.0.0.1:{self.port}"
        self.authority = certificate(self.folder)
        write_signing_keys(self.folder)
        write_front_proxy(self.folder)
        write_tokens(self.folder / "tokens.csv", self.identities.values())
        folder = self.folder
        self._kubeconfigs = files = {
            name: write_kubeconfig(folder, one, self.url, self.authority) for name, one in self.identities.items()
        }
        self.etcd = etcd(programs["etcd"], folder, store, peer)
        self.apiserver = apiserver(programs["kube-apiserver"], folder, self.port, store, self._admission, self._tracing)
        self.scheduler = cluster_controllers.scheduler(
            programs["kube-scheduler"], folder, others[0], files["scheduler"]
        )
        self.controllers = cluster_controllers.controllers(
            programs["kube-controller-manager"], folder, others[1], files["controllers"], self.authority
        )
        self.kwok = cluster_controllers.kwok(programs["kwok"], folder, others[2], files["kwok"], self._stages)

    def _start(self) -> None:
        started = time.monotonic()
        self.etcd.start()
        self.apiserver.start()  # asks for etcd until it is there
        self.etcd.wait()
        self.apiserver.wait()
        for component in self._components[2:]:
            component.start()
        for component in self._components[2:]:
            component.wait()
        self.admin = self.api("admin")
        until(lambda: self.admin.find("/api/v1/namespaces/default"), "the namespace default exists")
        self.start_seconds = time.monotonic() - started

    @property
    def _components(self) -> tuple[Component, ...]:
        """In the order of starting; none before they are made."""
        if not hasattr(self, "kwok"):
            return ()
        return (self.etcd, self.apiserver, self.scheduler, self.controllers, self.kwok)

    def _command(
        self, program: str, arguments: Sequence[str], user: str, stdin: str
    ) -> subprocess.CompletedProcess[str]:
        homes = {f"HELM_{kind}_HOME": str(self.folder / "helm" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        own = {"KUBECONFIG": str(self.kubeconfig(user)), "KUBECACHEDIR": str(self.folder / "kubectl"), **homes}
        return subprocess.run(  # noqa: S603 -- programs that we built or installed, no shell
            [str(self._programs[program]), *arguments],
            check=False,
            capture_output=True,
            text=True,
            input=stdin,
            timeout=_COMMAND_SECONDS,
            env={**os.environ, **own},
        )


def _tail(file: Path) -> str:
    return "\n".join(file.read_text(errors="replace").splitlines()[-40:])
