"""Find the programs of the control plane, or build them once.

For each program, in this order: the folder that ``KUBEBUILDER_ASSETS`` names; the cache (``STREAMS_PLACEMENT_CACHE``,
else ``.cache/e2e`` in the clone) under a hash of ``go.mod``, ``go.sum`` and the version of Go; a build into the cache.
kubectl is not built: it comes with the development tools as a wheel.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.e2e.programs import toolchain
from tests.e2e.programs.modules import (
    COLLECTOR,
    HELM_DOCS,
    JOBSET,
    KARPENTER,
    KREW,
    KUBERAY,
    KUEUE,
    LONG,
    LWS,
    MODULES,
    OTHERS,
    PROMETHEUS,
    SECOND_OPINION,
    TOPOLOGY_OPINION,
    VERSIONS,
    Module,
)
from tests.e2e.progress import say

_CLONE: Final = Path(__file__).resolve().parents[3]

_PROGRESS_SECONDS: Final = 15
"""Silence for longer looks like a hang."""

_BUILD_SECONDS: Final = 3600
"""One module takes 5 minutes on two idle cores."""

_GO: Final = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}
"""Variables of Go, so that equal versions make equal programs."""


def cache() -> Path:
    """The folder that outlives the tests; a CI system may keep it."""
    return Path(os.environ.get("STREAMS_PLACEMENT_CACHE") or _CLONE / ".cache" / "e2e").absolute()


def programs() -> dict[str, Path]:
    """Every program of a control plane by name; builds what is missing, which takes ten minutes the first time.

    Kubernetes is that of the variable ``E2E_KUBERNETES``, ``oldest`` or ``newest``, if it is set.
    """
    other = os.environ.get("E2E_KUBERNETES")
    modules = (VERSIONS[other], *MODULES[1:]) if other else MODULES
    found = {name: path for module in modules for name, path in _of(module).items()}
    return {**found, "kubectl": kubectl()}


def monitoring() -> dict[str, Path]:
    """Prometheus and promtool; builds them if they are missing, which takes some minutes the first time."""
    return _of(PROMETHEUS)


def krew() -> dict[str, Path]:
    """Krew, and its program that looks at manifests; builds them if they are missing."""
    return _of(KREW)


def helm_docs() -> Path:
    """What writes the table of values; builds it if it is missing."""
    return _of(HELM_DOCS)["helm-docs"]


def jobset() -> dict[str, Path]:
    """The controller of JobSets, and its project's files that a cluster needs; builds it if it is missing."""
    return _of(JOBSET)


def kuberay() -> dict[str, Path]:
    """The operator of RayClusters, and its project's files that a cluster needs; builds it if it is missing."""
    return _of(KUBERAY)


def karpenter() -> dict[str, Path]:
    """Karpenter with its kwok provider, and its definitions; builds it if it is missing, which takes some minutes."""
    return _of(KARPENTER)


def kueue() -> dict[str, Path]:
    """Kueue, and its project's files that a cluster needs; builds it if it is missing, which takes some minutes."""
    return _of(KUEUE)


def lws() -> dict[str, Path]:
    """The controllers of LeaderWorkerSets, and their project's files that a cluster needs; builds them if missing."""
    return _of(LWS)


def second_opinion() -> Path:
    """What answers questions about texts as the API server does; builds it if it is missing."""
    return _of(SECOND_OPINION)["second-opinion"]


def topology_opinion() -> Path:
    """What answers whether a kubelet admits a pod; builds it if it is missing."""
    return _of(TOPOLOGY_OPINION)["topology-opinion"]


def collector() -> Path:
    """The OpenTelemetry collector; builds it if it is missing, which takes a minute or two."""
    return _of(COLLECTOR)["collector"]


def kubectl() -> Path:
    """The client; beside Python if the wheel is installed, else on PATH."""
    places = (os.environ.get("KUBEBUILDER_ASSETS", ""), str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    found = shutil.which("kubectl", path=os.pathsep.join(filter(None, places)))
    if found is None:
        raise FileNotFoundError("there is no kubectl: install the development tools, or put it on PATH")
    return Path(found)


def _of(module: Module) -> dict[str, Path]:
    """The programs and definitions of one module."""
    assets = Path(os.environ["KUBEBUILDER_ASSETS"]) if os.environ.get("KUBEBUILDER_ASSETS") else None
    given = {name: assets / name for name in module.files if assets and (assets / name).exists()}
    if given.keys() == module.files:
        return given
    folder = cache() / module.key(toolchain.version()) / "bin"
    if not folder.exists():  # a folder that exists is complete, and nobody's build has to be waited for
        with _alone():
            if not folder.exists():
                _build(module, folder)
    return {**{name: folder / name for name in module.files}, **given}


def _build(module: Module, folder: Path) -> None:
    """Build into a folder beside, then rename: a folder that exists is complete."""
    say(f"building {', '.join(module.programs)} {module.version} with Go {toolchain.version()}, once ...")
    beside = folder.with_name("unfinished")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    # a program has the name of its package's folder, but for etcd's, which is ``v3``
    target = str(beside / next(iter(module.programs))) if len(module.programs) == 1 else f"{beside}/"
    command = [str(toolchain.go(cache())), "build", *module.flags, "-o", target, *module.programs.values()]
    started = time.monotonic()
    _run(command, module.folder, {**os.environ, **_GO}, module.name)
    if module.definitions:
        home = _home(module)
        for path in module.definitions:
            shutil.copyfile(home / path, beside / Path(path).name)
    beside.rename(folder)
    say(f"built {', '.join(module.programs)} in {time.monotonic() - started:.0f} s")


def _home(module: Module) -> Path:
    """Where Go keeps the files of the module, which it has compiled."""
    command = [str(toolchain.go(cache())), "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module.module]
    done = subprocess.run(  # noqa: S603 -- Go, without a shell
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=module.folder, env={**os.environ, **_GO}
    )
    return Path(done.stdout.strip())


def _run(command: list[str], folder: Path, environment: Mapping[str, str], what: str) -> None:
    """Run a build, saying now and then that it goes on."""
    started = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment) as build:  # noqa: S603 -- Go, without a shell
        try:
            while (seconds := time.monotonic() - started) < _BUILD_SECONDS:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    build.wait(_PROGRESS_SECONDS)
                    break
                say(f"  still building {what}: {seconds + _PROGRESS_SECONDS:.0f} s")
        finally:
            build.terminate()  # after an exception, or too long a time; nothing happens to one that has ended
    if build.returncode:
        raise RuntimeError(f"go build of {what} ended with {build.returncode}; its words are above")


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One build at a time in a cache, also among several runs of the tests."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def asked_for(names: Sequence[str]) -> dict[str, Path]:
    """The programs of a control plane, of other modules by their names instead, or of ``make e2e`` with ``all``."""
    everything = [*names] == ["all"]
    others = OTHERS if everything else [module for module in (*OTHERS, *LONG) if module.name in names]
    found = programs() if everything or not names else {}
    return {**found, **{name: path for module in others for name, path in _of(module).items()}}


if __name__ == "__main__":
    for name, path in asked_for(sys.argv[1:]).items():
        say(f"{name}: {path}")
